// What lies behind a Graph, for the tools that look inside.
#ifndef ISOMER_API_GRAPH_ACCESS_H_
#define ISOMER_API_GRAPH_ACCESS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "api/isomer.h"
#include "graph/graph.h"
#include "onnx/export.h"
#include "onnx/import.h"

namespace isomer {

struct Graph::Impl {
  std::shared_ptr<const onnx::ImportedModel> model;
  ir::Graph graph;  // came from model->graph by rewrites
};

class GraphAccess {
 public:
  static Graph Make(Graph::Impl impl) {
    return Graph(std::make_shared<const Graph::Impl>(std::move(impl)));
  }
  static const onnx::ImportedModel& Model(const Graph& g) {
    return *g.impl_->model;
  }
  static const ir::Graph& Ir(const Graph& g) { return g.impl_->graph; }
  static const onnx::ImportOptions& Options(const Graph& g) {
    return g.impl_->model->options;
  }
  // The same model with another graph.
  static Graph With(const Graph& g, ir::Graph graph) {
    return Make({g.impl_->model, std::move(graph)});
  }
  // The model as it would be written.
  static absl::StatusOr<onnx::ExportedModel> Export(const Graph& g);
};

}  // namespace isomer

#endif  // ISOMER_API_GRAPH_ACCESS_H_

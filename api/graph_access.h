// What lies behind a Graph, for the tools that look inside.
#ifndef ISOMER_API_GRAPH_ACCESS_H_
#define ISOMER_API_GRAPH_ACCESS_H_

#include <memory>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/status/statusor.h"
#include "api/isomer.h"
#include "graph/graph.h"
#include "onnx/export.h"
#include "onnx/import.h"

namespace isomer {

struct Graph::Impl {
  Impl(std::shared_ptr<const onnx::ImportedModel> model, ir::Graph graph)
      : model(std::move(model)), graph(std::move(graph)) {}

  const std::shared_ptr<const onnx::ImportedModel> model;
  const ir::Graph graph;  // came from model->graph by rewrites
  // The model as it would be written: made when it is first asked for.
  mutable absl::once_flag export_once;
  mutable absl::StatusOr<onnx::ExportedModel> exported;
};

class GraphAccess {
 public:
  static Graph Make(std::shared_ptr<const onnx::ImportedModel> model,
                    ir::Graph graph) {
    return Graph(std::make_shared<const Graph::Impl>(std::move(model),
                                                     std::move(graph)));
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
    return Make(g.impl_->model, std::move(graph));
  }
  // The model as it would be written. It lives as long as what is returned.
  static absl::StatusOr<std::shared_ptr<const onnx::ExportedModel>> Export(
      const Graph& g);
};

}  // namespace isomer

#endif  // ISOMER_API_GRAPH_ACCESS_H_

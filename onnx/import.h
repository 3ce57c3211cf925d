// From a model file to a graph. Each ONNX node becomes a group of graph nodes:
// the operators it is taken apart into, or one opaque node where Isomer does
// not model that form. Every value of the model is marked with its name, and
// marks follow values through rewrites, so that export (export.h) knows which
// groups were not touched and writes those back as they were.
#ifndef ISOMER_ONNX_IMPORT_H_
#define ISOMER_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "onnx/model.h"

namespace isomer::onnx {

struct ImportOptions {
  // Sizes for inputs whose dimensions are not all numbers in the model.
  std::map<std::string, std::vector<int64_t>> shapes = {};
  // Sizes for named dimensions.
  std::map<std::string, int64_t> dims = {};
};

// What one node of the model has become.
struct Group {
  // The graph nodes that only stand for this node (or for an equal one).
  std::vector<NodeId> nodes;
  // The values of its outputs; an omitted output has node -1.
  std::vector<Value> outputs;
  // Why it is opaque; "" if it is modelled.
  std::string opaque_reason;
};

struct ImportedModel {
  std::shared_ptr<const Model> model;
  ir::Graph graph;
  std::vector<Group> groups;       // as model->graph.nodes
  std::vector<std::string> names;  // by mark
  ImportOptions options;           // how it was imported
  // Named dimensions that were given a number.
  std::map<std::string, int64_t> bound;
};

// Imports a model; the same options bind its dimensions.
absl::StatusOr<ImportedModel> ImportModel(std::shared_ptr<const Model> model,
                                          const ImportOptions& options = {});

// Reads and imports a file.
absl::StatusOr<ImportedModel> ImportFile(const std::string& path,
                                         const ImportOptions& options = {});

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_IMPORT_H_

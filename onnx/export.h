// From a graph back to a model file. A group of nodes that no rewrite touched
// is written back as it came, byte for byte; what was rewritten leaves in the
// forms that engines recognise. Subgraphs of constants are computed once, in
// double, and rounded once. Nothing that the caller did not rewrite away is
// dropped: opaque nodes and values that nobody uses stay.
#ifndef ISOMER_ONNX_EXPORT_H_
#define ISOMER_ONNX_EXPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "onnx/import.h"
#include "onnx/model.h"
#include "onnx/open_dims.h"

namespace isomer::onnx {

struct ExportOptions {
  // How operators are run when constants are folded.
  ir::RunNode run = nullptr;
  // How graphs are compared when it is found out which bound dimensions are
  // open; without it none is once something is new.
  GraphsEqual equal = nullptr;
  // Write every modelled node anew, as if a rewrite had touched it: for
  // testing what the forms of the exporter mean.
  bool rebuild = false;
  // Leave new constants without their data: for looking at the nodes.
  bool nodes_only = false;
};

struct ExportedModel {
  Model model;
  int kept = 0;     // nodes written back verbatim
  int renamed = 0;  // kept nodes that had to take another input name
  int made = 0;     // new nodes
  int folded = 0;   // new initializers computed from constants
  // Bound dimensions that stay numbers, because something new depends on them
  // or it could not be found out (open_dims.h).
  std::vector<std::string> fixed_dims;
};

// A model that consists of `graph` alone, for ONNX's operator set `opset`. An
// opaque node is an error.
absl::StatusOr<Model> ModelFromGraph(const ir::Graph& graph, int64_t opset,
                                     const ExportOptions& options = {});

// Exports `graph`, which is `imported.graph` or came from it by rewrites.
absl::StatusOr<ExportedModel> ExportModel(const ImportedModel& imported,
                                          const ir::Graph& graph,
                                          const ExportOptions& options = {});

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_EXPORT_H_

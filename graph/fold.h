// Computing a constant subgraph, as it is stored in a model.
#ifndef ISOMER_GRAPH_FOLD_H_
#define ISOMER_GRAPH_FOLD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "ops/onnx_node.h"

namespace isomer::ir {

// Returns the little-endian elements of a value that depends on constants
// alone, computed in double and rounded once; what only moves elements moves
// their bytes. A value of more than `piece_elements` is computed in pieces of
// its first dimension where its operators allow that, so that large weights are
// never in memory as doubles.
absl::StatusOr<SharedBytes> FoldConstant(const Graph& graph, Value v,
                                         const RunNode& run,
                                         int64_t piece_elements = int64_t{1}
                                                                  << 21);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOLD_H_

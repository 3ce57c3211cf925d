// Operators that move elements and compute none, done on the bytes that a model
// stores: nothing is decoded or rounded, so the result is exact whatever the
// bytes hold.
#ifndef ISOMER_GRAPH_MOVE_BYTES_H_
#define ISOMER_GRAPH_MOVE_BYTES_H_

#include "absl/types/span.h"
#include "graph/graph.h"
#include "ops/onnx_node.h"

namespace isomer::ir {

// True for the operators that MoveBytes does: concat, reshape, slice and
// transpose, on one device.
bool OnlyMoves(const Graph& graph, NodeId id);

// Returns the little-endian elements of such a node's result, given those of
// its inputs.
SharedBytes MoveBytes(const Graph& graph, NodeId id,
                      absl::Span<const SharedBytes> inputs);

// Elements that lie row by row, with the given steps, of a dense tensor,
// instead.
SharedBytes WithSteps(const SharedBytes& bytes, const TensorType& type,
                      absl::Span<const int64_t> steps);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_MOVE_BYTES_H_

// Cleaning up after a fold: nested concats along one axis become one, a slice
// of a slice becomes one slice.
#ifndef ISOMER_GRAPH_FLATTEN_H_
#define ISOMER_GRAPH_FLATTEN_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace isomer::ir {

// Flattens the nodes whose ids are `first` or later.
absl::StatusOr<Graph> Flatten(Graph graph, NodeId first);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FLATTEN_H_

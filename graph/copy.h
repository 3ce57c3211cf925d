// Copying a graph node by node, some of its nodes as something else.
#ifndef ISOMER_GRAPH_COPY_H_
#define ISOMER_GRAPH_COPY_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace isomer::ir {

// What a node becomes in the copy, where `inputs` are its inputs; nothing:
// itself, with its type inferred anew.
using ReplaceNode = std::function<absl::StatusOr<std::optional<NodeId>>(
    NodeId id, absl::Span<const Value> inputs, Graph& copy)>;

struct GraphCopy {
  Graph graph;
  std::vector<NodeId> to;  // by id of the original
};

// Copies a graph in its order, without marks.
absl::StatusOr<GraphCopy> CopyGraph(const Graph& graph,
                                    const ReplaceNode& replace);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_COPY_H_

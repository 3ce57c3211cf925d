// Building one side of a rule, at known types, into a graph.
#ifndef ISOMER_GRAPH_BUILD_SIDE_H_
#define ISOMER_GRAPH_BUILD_SIDE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/rule_side.h"

namespace isomer::ir {

struct BuiltSide {
  std::vector<Value> outputs;
  std::vector<NodeId> made;  // the nodes of operators and literals
};

// Adds the nodes of `side` that `typing` has typed; equal nodes that are there
// already are used instead. `tensors` and `attrs` are the variables' values.
absl::StatusOr<BuiltSide> BuildSide(
    Graph& graph, const RuleSide& side, const SideTyping<int64_t>& typing,
    absl::Span<const Value> tensors,
    absl::Span<const std::optional<Attr>> attrs);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_BUILD_SIDE_H_

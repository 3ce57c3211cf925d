#include "search/topology.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace isomer::search {

Topology::Topology(const ir::Graph& graph)
    : order(graph.Order()),
      place(graph.id_bound(), -1),
      constant(graph.id_bound(), false) {
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeId id = order[i];
    place[id.value] = static_cast<int>(i);
    const ir::Node& n = graph.node(id);
    constant[id.value] = n.kind == ir::Node::Kind::kConstant ||
                         (n.kind == ir::Node::Kind::kOp &&
                          absl::c_all_of(n.inputs, [&](Value v) {
                            return constant[v.node.value];
                          }));
  }
}

std::pair<int, int> Topology::Span(absl::Span<const NodeId> nodes) const {
  if (nodes.empty()) return {0, -1};
  std::pair<int, int> span = {place[nodes[0].value], place[nodes[0].value]};
  for (NodeId id : nodes) {
    span.first = std::min(span.first, place[id.value]);
    span.second = std::max(span.second, place[id.value]);
  }
  return span;
}

}  // namespace isomer::search

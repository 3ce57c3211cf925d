#include "search/surroundings.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "graph/hashing.h"

namespace isomer::search {

namespace {

uint64_t Alone(const ir::Graph& graph, NodeId id, bool constant) {
  const ir::Node& n = graph.node(id);
  uint64_t h = constant ? 1 : n.kind == ir::Node::Kind::kInput ? 2 : n.label;
  h = ir::HashCombine(h, graph.output_uses(id));
  for (const std::optional<TensorType>& type : *n.types) {
    if (!type) continue;
    h = ir::HashCombine(h, static_cast<uint64_t>(type->dtype));
    for (int64_t d : type->shape) h = ir::HashCombine(h, d);
  }
  return h;
}

}  // namespace

std::vector<uint64_t> Surroundings(const ir::Graph& graph,
                                   const Topology& topology, int steps) {
  std::vector<uint64_t> now(graph.id_bound(), 0);
  for (NodeId id : topology.order) {
    now[id.value] = Alone(graph, id, topology.constant[id.value]);
  }
  for (int i = 0; i < steps; ++i) {
    std::vector<uint64_t> next = now;
    for (NodeId id : topology.order) {
      uint64_t h = now[id.value], users = 0;
      const ir::Node::Inputs& inputs = graph.node(id).inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        // Two that look the same may or may not be the same.
        const auto same = absl::c_find(inputs, inputs[k]) - inputs.begin();
        h = ir::HashCombine(h, now[inputs[k].node.value] + same);
      }
      // In any order: users of like nodes may have come differently.
      for (NodeId user : graph.users(id)) {
        users += ir::HashCombine(3, now[user.value]);
      }
      next[id.value] = ir::HashCombine(h, users);
    }
    now = std::move(next);
  }
  return now;
}

}  // namespace isomer::search

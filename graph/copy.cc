// Inputs come first, in the order of the graph's own list, because their order
// is part of a graph's signature.
#include "graph/copy.h"

#include "ops/status.h"

namespace isomer::ir {

absl::StatusOr<GraphCopy> CopyGraph(const Graph& graph,
                                    const ReplaceNode& replace) {
  GraphCopy out;
  out.to.resize(graph.id_bound());
  std::vector<bool> done(graph.id_bound());
  auto value = [&](Value v) { return Value{out.to[v.node.value], v.output}; };
  auto copy = [&](NodeId id) -> absl::Status {
    if (done[id.value]) return absl::OkStatus();
    done[id.value] = true;
    const Node& n = graph.node(id);
    std::vector<Value> in;
    for (Value v : n.inputs) in.push_back(value(v));
    NodeId& to = out.to[id.value];
    ASSIGN_OR_RETURN(std::optional<NodeId> other, replace(id, in, out.graph));
    if (other) {
      to = *other;
    } else if (n.kind == Node::Kind::kInput) {
      to = out.graph.AddInput(*n.name, (*n.types)[0]).node;
    } else if (n.kind == Node::Kind::kConstant) {
      to = out.graph.AddConstant(n.constant).node;
    } else if (n.kind == Node::Kind::kOpaque) {
      to = out.graph.AddOpaque(*n.opaque, in, *n.types);
    } else {
      ASSIGN_OR_RETURN(to, out.graph.AddNode(*n.op, in, *n.attrs));
    }
    return absl::OkStatus();
  };
  for (NodeId id : graph.inputs()) RETURN_IF_ERROR(copy(id));
  for (NodeId id : graph.Order()) RETURN_IF_ERROR(copy(id));
  for (const Output& o : graph.outputs()) {
    out.graph.AddOutput(o.name, value(o.value));
  }
  return out;
}

}  // namespace isomer::ir

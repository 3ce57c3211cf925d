// Both clean-ups hold element by element, so they are exact; rules of fixed
// arity cannot state the first.
#include "graph/flatten.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// The operands of a concat with those of nested concats in their place.
std::optional<std::vector<Value>> FlatOperands(const Graph& graph,
                                               const Node& n) {
  std::vector<Value> out;
  bool nested = false;
  for (Value v : n.inputs) {
    const Node& in = graph.node(v.node);
    if (in.op == n.op && *in.attrs == *n.attrs) {
      out.insert(out.end(), in.inputs.begin(), in.inputs.end());
      nested = true;
    } else {
      out.push_back(v);
    }
  }
  if (!nested) return std::nullopt;
  return out;
}

// The attributes of one slice that takes what `outer` takes of `inner`.
std::optional<Attrs> Composed(const Attrs& inner, const Attrs& outer) {
  auto plain = [](const Attrs& a) {
    return absl::c_all_of(a.Ints("step"), [](int64_t s) { return s == 1; });
  };
  if (inner.Ints("axes") != outer.Ints("axes") || !plain(inner) ||
      !plain(outer)) {
    return std::nullopt;
  }
  Attrs out = outer;
  for (const char* name : {"from", "to"}) {
    std::vector<int64_t> list = outer.Ints(name);
    for (size_t i = 0; i < list.size(); ++i) list[i] += inner.Ints("from")[i];
    out.Set(name, std::move(list));
  }
  return out;
}

// A node that stands for the same in a flatter way, if there is one.
absl::StatusOr<std::optional<NodeId>> Flatter(Graph& graph, NodeId id) {
  const Node n = graph.node(id);
  if (n.Is("concat")) {
    if (auto operands = FlatOperands(graph, n)) {
      ASSIGN_OR_RETURN(NodeId flat, graph.AddNode(*n.op, *operands, *n.attrs));
      return std::optional<NodeId>(flat);
    }
  } else if (n.Is("slice")) {
    const Node in = graph.node(n.inputs[0].node);
    if (in.op == n.op) {
      if (auto attrs = Composed(*in.attrs, *n.attrs)) {
        ASSIGN_OR_RETURN(NodeId flat, graph.AddNode(*n.op, in.inputs, *attrs));
        return std::optional<NodeId>(flat);
      }
    }
  }
  return std::optional<NodeId>();
}

}  // namespace

absl::StatusOr<Graph> Flatten(Graph graph, NodeId first) {
  for (int32_t i = first.value; i < graph.id_bound(); ++i) {
    const NodeId id{i};
    if (!graph.Has(id)) continue;
    ASSIGN_OR_RETURN(std::optional<NodeId> flat, Flatter(graph, id));
    if (!flat) continue;
    graph.ReplaceUses({id, 0}, {*flat, 0}, {{*flat}});
    graph.RemoveIfUnused(id);
    // What used the old node may be flatter now; new nodes come later anyway.
    i = first.value - 1;
  }
  return graph;
}

}  // namespace isomer::ir

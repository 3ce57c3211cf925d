// Keys are made from the leaves up, once per node; results come from the
// matcher and the rewriter as they are.
#include "xfer_gen/derive_step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/hashing.h"
#include "graph/rewrite.h"

namespace isomer::gen {

namespace {

constexpr int kMaxChoices = 16;

GraphKey Combine(GraphKey a, GraphKey b) {
  return {ir::HashCombine(a.first, b.first),
          ir::HashCombine(a.second ^ 0x5bd1e9955bd1e995u, b.second)};
}

class Keys {
 public:
  explicit Keys(const ir::Graph& graph)
      : graph_(graph), keys_(graph.id_bound()) {}

  // Graphs here have a dozen nodes, so recursion is shallow.
  GraphKey Of(Value v) {
    const uint64_t output = static_cast<uint64_t>(v.output);
    return Combine(OfNode(v.node), {output, output});
  }

 private:
  GraphKey OfNode(NodeId id) {
    GraphKey& known = keys_[id.value];
    if (known != GraphKey()) return known;
    const ir::Node& n = graph_.node(id);
    std::vector<GraphKey> parts;
    for (Value in : n.inputs) parts.push_back(Of(in));
    if (n.op != nullptr && n.op->commutative) absl::c_sort(parts);
    GraphKey key = {n.label, ir::HashMix(n.label)};
    for (const GraphKey& p : parts) key = Combine(key, p);
    return keys_[id.value] = key;
  }

  const ir::Graph& graph_;
  std::vector<GraphKey> keys_;
};

Traits TraitsOf(const ir::Graph& graph) {
  Traits out;
  for (int32_t i = 0; i < graph.id_bound(); ++i) {
    if (!graph.Has({i})) continue;
    const ir::Node& n = graph.node({i});
    if (n.op == nullptr) continue;
    out.Add(n.op);
    for (Value v : n.inputs) {
      const OpDef* operand = graph.node(v.node).op;
      if (operand != nullptr) out.Add(n.op, operand);
    }
  }
  return out;
}

}  // namespace

GraphKey KeyOf(const ir::Graph& graph) {
  Keys keys(graph);
  GraphKey key = {1, 1};
  for (const ir::Output& o : graph.outputs()) {
    key = Combine(key, keys.Of(o.value));
  }
  return key;
}

int StepsOf(const ir::Graph& graph) {
  return graph.size() - static_cast<int>(graph.inputs().size());
}

StepMaker::StepMaker(const ir::Graph& graph)
    : graph_(graph), traits_(TraitsOf(graph)), index_(graph) {}

bool StepMaker::Whole(const ir::Match& match) const {
  if (match.outputs.size() != graph_.outputs().size()) return false;
  return absl::c_all_of(graph_.outputs(), [&](const ir::Output& o) {
    return absl::c_linear_search(match.outputs, o.value);
  });
}

void StepMaker::Run(const Equation& equation,
                    absl::FunctionRef<bool(ir::Graph, bool)> f) {
  if (!traits_.Has(equation.needs)) return;
  for (const ir::Match& m :
       ir::FindMatches(graph_, index_, *equation.rule, facts_)) {
    for (const ir::Match& chosen :
         ir::Choices(graph_, *equation.rule, m, kMaxChoices)) {
      auto result = ir::Apply(graph_, *equation.rule, chosen);
      if (result.ok() && !f(*std::move(result), Whole(m))) return;
    }
  }
}

}  // namespace isomer::gen

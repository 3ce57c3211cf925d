// Three siblings are made from an instance: the second output's graph once
// more, with fresh inputs for all that the first output does not share.
#include "xfer_gen/generalise_fold.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/graph.h"
#include "graph/instance.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "ops/registry.h"

namespace isomer::gen {

namespace {

// Copies what `v` needs; inputs in `own` get a copy of their own.
class Copier {
 public:
  Copier(const ir::Graph& from, ir::Graph& to, std::map<int, Value>& shared)
      : from_(from), to_(to), shared_(shared) {}

  absl::StatusOr<Value> Copy(Value v) {
    const ir::Node& n = from_.node(v.node);
    if (n.kind == ir::Node::Kind::kInput) {
      auto it = shared_.find(v.node.value);
      if (it != shared_.end()) return it->second;
      auto [own, fresh] = own_.emplace(v.node.value, Value());
      if (fresh) {
        own->second =
            to_.AddInput(absl::StrCat(*n.name, "_copy"), from_.type(v));
      }
      return own->second;
    }
    std::vector<Value> inputs;
    for (Value in : n.inputs) {
      auto copied = Copy(in);
      if (!copied.ok()) return copied;
      inputs.push_back(*copied);
    }
    auto id = to_.AddNode(*n.op, inputs, *n.attrs);
    if (!id.ok()) return id.status();
    return Value{*id, v.output};
  }

 private:
  const ir::Graph& from_;
  ir::Graph& to_;
  std::map<int, Value>& shared_;
  std::map<int, Value> own_;
};

void CollectInputs(const ir::Graph& graph, Value v, std::map<int, Value>& out) {
  const ir::Node& n = graph.node(v.node);
  if (n.kind == ir::Node::Kind::kInput) out[v.node.value] = v;
  for (Value in : n.inputs) CollectInputs(graph, in, out);
}

bool FoldsAt(const ir::Rule& rule, const ir::RuleInstance& at) {
  ir::Graph graph = at.source;
  const Value first = graph.outputs()[0].value;
  const Value second = graph.outputs()[1].value;
  std::map<int, Value> shared, of_second;
  CollectInputs(graph, first, shared);
  CollectInputs(graph, second, of_second);
  bool has_shared = false, has_own = false;
  for (const auto& [id, value] : of_second) {
    (shared.count(id) > 0 ? has_shared : has_own) = true;
  }
  if (!has_shared || !has_own) return false;
  auto third = Copier(at.source, graph, shared).Copy(second);
  if (!third.ok()) return false;
  graph.AddOutput("y2", *third);
  const Value values[] = {first, second, *third};
  ir::ConstantFacts facts;
  return ir::ApplyFold(graph, rule, values, facts).ok();
}

}  // namespace

bool Folds(const ir::RuleSyntax& syntax) {
  if (syntax.source.outputs.size() != 2) return false;
  // One case is enough to see it, but its instance must not be empty.
  constexpr int kInstances = 8;
  constexpr ir::RuleLimits kLimits{.steps = 400};
  auto rule = ir::Rule::Create(syntax, /*reversed=*/false, Ops(), kLimits);
  if (!rule.ok()) return false;
  std::mt19937_64 random(1);
  for (int i = 0; i < kInstances; ++i) {
    auto at = ir::MakeInstance(*rule, rule->cases()[0], random);
    if (at.ok() && FoldsAt(*rule, *at)) return true;
  }
  return false;
}

}  // namespace isomer::gen

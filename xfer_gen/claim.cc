// Sides are looked at as graphs or as sides of a rule, which have nodes with
// operators and operands alike.
#include "xfer_gen/claim.h"

#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/hashing.h"
#include "graph/rule_bind.h"
#include "ops/registry.h"

namespace isomer::gen {

namespace {

template <class F>
void ForEachNode(const ir::RuleSide& side, const F& f) {
  for (const ir::RuleNode& n : side.nodes) f(n);
}

template <class F>
void ForEachNode(const ir::Graph& graph, const F& f) {
  for (int32_t i = 0; i < graph.id_bound(); ++i) {
    if (graph.Has({i})) f(graph.node({i}));
  }
}

int NodeOf(ir::RuleOperand o) { return o.node; }
int NodeOf(Value v) { return v.node.value; }

std::vector<int> OutputsOf(const ir::RuleSide& side) {
  std::vector<int> out;
  for (ir::RuleOperand o : side.outputs) out.push_back(o.node);
  return out;
}
std::vector<int> OutputsOf(const ir::Graph& graph) {
  std::vector<int> out;
  for (const ir::Output& o : graph.outputs()) out.push_back(o.value.node.value);
  return out;
}

template <class Side>
std::map<std::string, int> OperatorsOf(const Side& side) {
  std::map<std::string, int> out;
  ForEachNode(side, [&](const auto& n) {
    if (n.op != nullptr) ++out[n.op->name];
  });
  return out;
}

// True if an output of the side is used by another one of its outputs.
template <class Side>
bool Nested(const Side& side) {
  std::set<int> used;
  ForEachNode(side, [&](const auto& n) {
    for (const auto& o : n.inputs) used.insert(NodeOf(o));
  });
  const std::vector<int> outputs = OutputsOf(side);
  return outputs.size() > 1 &&
         absl::c_any_of(outputs, [&](int o) { return used.contains(o); });
}

// True if `a` has every operator of `b` at least as often, and one more often:
// then nobody rewrites b to a for its own sake.
bool MoreThan(const std::map<std::string, int>& a,
              const std::map<std::string, int>& b) {
  if (a == b) return false;
  return absl::c_all_of(b, [&](const auto& entry) {
    auto it = a.find(entry.first);
    return it != a.end() && it->second >= entry.second;
  });
}

std::optional<ir::RuleInstance> InstanceOf(const Candidate& candidate,
                                           const SeenElsewhere& seen) {
  const auto syntax = ir::ParseRuleBody(seen.text);
  if (!syntax.ok()) return std::nullopt;
  const auto bound = ir::Bind(*syntax, Ops());
  if (!bound.ok()) return std::nullopt;
  std::vector<TensorType> types;
  for (const std::string& name : bound->tensors) {
    for (size_t i = 0; i < candidate.leaves.size(); ++i) {
      if (candidate.leaves[i].name == name) types.push_back(seen.leaves[i]);
    }
  }
  auto made = ir::InstanceAt(*bound, types);
  if (!made.ok()) return std::nullopt;
  return *std::move(made);
}

}  // namespace

std::vector<ir::RuleInstance> InstancesOf(const Candidate& candidate) {
  std::vector<ir::RuleInstance> out;
  for (const SeenElsewhere& seen : candidate.elsewhere) {
    if (auto at = InstanceOf(candidate, seen)) out.push_back(*std::move(at));
  }
  return out;
}

Claim::Claim(ir::Rule rule, bool both_ways)
    : source_(OperatorsOf(rule.source())),
      target_(OperatorsOf(rule.target())),
      both_ways_(both_ways),
      nested_(Nested(rule.source()) || Nested(rule.target())),
      rule_(std::move(rule)) {}

Claim::Claim(std::vector<ir::RuleInstance> seen, bool both_ways)
    : source_(OperatorsOf(seen[0].source)),
      target_(OperatorsOf(seen[0].target)),
      both_ways_(both_ways),
      nested_(Nested(seen[0].source) || Nested(seen[0].target)),
      seen_(std::move(seen)) {}

std::optional<Derivation> Claim::DerivedBy(const Theory& theory,
                                           DeriveLimits limits,
                                           Rewritten* rewritten) const {
  // A rule that also hands out what it uses inside is a merge and a slice in
  // one; it is kept only if it says something new.
  limits.forward = !nested_ && !MoreThan(target_, source_);
  limits.backward = !nested_ && both_ways_ && !MoreThan(source_, target_);
  return rule_ ? DeriveRule(*rule_, theory, limits, rewritten)
               : DeriveAll(seen_, theory, limits, rewritten);
}

uint64_t Claim::Operators() const {
  uint64_t hash = 0;
  for (const Counts* side : {&source_, &target_}) {
    for (const auto& [name, times] : *side) {
      hash = ir::HashCombine(ir::HashCombine(hash, ir::HashText(name)),
                             static_cast<uint64_t>(times));
    }
  }
  return hash;
}

}  // namespace isomer::gen

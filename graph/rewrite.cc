// The target is typed first, so that a rule that does not apply costs no
// change; then it is built through hash-consing; then uses move over.
#include "graph/rewrite.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/build_side.h"
#include "graph/flatten.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

std::string Label(const Rule& rule) {
  return rule.name().empty() ? "the rule" : absl::StrCat("rule ", rule.name());
}

template <class... Parts>
absl::Status NotApplicable(const Rule& rule, const Parts&... parts) {
  return absl::FailedPreconditionError(
      absl::StrCat(Label(rule), " does not apply: ", parts...));
}

class Rewriter {
 public:
  Rewriter(const Graph& graph, const Rule& rule, const Match& match)
      : graph_(graph), rule_(rule), match_(match), target_(rule.target()) {}

  absl::StatusOr<Graph> Run() {
    RETURN_IF_ERROR(TypeTarget());
    RETURN_IF_ERROR(Build());
    RETURN_IF_ERROR(CheckOutputs());
    if (match_.outputs.size() > 1) RETURN_IF_ERROR(CheckAcyclic());
    RETURN_IF_ERROR(Replace());
    return std::move(graph_);
  }

 private:
  absl::Status TypeTarget();
  absl::Status Build();
  absl::Status CheckOutputs() const;
  absl::Status CheckAcyclic() const;
  absl::Status Replace();

  Graph graph_;
  const Rule& rule_;
  const Match& match_;
  const RuleSide& target_;
  SideTyping<int64_t> typing_;
  int32_t bound_ = 0;         // ids from here on are new
  std::vector<NodeId> made_;  // the target's operators and literals
  std::vector<Value> new_outputs_;
};

absl::Status Rewriter::TypeTarget() {
  for (size_t v = 0; v < rule_.attrs().size(); ++v) {
    if (!match_.attrs[v]) {
      return Invalid(Label(rule_), ": '", rule_.attrs()[v].name,
                     "' is not chosen yet");
    }
  }
  std::vector<const TensorType*> tensors;
  for (Value v : match_.tensors) tensors.push_back(graph_.FindType(v));
  std::vector<TensorType> expected;
  for (Value v : match_.outputs) expected.push_back(graph_.type(v));
  absl::Status s =
      TypeSide<int64_t>(target_, tensors, match_.attrs, expected, typing_);
  if (!s.ok()) return NotApplicable(rule_, s.message());
  for (size_t i = 0; i < expected.size(); ++i) {
    const RuleOperand o = target_.outputs[i];
    const TensorType& type = typing_.nodes[o.node].types[o.output];
    if (type != expected[i]) {
      return NotApplicable(rule_, "output ", i, " is ", TypeText(expected[i]),
                           ", the target gives ", TypeText(type));
    }
  }
  return absl::OkStatus();
}

absl::Status Rewriter::Build() {
  bound_ = graph_.id_bound();
  auto built =
      BuildSide(graph_, target_, typing_, match_.tensors, match_.attrs);
  if (!built.ok()) return NotApplicable(rule_, built.status().message());
  made_ = std::move(built->made);
  new_outputs_ = std::move(built->outputs);
  return absl::OkStatus();
}

absl::Status Rewriter::CheckOutputs() const {
  if (new_outputs_ == match_.outputs) {
    return NotApplicable(rule_, "it changes nothing");
  }
  for (size_t i = 0; i < new_outputs_.size(); ++i) {
    for (size_t j = 0; j < match_.outputs.size(); ++j) {
      if (i != j && new_outputs_[i] == match_.outputs[j]) {
        return NotApplicable(rule_, "an output becomes another one of them");
      }
    }
  }
  return absl::OkStatus();
}

// Looks for a cycle through a new output, seeing every use of an old output by
// a node that was there before as a use of the new one.
absl::Status Rewriter::CheckAcyclic() const {
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(graph_.id_bound(), kNew);
  std::vector<std::pair<NodeId, size_t>> stack;
  for (Value root : new_outputs_) {
    if (state[root.node.value] != kNew) continue;
    state[root.node.value] = kOpen;
    stack.push_back({root.node, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& n = graph_.node(id);
      if (next == n.inputs.size()) {
        state[id.value] = kDone;
        stack.pop_back();
        continue;
      }
      Value in = n.inputs[next++];
      const auto old = absl::c_find(match_.outputs, in);
      if (old != match_.outputs.end() && id.value < bound_) {
        in = new_outputs_[old - match_.outputs.begin()];
      }
      char& s = state[in.node.value];
      if (s == kOpen) {
        return NotApplicable(rule_, "the result would be cyclic");
      }
      if (s == kDone) continue;
      s = kOpen;
      stack.push_back({in.node, 0});
    }
  }
  return absl::OkStatus();
}

// Outputs that depend on others move first, so that what dies early is not
// looked at again.
absl::Status Rewriter::Replace() {
  for (size_t i = match_.outputs.size(); i-- > 0;) {
    const Value from = match_.outputs[i], to = new_outputs_[i];
    if (from == to) continue;
    if (!graph_.Has(from.node) || !graph_.Has(to.node)) {
      return NotApplicable(rule_, "outputs depend on each other");
    }
    graph_.ReplaceUses(from, to, made_);
  }
  for (Value v : match_.outputs) graph_.RemoveIfUnused(v.node);
  return absl::OkStatus();
}

// The match with its two outputs, and what belongs to them, in the other order.
Match Swapped(const Rule& rule, const Match& m) {
  for (const Symmetry& s : rule.symmetries()) {
    if (s.outputs != std::vector<int>{1, 0}) continue;
    Match out = m;
    for (size_t i = 0; i < m.outputs.size(); ++i) {
      out.outputs[s.outputs[i]] = m.outputs[i];
    }
    for (size_t i = 0; i < m.tensors.size(); ++i) {
      out.tensors[s.tensors[i]] = m.tensors[i];
    }
    for (size_t i = 0; i < m.attrs.size(); ++i) {
      out.attrs[s.attrs[i]] = m.attrs[i];
    }
    return out;
  }
  return m;
}

}  // namespace

absl::StatusOr<Graph> Apply(const Graph& graph, const Rule& rule,
                            const Match& match) {
  return Rewriter(graph, rule, match).Run();
}

absl::StatusOr<Graph> ApplyFold(const Graph& graph, const Rule& rule,
                                absl::Span<const Value> values,
                                ConstantFacts& facts) {
  if (rule.source().outputs.size() != 2) {
    return Invalid("fold of ", Label(rule), ": it must have two outputs");
  }
  if (values.size() < 2) {
    return Invalid("fold of ", Label(rule),
                   ": needs two values or more, given ", values.size());
  }
  Graph now = graph;
  for (size_t next = 1; next < values.size(); ++next) {
    // What came of the values before is new and takes part in the next match.
    auto merged = [&](Value v) {
      return next == 1 ? v == values[0] : v.node.value >= graph.id_bound();
    };
    absl::Status why = NotApplicable(rule, "value ", next, " does not match");
    bool applied = false;
    for (Match& m : FindMatches(now, OpIndex(now), rule, facts)) {
      if (m.outputs[0] == values[next]) m = Swapped(rule, m);
      if (m.outputs[1] != values[next] || !merged(m.outputs[0])) continue;
      absl::StatusOr<Graph> result = Apply(now, rule, m);
      if (!result.ok()) {
        why = result.status();
        continue;
      }
      now = *std::move(result);
      applied = true;
      break;
    }
    if (!applied) return why;
  }
  return Flatten(std::move(now), {graph.id_bound()});
}

}  // namespace isomer::ir

// The values that a target chooses, one combination after the other. Bounds
// may speak of variables and of what was chosen before.
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/match.h"

namespace isomer::ir {

namespace {

class Chooser {
 public:
  Chooser(const Graph& graph, const Rule& rule, const Match& match, int limit)
      : graph_(graph), rule_(rule), limit_(limit), match_(match) {}

  std::vector<Match> Run() {
    Next(0);
    return std::move(out_);
  }

 private:
  // The type of a tensor variable; other nodes of the target do not exist yet.
  const TensorType* TypeOf(const RuleSide& side, RuleOperand o) const {
    const RuleNode& n = side.nodes[o.node];
    if (n.kind != RuleNode::Kind::kVariable) return nullptr;
    return graph_.FindType(match_.tensors[n.variable]);
  }
  std::optional<int64_t> Bound(const ValueExpr& v) const {
    auto value = EvalValue<int64_t>(
        v, {match_.attrs,
            [&](RuleOperand o) { return TypeOf(rule_.target(), o); }, nullptr});
    if (!value.ok()) return std::nullopt;
    const auto* i = std::get_if<int64_t>(&*value);
    return i == nullptr ? std::nullopt : std::optional<int64_t>(*i);
  }
  bool ConditionsHold() const {
    for (const RuleCondition& c : rule_.where()) {
      if (c.kind >= RuleCondition::Kind::kConst) continue;
      auto holds = Holds(c, {match_.attrs,
                             [&](RuleOperand o) -> const TensorType* {
                               const NodeId id = match_.nodes[o.node];
                               if (id.value < 0) {
                                 return TypeOf(rule_.source(), o);
                               }
                               return graph_.FindType({id, o.output});
                             },
                             nullptr});
      if (!holds.ok() || !*holds) return false;
    }
    return true;
  }
  void Next(size_t v) {
    while (v < rule_.attrs().size() && !rule_.attrs()[v].chosen()) ++v;
    if (v == rule_.attrs().size()) {
      if (ConditionsHold()) out_.push_back(match_);
      return;
    }
    const auto low = Bound(*rule_.attrs()[v].low);
    const auto high = Bound(*rule_.attrs()[v].high);
    if (!low || !high) return;
    for (int64_t x = *low; x <= *high; ++x) {
      if (static_cast<int>(out_.size()) >= limit_ || ++tried_ > 16 * limit_) {
        break;
      }
      match_.attrs[v].emplace(x);
      Next(v + 1);
      if (x == std::numeric_limits<int64_t>::max()) break;
    }
    match_.attrs[v].reset();
  }

  const Graph& graph_;
  const Rule& rule_;
  const int limit_;
  Match match_;
  int tried_ = 0;
  std::vector<Match> out_;
};

}  // namespace

std::vector<Match> Choices(const Graph& graph, const Rule& rule,
                           const Match& match, int limit) {
  return Chooser(graph, rule, match, limit).Run();
}

}  // namespace isomer::ir

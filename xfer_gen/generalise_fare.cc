// A form is typed, then its cases are run.
#include "xfer_gen/generalise_fare.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ops/registry.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

// A rule about every permutation of every rank is no help to anybody.
constexpr size_t kMostCases = 200;

// How many different sizes the tensors of a case may have.
int FreeSizes(const ir::RuleCase& c) {
  std::set<std::string> symbols;
  for (const SymType& t : c.tensors) {
    for (const DimExpr& d : t.shape) {
      for (const std::string& s : d.Symbols()) symbols.insert(s);
    }
  }
  return static_cast<int>(symbols.size());
}

// All that trials of a rule depend on. What its conditions say is in its cases.
std::string WhatIsTried(const ir::Rule& rule) {
  RuleSyntax bare = rule.syntax();
  bare.name.clear();
  bare.comments.clear();
  std::erase_if(bare.where, [](const ir::ConditionSyntax& c) {
    return c.kind != ir::ConditionSyntax::Kind::kPositive;
  });
  std::string out = ir::PrintRule(bare);
  for (const ir::RuleCase& c : rule.cases()) {
    absl::StrAppend(&out, "\ncase");
    for (const SymType& t : c.tensors) absl::StrAppend(&out, " ", TypeText(t));
    for (const SymAttr& a : c.attrs) {
      absl::StrAppend(&out, " ", AttrText<DimExpr>(a));
    }
    for (const auto* list : {&c.facts, &c.obligations}) {
      for (const Obligation& o : *list) {
        absl::StrAppend(&out, "; ", ObligationText(o));
      }
    }
  }
  return out;
}

}  // namespace

RuleSyntax Fares::Pinned(RuleSyntax rule) const {
  return AtRanks(std::move(rule), seen_);
}

bool Fares::CoversWhereSeen(const ir::Rule& rule) const {
  std::vector<int> ranks;
  for (const std::string& name : rule.tensors()) {
    const auto at = absl::c_find_if(
        seen_, [&](const SeenTensor& t) { return t.name == name; });
    if (at == seen_.end()) return false;
    ranks.push_back(at->type.rank());
  }
  return rule.Covers(ranks,
                     std::vector<std::optional<Attr>>(rule.attrs().size()));
}

const Fare& Fares::Try(const RuleSyntax& syntax, int assignments, Extent extent,
                       const ir::RuleLimits& limits) {
  const std::string text = ir::PrintRule(syntax);
  const Typed& rule = TypedOf(syntax, text, limits);
  const int cases = rule.ok() ? static_cast<int>(rule->cases().size()) : -1;
  auto [it, fresh] = known_.try_emplace({text, cases, assignments, extent});
  if (fresh && rule.ok()) it->second = TryAnew(*rule, assignments, extent);
  if (!rule.ok()) it->second.failure = std::string(rule.status().message());
  return it->second;
}

const Fares::Typed& Fares::TypedOf(const RuleSyntax& syntax,
                                   const std::string& text,
                                   const ir::RuleLimits& limits) {
  auto [it, fresh] = typed_.try_emplace(text, Known{absl::UnknownError("")});
  Known& known = it->second;
  if (fresh || (known.cut_short && known.steps != limits.steps)) {
    known.steps = limits.steps;
    known.cut_short = false;
    known.rule = TypeAnew(syntax, limits, known.cut_short);
  }
  return known.rule;
}

// What will not do at the ranks that were seen is not typed at others: there
// that is quickly found out.
Fares::Typed Fares::TypeAnew(const RuleSyntax& syntax,
                             const ir::RuleLimits& limits,
                             bool& cut_short) const {
  auto not_where_seen = [] {
    return absl::NotFoundError("it does not hold where it was seen");
  };
  auto create = [&](const RuleSyntax& form) {
    Typed made = ir::Rule::Create(form, /*reversed=*/false, Ops(), limits);
    cut_short =
        cut_short || (made.ok() ? made->cut_short()
                                : absl::IsResourceExhausted(made.status()));
    return made;
  };
  const RuleSyntax pinned = Pinned(syntax);
  Typed rule = create(pinned);
  if (!rule.ok()) return rule;
  if (!CoversWhereSeen(*rule)) return not_where_seen();
  // A merge that could no longer be made, only undone, would be of little use.
  if (both_ways_ &&
      !ir::Rule::Create(pinned, /*reversed=*/true, Ops(), kAnyCase).ok()) {
    return absl::NotFoundError("it could no longer be read from right to left");
  }
  if (ir::PrintRule(pinned) != ir::PrintRule(syntax)) {
    rule = create(syntax);
    if (!rule.ok()) return rule;
    if (!CoversWhereSeen(*rule)) return not_where_seen();
  }
  if (rule->cases().size() > kMostCases) {
    return absl::NotFoundError("it has too many cases to be read and proved");
  }
  return rule;
}

const std::vector<CaseTrial>& Fares::Trials(const ir::Rule& rule,
                                            TrialOptions options) {
  options.seed = seed_;
  const auto [it, fresh] =
      trials_.try_emplace({WhatIsTried(rule), options.assignments,
                           options.go_on, options.every_case});
  if (fresh) it->second = TryCases(rule, options);
  return it->second;
}

Fare Fares::TryAnew(const ir::Rule& rule, int assignments, Extent extent) {
  Fare fare;
  const std::vector<CaseTrial>& trials = Trials(
      rule,
      {.assignments = assignments, .every_case = extent == Extent::kEveryCase});
  for (size_t c = 0; c < trials.size(); ++c) {
    const CaseTrial& t = trials[c];
    if (t.solid) {
      int& most = t.failure ? fare.open : fare.freedom;
      most = std::max(most, FreeSizes(rule.cases()[c]));
    }
    if (t.failure && fare.failed == 0) fare.failure = *t.failure;
    fare.failed += t.failure.has_value();
    fare.passed += !t.failure && t.solid;
  }
  for (size_t v = 0; v < rule.attrs().size(); ++v) {
    std::set<std::string> values;
    for (const CaseTrial& t : trials) {
      for (const auto& attrs : t.attrs) {
        if (attrs[v]) values.insert(AttrText<int64_t>(*attrs[v]));
      }
    }
    if (values.size() == 1) fare.idle.insert(rule.attrs()[v].name);
  }
  return fare;
}

}  // namespace isomer::gen

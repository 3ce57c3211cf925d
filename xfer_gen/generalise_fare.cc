// A form is typed, then its cases are run.
#include "xfer_gen/generalise_fare.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
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

const Fare& Fares::Try(const RuleSyntax& syntax, int assignments,
                       const ir::RuleLimits& limits) {
  auto [it, fresh] =
      known_.try_emplace({ir::PrintRule(syntax), assignments, limits.steps});
  if (fresh) it->second = TryAnew(syntax, assignments, limits);
  return it->second;
}

Fare Fares::TryAnew(const RuleSyntax& syntax, int assignments,
                    const ir::RuleLimits& limits) const {
  Fare fare;
  auto rule = ir::Rule::Create(syntax, /*reversed=*/false, Ops(), limits);
  if (!rule.ok()) {
    fare.failure = std::string(rule.status().message());
    return fare;
  }
  if (!CoversWhereSeen(*rule)) {
    fare.failure = "it does not hold where it was seen";
    return fare;
  }
  // A merge that could no longer be made, only undone, would be of little use.
  if (both_ways_ && !ir::Rule::Create(Pinned(syntax), /*reversed=*/true).ok()) {
    fare.failure = "it could no longer be read from right to left";
    return fare;
  }
  if (rule->cases().size() > kMostCases) {
    fare.failure = "it has too many cases to be read and proved";
    return fare;
  }
  const std::vector<CaseTrial> trials =
      TryCases(*rule, {.assignments = assignments, .seed = seed_});
  for (size_t c = 0; c < trials.size(); ++c) {
    const CaseTrial& t = trials[c];
    if (t.solid) {
      int& most = t.failure ? fare.open : fare.freedom;
      most = std::max(most, FreeSizes(rule->cases()[c]));
    }
    if (t.failure && fare.failed == 0) fare.failure = *t.failure;
    fare.failed += t.failure.has_value();
    fare.passed += !t.failure && t.solid;
  }
  for (size_t v = 0; v < rule->attrs().size(); ++v) {
    std::set<std::string> values;
    for (const CaseTrial& t : trials) {
      for (const auto& attrs : t.attrs) {
        if (attrs[v]) values.insert(AttrText<int64_t>(*attrs[v]));
      }
    }
    if (values.size() == 1) fare.idle.insert(rule->attrs()[v].name);
  }
  return fare;
}

}  // namespace isomer::gen

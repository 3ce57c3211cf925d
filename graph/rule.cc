// From syntax to a checked rule: bind, type, classify.
#include "graph/rule.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/rule_bind.h"
#include "graph/rule_symmetry.h"
#include "graph/rule_typing.h"
#include "ops/status.h"

namespace isomer::ir {

absl::StatusOr<Rule> Rule::Create(const RuleSyntax& syntax, bool reversed,
                                  const Registry& registry,
                                  const RuleLimits& limits) {
  Rule rule;
  rule.syntax_ = syntax;
  rule.name_ = syntax.name;
  if (reversed) {
    std::swap(rule.syntax_.source, rule.syntax_.target);
    rule.name_ += "'";
  }
  rule.syntax_.both_ways = false;
  ASSIGN_OR_RETURN(BoundRule bound, Bind(rule.syntax_, registry));
  ASSIGN_OR_RETURN(TypedCases typed, TypeCases(bound, limits));
  rule.cases_ = std::move(typed.cases);
  rule.cut_short_ = typed.cut_short;
  rule.numerics_ = NumericsOf(bound, rule.cases_);
  rule.symmetries_ = FindSymmetries(bound);
  rule.source_ = std::move(bound.source);
  rule.target_ = std::move(bound.target);
  rule.tensors_ = std::move(bound.tensors);
  rule.attrs_ = std::move(bound.attrs);
  rule.where_ = std::move(bound.where);
  return rule;
}

namespace {

// Whether a value may be what a case says: numbers must be equal, lists as
// long, symbols may be anything. Floats are not compared.
bool MayBe(const SymAttr& said, const Attr& value) {
  if (said.index() != value.index()) return false;
  if (const auto* d = std::get_if<DimExpr>(&said)) {
    const auto c = d->constant();
    return !c || *c == std::get<int64_t>(value);
  }
  if (const auto* list = std::get_if<std::vector<DimExpr>>(&said)) {
    const auto& v = std::get<std::vector<int64_t>>(value);
    if (list->size() != v.size()) return false;
    for (size_t i = 0; i < v.size(); ++i) {
      const auto c = (*list)[i].constant();
      if (c && *c != v[i]) return false;
    }
  }
  if (const auto* word = std::get_if<std::string>(&said)) {
    return *word == std::get<std::string>(value);
  }
  return true;
}

}  // namespace

bool Rule::Covers(absl::Span<const int> ranks,
                  absl::Span<const std::optional<Attr>> attrs) const {
  for (const RuleCase& c : cases_) {
    bool fits = true;
    for (size_t i = 0; i < ranks.size() && fits; ++i) {
      fits = c.tensors[i].rank() == ranks[i];
    }
    for (size_t i = 0; i < attrs.size() && fits; ++i) {
      fits = !attrs[i] || MayBe(c.attrs[i], *attrs[i]);
    }
    if (fits) return true;
  }
  return false;
}

const Rule* RuleSet::Find(absl::string_view name) const {
  for (const Rule& r : rules) {
    if (r.name() == name) return &r;
  }
  return nullptr;
}

namespace {

// Adds the rule in the directions it holds in.
absl::Status AddDirections(const RuleSyntax& syntax, const Registry& registry,
                           const RuleLimits& limits, std::vector<Rule>& rules) {
  for (bool reversed : {false, true}) {
    if (reversed && !syntax.both_ways) break;
    auto rule = Rule::Create(syntax, reversed, registry, limits);
    if (!rule.ok()) {
      std::string message(rule.status().message());
      if (!syntax.name.empty()) {
        absl::StrAppend(&message, " [rule ", syntax.name, "]");
      }
      if (reversed) absl::StrAppend(&message, " [read from right to left]");
      return absl::Status(rule.status().code(), message);
    }
    rules.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RuleSet> CheckRules(const RuleFileSyntax& file,
                                   const Registry& registry,
                                   const RuleLimits& limits) {
  RuleSet set;
  for (const RuleItem& item : file.items) {
    if (const auto* fold = std::get_if<FoldSyntax>(&item)) {
      set.folds.push_back(fold->name);
      continue;
    }
    RETURN_IF_ERROR(
        AddDirections(std::get<RuleSyntax>(item), registry, limits, set.rules));
  }
  return set;
}

absl::StatusOr<RuleSet> ReadRules(absl::string_view text,
                                  const Registry& registry) {
  ASSIGN_OR_RETURN(RuleFileSyntax file, ParseRuleFile(text));
  return CheckRules(file, registry);
}

absl::StatusOr<std::vector<Rule>> ReadRuleBody(absl::string_view text,
                                               const Registry& registry) {
  ASSIGN_OR_RETURN(RuleSyntax syntax, ParseRuleBody(text));
  std::vector<Rule> rules;
  RETURN_IF_ERROR(AddDirections(syntax, registry, {}, rules));
  return rules;
}

}  // namespace isomer::ir

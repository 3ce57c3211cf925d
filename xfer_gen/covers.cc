// Two rules are the same if each is an instance of the other.
#include "xfer_gen/covers.h"

#include <utility>

namespace isomer::gen {

namespace {

// True if our equation is an instance of their rule in turn.
bool IsInstanceOf(const ir::Rule& ours, const ir::RuleSyntax& theirs) {
  Theory theory;
  if (!theory.Add(theirs).ok()) return false;
  DeriveLimits one;
  one.steps = 1;
  const auto d = DeriveRule(ours, theory, one);
  return d && d->whole && d->steps() == 1;
}

}  // namespace

absl::string_view CoverageName(Coverage c) {
  switch (c) {
    case Coverage::kSame:
      return "same";
    case Coverage::kInstance:
      return "instance";
    case Coverage::kDerived:
      return "derived";
    case Coverage::kFalse:
      return "false";
    case Coverage::kIllFormed:
      return "ill_formed";
    case Coverage::kMissing:
      break;
  }
  return "missing";
}

CoverReport Cover(const ir::RuleSyntax& theirs, const Theory& ours,
                  const CoverOptions& options) {
  auto rule = ir::Rule::Create(theirs);
  // A rule that cannot be a source may still be one from right to left.
  if (!rule.ok()) {
    auto reversed = ir::Rule::Create(theirs, /*reversed=*/true);
    if (!reversed.ok()) {
      return {
          Coverage::kIllFormed, {}, true, std::string(rule.status().message())};
    }
    rule = std::move(reversed);
  }
  if (options.refute) {
    if (auto why = options.refute(*rule)) {
      return {Coverage::kFalse, {}, true, *std::move(why)};
    }
  }
  DeriveLimits limits = options.limits;
  limits.forward = true;
  auto d = DeriveRule(*rule, ours, limits);
  const bool forward = d.has_value();
  if (!d) d = DeriveRule(*rule, ours, options.limits);
  if (!d) return {};
  CoverReport report{Coverage::kDerived, StepNames(*d, ours), forward, ""};
  if (d->whole && d->steps() == 1) {
    const int used =
        d->from_source.empty() ? d->from_target[0] : d->from_source[0];
    report.coverage = IsInstanceOf(*ours.equations()[used].rule, theirs)
                          ? Coverage::kSame
                          : Coverage::kInstance;
  }
  return report;
}

}  // namespace isomer::gen

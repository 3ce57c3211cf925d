// Axes and ranks are settled first, with all other attributes as they were
// seen; then those, at the ranks that were seen, all at once or in halves; then
// both together. Conditions come from a short list of what sizes and ranks can
// say.
#include "xfer_gen/generalise.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/rule.h"
#include "ops/registry.h"
#include "ops/status.h"
#include "xfer_gen/generalise_conditions.h"
#include "xfer_gen/generalise_sites.h"
#include "xfer_gen/generalise_sizes.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {

namespace {

using ir::ConditionSyntax;
using ir::RuleSyntax;

constexpr size_t kMostConditions = 3;
constexpr int kSuggestions = 96;  // assignments that suggest conditions

bool HasDegree(const ir::SideSyntax& side) {
  RuleSyntax rule;
  rule.source = side;
  return absl::c_any_of(Calls(rule), [](const ir::ExprSyntax* call) {
    return absl::c_any_of(call->attrs, [](const ir::AttrSyntax& a) {
      return a.name == "degree";
    });
  });
}

// Adds the condition that, of the assignments tried, excludes the most that
// failed and, among such, the fewest that did not; false if there is none that
// leaves some of the good ones.
bool AddCondition(const std::vector<SizeCondition>& all,
                  std::vector<TriedSizes>& tried,
                  std::vector<ConditionSyntax>& where) {
  const SizeCondition* best = nullptr;
  int most_failed = 0, most_good = 0;
  for (const SizeCondition& c : all) {
    int failed = 0, good = 0;
    for (const TriedSizes& t : tried) {
      const bool holds = c.holds(t.tensors);
      failed += t.failed && !holds;
      good += !t.failed && holds;
    }
    if (good == 0 || failed < most_failed) continue;
    if (failed == most_failed && good <= most_good) continue;
    best = &c;
    most_failed = failed;
    most_good = good;
  }
  if (best == nullptr || most_failed == 0) return false;
  where.push_back(best->syntax);
  std::erase_if(tried,
                [&](const TriedSizes& t) { return !best->holds(t.tensors); });
  return true;
}

}  // namespace

// Makes the source the side that can be one; both ways if both can. The ranks
// that were seen tell.
absl::Status Generaliser::SetDirections(RuleSyntax& rule) const {
  const RuleSyntax pinned = fares_.Pinned(rule);
  const auto whether = [&](bool reversed) {
    return ir::Rule::Create(pinned, reversed, Ops(), kAnyCase).status();
  };
  const absl::Status forward = whether(/*reversed=*/false);
  const bool backward = whether(/*reversed=*/true).ok();
  if (!forward.ok() && !backward) return forward;
  if (!forward.ok()) std::swap(rule.source, rule.target);
  rule.both_ways = forward.ok() && backward;
  return absl::OkStatus();
}

absl::Status Generaliser::Prepare() {
  SeenTensors seen;
  for (const CandidateLeaf& leaf : candidate_.leaves) {
    seen.push_back({leaf.name, leaf.type});
  }
  fares_.SetSeen(seen);
  base_ = candidate_.rule();
  RETURN_IF_ERROR(SetDirections(base_));
  const RuleSyntax numbered = fares_.Pinned(Numbered(base_));
  ASSIGN_OR_RETURN(ir::Rule checked, ir::Rule::Create(numbered));
  SeenTensors in_order;
  for (const std::string& name : checked.tensors()) {
    const auto leaf = absl::c_find_if(
        seen, [&](const SeenTensor& t) { return t.name == name; });
    if (leaf == seen.end()) {
      return Invalid("candidate: there is no leaf '", name, "'");
    }
    in_order.push_back(*leaf);
  }
  fares_.SetSeen(in_order);
  fares_.SetBothWays(base_.both_ways);
  const CallTypes types = TypesOfCalls(numbered, in_order);
  if (!candidate_.said_by_sizes) NameSizes(SizesOf(base_, types, in_order));
  RETURN_IF_ERROR(SetDirections(base_));
  groups_ = GroupsOf(base_, types);
  // A target that is whole where the source is cut over devices does not tell,
  // read from right to left, over how many.
  const bool forgets_degree =
      HasDegree(base_.source) && !HasDegree(base_.target);
  fares_.SetBothWays(base_.both_ways && !forgets_degree);
  return absl::OkStatus();
}

absl::StatusOr<RuleSyntax> Generaliser::Named() {
  if (!prepared_) prepared_ = Prepare();
  RETURN_IF_ERROR(*prepared_);
  return fares_.Pinned(base_);
}

// Whether it is worth going on from the ranks that were seen, where all is
// quickly found out: what does not hold, cannot be proved or is about sizes
// there, will not be better at other ranks as well.
absl::Status Generaliser::LookWhereSeen() {
  RuleSyntax seen = fares_.Pinned(base_);
  if (candidate_.said_by_sizes) return AskWhether(seen);
  const Fare fare = fares_.Try(seen, options_.assignments);
  where_.clear();
  if (fare.failed > 0) RETURN_IF_ERROR(Restrict(seen, fare, where_));
  if (NamesSizes(seen, fares_.seen())) {
    RETURN_IF_ERROR(FreeSizes());
    seen = fares_.Pinned(Formed());
  }
  seen.where.insert(seen.where.end(), where_.begin(), where_.end());
  return AskWhether(seen);
}

// Makes variables of what says sizes in numbers. Whatever else is freed later,
// this must hold.
absl::Status Generaliser::FreeSizes() {
  forms_.assign(groups_.size(), AttrForm::kAsIs);
  for (size_t g = 0; g < groups_.size(); ++g) {
    const bool sizes = absl::c_any_of(
        groups_[g].sites,
        [](const AttrSite& site) { return SaysSizes(site.attr); });
    if (sizes && !groups_[g].axis) forms_[g] = AttrForm::kVariable;
  }
  if (NamesSizes(Formed(), fares_.seen()) || !HoldsWhereSeen()) {
    return absl::AbortedError("it is about the sizes that were seen");
  }
  return absl::OkStatus();
}

absl::Status Generaliser::AskWhether(const RuleSyntax& seen) const {
  if (!options_.worthwhile || options_.worthwhile(seen)) {
    return absl::OkStatus();
  }
  return absl::AbortedError("not worthwhile");
}

// Writes numbers as the sizes that leave the most others free, and as the end
// of what is sliced where that leaves no fewer. A form that fails somewhere may
// hold under a condition, and is better than none.
void Generaliser::NameSizes(const std::vector<SizeGroup>& groups) {
  constexpr auto kEnd = ir::ValueSyntax::Kind::kEnd;
  constexpr int kHolds = 100;  // more than there are sizes
  auto freedom = [&](const RuleSyntax& syntax) {
    const Fare& fare = fares_.Try(
        fares_.Pinned(syntax), options_.naming_assignments, Extent::kEveryCase);
    if (fare.passed > 0) return kHolds + fare.freedom;
    return fare.open > 0 ? fare.open : -1;
  };
  for (const SizeGroup& group : groups) {
    int best = freedom(base_);
    RuleSyntax named = base_;
    for (const ir::ValueSyntax& option : group.options) {
      RuleSyntax next = WithSize(base_, group, option);
      const int f = freedom(next);
      if (f < best || (f == best && option.kind != kEnd)) continue;
      best = f;
      named = std::move(next);
    }
    base_ = std::move(named);
  }
}

void Generaliser::SetForms(bool axes, AttrForm form) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].axis == axes) forms_[g] = form;
  }
}

// Makes variables of all attributes, but for axes if that does not hold.
absl::Status Generaliser::FreeAll() {
  forms_.assign(groups_.size(), AttrForm::kVariable);
  if (AllAxesFree()) return absl::OkStatus();
  SetForms(/*axes=*/true, AttrForm::kAsIs);
  if (fares_.Try(Formed(), options_.assignments).good()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("it holds for some shapes alone");
}

// Settles ranks and axes, with the other attributes as they were seen.
absl::Status Generaliser::FreeAxes() {
  if (AllAxesFree()) return absl::OkStatus();
  SetForms(/*axes=*/true, AttrForm::kAsIs);
  const Fare fare = fares_.Try(base_, options_.assignments);
  if (fare.passed == 0 && fare.failed == 0) {
    return absl::FailedPreconditionError(fare.failure);
  }
  if (!fare.good()) RETURN_IF_ERROR(Restrict(base_, fare, where_));
  int passed = fare.good() ? fare.passed : 0;
  const bool from_end = CountFromEnd(passed);
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].axis) continue;
    forms_[g] = AttrForm::kVariable;
    if (AcceptsAxes(passed, from_end ? passed : 0)) continue;
    forms_[g] = AttrForm::kFromEnd;
    if (from_end || AcceptsAxes(passed, passed + 1)) continue;
    forms_[g] = AttrForm::kAsIs;
  }
  return absl::OkStatus();
}

// Counts all axes from the end if that holds in more cases: those of the two
// operands of a product may have to be so together.
bool Generaliser::CountFromEnd(int& passed) {
  SetForms(/*axes=*/true, AttrForm::kFromEnd);
  if (AcceptsAxes(passed, passed + 1)) return true;
  SetForms(/*axes=*/true, AttrForm::kAsIs);
  return false;
}

// All axes as variables; two of them may have to differ.
bool Generaliser::AllAxesFree() {
  SetForms(/*axes=*/true, AttrForm::kVariable);
  RuleSyntax rule = Formed();
  const Fare fare = fares_.Try(rule, options_.assignments, Extent::kEveryCase);
  if (fare.good()) return true;
  if (fare.passed == 0) return false;
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t h = 0; h < g; ++h) {
      if (!groups_[g].axis || !groups_[h].axis) continue;
      rule.where = {DifferentValues(groups_[h].variable, groups_[g].variable)};
      if (!fares_.Try(rule, options_.assignments).good()) continue;
      where_ = rule.where;
      return true;
    }
  }
  return false;
}

// Adds conditions until no case fails. A few assignments suggest them, and as
// many more tell whether they are enough.
absl::Status Generaliser::Restrict(const RuleSyntax& of, Fare fare,
                                   std::vector<ConditionSyntax>& where) {
  const std::vector<SizeCondition> all = ConditionsOf(fares_.seen());
  auto restricted = [&] {
    RuleSyntax rule = of;
    rule.where.insert(rule.where.end(), where.begin(), where.end());
    return rule;
  };
  while (!fare.good()) {
    auto checked =
        ir::Rule::Create(restricted(), /*reversed=*/false, Ops(), kTrialLimits);
    if (!checked.ok()) return checked.status();
    std::vector<TriedSizes> tried;
    for (const CaseTrial& t : fares_.Trials(
             *checked, {.assignments = kSuggestions, .go_on = true})) {
      tried.insert(tried.end(), t.sizes.begin(), t.sizes.end());
    }
    const size_t before = where.size();
    while (absl::c_any_of(tried, [](const auto& t) { return t.failed; })) {
      if (where.size() == kMostConditions || !AddCondition(all, tried, where)) {
        return absl::FailedPreconditionError(fare.failure);
      }
    }
    fare = fares_.Try(restricted(), options_.many_assignments);
    if (where.size() == before && !fare.good()) break;
  }
  if (!fare.good()) return absl::FailedPreconditionError(fare.failure);
  return absl::OkStatus();
}

// True if the rule with the forms so far holds, in as many cases as are asked
// for at least. It drops the conditions if it can; that needs many trials,
// since few may miss what the conditions are for.
bool Generaliser::AcceptsAxes(int& passed, int least) {
  RuleSyntax next = Formed();
  for (bool keep : {false, true}) {
    if (keep && where_.empty()) break;
    if (keep) next.where = where_;
    const bool bold = !keep && !where_.empty();
    const Fare f = fares_.Try(
        next, bold ? options_.many_assignments : options_.assignments);
    if (!f.good() || f.passed < least) continue;
    where_ = next.where;
    passed = f.passed;
    return true;
  }
  return false;
}

// Whether the rule, with axes as they were seen, holds at the ranks at which it
// was seen: that is quickly found out.
bool Generaliser::HoldsWhereSeen() {
  std::vector<AttrForm> forms = forms_;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].axis) forms[g] = AttrForm::kAsIs;
  }
  RuleSyntax rule = WithForms(base_, groups_, forms);
  for (const ConditionSyntax& c : where_) {
    if (c.kind == ConditionSyntax::Kind::kEq) rule.where.push_back(c);
  }
  return fares_.Try(fares_.Pinned(std::move(rule)), options_.assignments)
      .good();
}

// Makes attributes that are no axes variables where the rule stays true.
void Generaliser::FreeOthers() {
  std::vector<int> others;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].axis) others.push_back(static_cast<int>(g));
  }
  FreeSome(others, 0, others.size());
}

// Frees all of the groups from `first` up to `last` or, if that does not hold,
// those of each half that can be.
void Generaliser::FreeSome(const std::vector<int>& groups, size_t first,
                           size_t last) {
  if (first == last) return;
  for (size_t i = first; i < last; ++i) {
    forms_[groups[i]] = AttrForm::kVariable;
  }
  if (HoldsWhereSeen()) return;
  for (size_t i = first; i < last; ++i) forms_[groups[i]] = AttrForm::kAsIs;
  if (last - first == 1) return;
  const size_t middle = (first + last) / 2;
  FreeSome(groups, first, middle);
  FreeSome(groups, middle, last);
}

void Generaliser::DropConditions() {
  for (size_t i = 0; i < where_.size();) {
    RuleSyntax without = Formed();
    without.where = where_;
    without.where.erase(without.where.begin() + static_cast<int>(i));
    if (fares_.Try(without, options_.many_assignments).good()) {
      where_ = without.where;
    } else {
      ++i;
    }
  }
}

// Writes the value again where types leave a variable but one: it would say
// nothing, and could keep the rule from being read from right to left.
void Generaliser::FixIdleVariables() {
  RuleSyntax rule = Formed();
  rule.where = where_;
  const Fare fare = fares_.Try(rule, options_.final_assignments);
  if (!fare.good()) return;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (forms_[g] == AttrForm::kVariable &&
        fare.idle.contains(groups_[g].variable)) {
      forms_[g] = AttrForm::kAsIs;
    }
  }
}

absl::StatusOr<RuleSyntax> Generaliser::Run(bool attributes) {
  RETURN_IF_ERROR(Named().status());
  if (!looked_) looked_ = LookWhereSeen();
  RETURN_IF_ERROR(*looked_);
  where_.clear();
  if (candidate_.said_by_sizes) {
    RETURN_IF_ERROR(FreeAll());
  } else {
    forms_.assign(groups_.size(), AttrForm::kAsIs);
    RETURN_IF_ERROR(FreeAxes());
    if (attributes) FreeOthers();
  }
  FixIdleVariables();
  if (!where_.empty()) DropConditions();
  const ir::RuleLimits all;
  RuleSyntax rule = Formed();
  rule.where = where_;
  Fare fare = fares_.Try(rule, options_.final_assignments,
                         Extent::kToFirstFailure, all);
  if (!fare.good() && !candidate_.said_by_sizes) {
    // What holds at the ranks seen need not at others, and there may be too
    // many of those.
    SetForms(/*axes=*/false, AttrForm::kAsIs);
    rule = Formed();
    rule.where = where_;
    fare = fares_.Try(rule, options_.final_assignments, Extent::kToFirstFailure,
                      all);
  }
  if (!fare.good() && !candidate_.said_by_sizes) {
    rule = fares_.Pinned(base_);
    fare = fares_.Try(rule, options_.final_assignments, Extent::kToFirstFailure,
                      all);
  }
  if (!fare.good()) return absl::FailedPreconditionError(fare.failure);
  RETURN_IF_ERROR(SetDirections(rule));
  // As a reader of the file will see it.
  return ir::ParseRuleBody(ir::PrintRule(Renamed(std::move(rule))));
}

absl::StatusOr<RuleSyntax> Generalise(const Candidate& candidate,
                                      const GeneraliseOptions& options) {
  return Generaliser(candidate, options).Run(/*attributes=*/true);
}

}  // namespace isomer::gen

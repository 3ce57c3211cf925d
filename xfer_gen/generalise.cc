// Axes and ranks are settled first, with all other attributes as they were
// seen; then those, at the ranks that were seen, all at once or in halves; then
// both together. Conditions come from a short list of what sizes and ranks can
// say.
#include "xfer_gen/generalise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
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

// Enough for the cases of a rule that is worth having; a form whose variables
// leave everything open costs no more than that.
constexpr ir::RuleLimits kTrialLimits{.steps = 700};
constexpr size_t kMostConditions = 3;
constexpr int kSuggestions = 160;  // assignments that suggest conditions
constexpr int kIdleAssignments = 24;
// A rule about every permutation of every rank is no help to anybody.
constexpr size_t kMostCases = 200;

// How a form of the rule fared.
struct Fare {
  int passed = 0;  // cases that are about something and hold
  int failed = 0;
  int freedom = 0;  // how many sizes are free, at most, in a case that holds
  int open = 0;     // the same of cases that may or may not
  // Attribute variables that had one value in all assignments.
  std::set<std::string> idle = {};
  std::string failure;

  bool good() const { return passed > 0 && failed == 0; }
};

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

class Generaliser {
 public:
  Generaliser(const Candidate& candidate, const GeneraliseOptions& options)
      : candidate_(candidate), options_(options) {}

  absl::StatusOr<RuleSyntax> Run();

 private:
  absl::Status Prepare();
  absl::Status SetDirections(RuleSyntax& rule) const;
  // The rule at the ranks that were seen, which is quickly checked.
  RuleSyntax Pinned(RuleSyntax rule) const;
  void NameSizes(const std::vector<SizeGroup>& groups);
  // How a form fares. Generalising comes back to some, which are kept.
  const Fare& Try(const RuleSyntax& rule, int assignments,
                  const ir::RuleLimits& limits = kTrialLimits) const;
  Fare TryAnew(const RuleSyntax& rule, int assignments,
               const ir::RuleLimits& limits) const;
  bool CoversWhereSeen(const ir::Rule& rule) const;
  RuleSyntax Formed() const { return WithForms(base_, groups_, forms_); }
  void SetForms(bool axes, AttrForm form);

  absl::Status FreeAll();
  absl::Status FreeAxes();
  bool AllAxesFree();
  absl::Status Restrict(Fare fare);
  bool AddCondition(const std::vector<SizeCondition>& all,
                    std::vector<TriedSizes>& tried);
  bool AcceptsAxes(int& passed, bool more);
  void FreeOthers();
  bool HoldsWhereSeen() const;
  void FreeSome(const std::vector<int>& groups, size_t first, size_t last);
  void DropConditions();
  void FixIdleVariables();

  const Candidate& candidate_;
  const GeneraliseOptions& options_;
  RuleSyntax base_;
  SeenTensors seen_;
  std::vector<AttrGroup> groups_;
  // The rule so far: the forms of the groups, and what it asks for.
  std::vector<AttrForm> forms_;
  std::vector<ConditionSyntax> where_;
  // The target is whole where the source is cut over devices: read from right
  // to left there is no telling over how many.
  bool forgets_degree_ = false;
  // By text, assignments and limit on steps.
  mutable std::map<std::tuple<std::string, int, int>, Fare> fares_;
};

// Makes the source the side that can be one; both ways if both can. The ranks
// that were seen tell.
absl::Status Generaliser::SetDirections(RuleSyntax& rule) const {
  const RuleSyntax pinned = Pinned(rule);
  absl::Status forward = ir::Rule::Create(pinned).status();
  const bool backward = ir::Rule::Create(pinned, /*reversed=*/true).ok();
  if (!forward.ok() && !backward) return forward;
  if (!forward.ok()) std::swap(rule.source, rule.target);
  rule.both_ways = forward.ok() && backward;
  return absl::OkStatus();
}

RuleSyntax Generaliser::Pinned(RuleSyntax rule) const {
  for (ConditionSyntax& c : RanksOf(seen_)) rule.where.push_back(std::move(c));
  return rule;
}

bool HasDegree(const ir::SideSyntax& side) {
  RuleSyntax rule;
  rule.source = side;
  return absl::c_any_of(Calls(rule), [](const ir::ExprSyntax* call) {
    return absl::c_any_of(call->attrs, [](const ir::AttrSyntax& a) {
      return a.name == "degree";
    });
  });
}

absl::Status Generaliser::Prepare() {
  for (const CandidateLeaf& leaf : candidate_.leaves) {
    seen_.push_back({leaf.name, leaf.type});
  }
  base_ = candidate_.rule();
  RETURN_IF_ERROR(SetDirections(base_));
  ASSIGN_OR_RETURN(ir::Rule checked, ir::Rule::Create(Pinned(Numbered(base_))));
  SeenTensors in_order;
  for (const std::string& name : checked.tensors()) {
    const auto leaf = absl::c_find_if(
        seen_, [&](const SeenTensor& t) { return t.name == name; });
    if (leaf == seen_.end()) {
      return Invalid("candidate: there is no leaf '", name, "'");
    }
    in_order.push_back(*leaf);
  }
  seen_ = std::move(in_order);
  const CallTypes types = TypesOfCalls(checked, seen_);
  if (!candidate_.said_by_sizes) NameSizes(SizesOf(base_, types, seen_));
  RETURN_IF_ERROR(SetDirections(base_));
  groups_ = GroupsOf(base_, types);
  forgets_degree_ = HasDegree(base_.source) && !HasDegree(base_.target);
  return absl::OkStatus();
}

// Writes numbers as the sizes that leave the most others free, and as the end
// of what is sliced where that leaves no fewer. A form that fails somewhere may
// hold under a condition, and is better than none.
void Generaliser::NameSizes(const std::vector<SizeGroup>& groups) {
  constexpr auto kEnd = ir::ValueSyntax::Kind::kEnd;
  constexpr int kHolds = 100;  // more than there are sizes
  auto freedom = [&](const RuleSyntax& syntax) {
    const Fare& fare = Try(Pinned(syntax), options_.assignments);
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

bool Generaliser::CoversWhereSeen(const ir::Rule& rule) const {
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

const Fare& Generaliser::Try(const RuleSyntax& syntax, int assignments,
                             const ir::RuleLimits& limits) const {
  auto [it, fresh] =
      fares_.try_emplace({ir::PrintRule(syntax), assignments, limits.steps});
  if (fresh) it->second = TryAnew(syntax, assignments, limits);
  return it->second;
}

Fare Generaliser::TryAnew(const RuleSyntax& syntax, int assignments,
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
  if (base_.both_ways && !forgets_degree_ &&
      !ir::Rule::Create(Pinned(syntax), /*reversed=*/true).ok()) {
    fare.failure = "it could no longer be read from right to left";
    return fare;
  }
  if (rule->cases().size() > kMostCases) {
    fare.failure = "it has too many cases to be read and proved";
    return fare;
  }
  const std::vector<CaseTrial> trials =
      TryCases(*rule, {.assignments = assignments, .seed = options_.seed});
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
  if (Try(Formed(), options_.assignments).good()) return absl::OkStatus();
  return absl::FailedPreconditionError("it holds for some shapes alone");
}

// Settles ranks and axes, with the other attributes as they were seen.
absl::Status Generaliser::FreeAxes() {
  if (AllAxesFree()) return absl::OkStatus();
  SetForms(/*axes=*/true, AttrForm::kAsIs);
  const Fare fare = Try(base_, options_.assignments);
  if (fare.passed == 0 && fare.failed == 0) {
    return absl::FailedPreconditionError(fare.failure);
  }
  if (!fare.good()) RETURN_IF_ERROR(Restrict(fare));
  int passed = fare.good() ? fare.passed : 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].axis) continue;
    forms_[g] = AttrForm::kVariable;
    if (AcceptsAxes(passed, /*more=*/false)) continue;
    forms_[g] = AttrForm::kFromEnd;
    if (!AcceptsAxes(passed, /*more=*/true)) forms_[g] = AttrForm::kAsIs;
  }
  return absl::OkStatus();
}

// All axes as variables; two of them may have to differ.
bool Generaliser::AllAxesFree() {
  SetForms(/*axes=*/true, AttrForm::kVariable);
  RuleSyntax rule = Formed();
  const Fare fare = Try(rule, options_.assignments);
  if (fare.good()) return true;
  if (fare.passed == 0) return false;
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (size_t h = 0; h < g; ++h) {
      if (!groups_[g].axis || !groups_[h].axis) continue;
      rule.where = {DifferentValues(groups_[h].variable, groups_[g].variable)};
      if (!Try(rule, options_.assignments).good()) continue;
      where_ = rule.where;
      return true;
    }
  }
  return false;
}

// Adds the condition that, of the assignments tried, excludes the most that
// failed and, among such, the fewest that did not; false if there is none that
// leaves some of the good ones.
bool Generaliser::AddCondition(const std::vector<SizeCondition>& all,
                               std::vector<TriedSizes>& tried) {
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
  where_.push_back(best->syntax);
  std::erase_if(tried,
                [&](const TriedSizes& t) { return !best->holds(t.tensors); });
  return true;
}

// Adds conditions until no case fails. A few assignments suggest them, and as
// many more tell whether they are enough.
absl::Status Generaliser::Restrict(Fare fare) {
  const std::vector<SizeCondition> all = ConditionsOf(seen_);
  while (!fare.good()) {
    RuleSyntax rule = base_;
    rule.where = where_;
    auto checked =
        ir::Rule::Create(rule, /*reversed=*/false, Ops(), kTrialLimits);
    if (!checked.ok()) return checked.status();
    std::vector<TriedSizes> tried;
    for (const CaseTrial& t : TryCases(*checked, {.assignments = kSuggestions,
                                                 .seed = options_.seed,
                                                 .go_on = true})) {
      tried.insert(tried.end(), t.sizes.begin(), t.sizes.end());
    }
    const size_t before = where_.size();
    while (absl::c_any_of(tried, [](const auto& t) { return t.failed; })) {
      if (where_.size() == kMostConditions || !AddCondition(all, tried)) {
        return absl::FailedPreconditionError(fare.failure);
      }
    }
    rule.where = where_;
    fare = Try(rule, options_.final_assignments);
    if (where_.size() == before && !fare.good()) break;
  }
  if (!fare.good()) return absl::FailedPreconditionError(fare.failure);
  return absl::OkStatus();
}

// True if the rule with the forms so far holds (in `more` cases than now, where
// that is asked for). It drops the conditions if it can; that needs many
// trials, since few may miss what the conditions are for.
bool Generaliser::AcceptsAxes(int& passed, bool more) {
  RuleSyntax next = Formed();
  for (bool keep : {false, true}) {
    if (keep && where_.empty()) break;
    if (keep) next.where = where_;
    const bool bold = !keep && !where_.empty();
    const Fare f =
        Try(next, bold ? options_.final_assignments : options_.assignments);
    if (!f.good() || (more && f.passed <= passed)) continue;
    where_ = next.where;
    passed = f.passed;
    return true;
  }
  return false;
}

// Whether the rule, with axes as they were seen, holds at the ranks at which it
// was seen: that is quickly found out.
bool Generaliser::HoldsWhereSeen() const {
  std::vector<AttrForm> forms = forms_;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].axis) forms[g] = AttrForm::kAsIs;
  }
  RuleSyntax rule = WithForms(base_, groups_, forms);
  for (const ConditionSyntax& c : where_) {
    if (c.kind == ConditionSyntax::Kind::kEq) rule.where.push_back(c);
  }
  return Try(Pinned(std::move(rule)), options_.assignments).good();
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
    if (Try(without, options_.final_assignments).good()) {
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
  const Fare fare = Try(rule, kIdleAssignments);
  if (!fare.good()) return;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (forms_[g] == AttrForm::kVariable &&
        fare.idle.contains(groups_[g].variable)) {
      forms_[g] = AttrForm::kAsIs;
    }
  }
}

absl::StatusOr<RuleSyntax> Generaliser::Run() {
  RETURN_IF_ERROR(Prepare());
  if (options_.worthwhile && !options_.worthwhile(Pinned(base_))) {
    return absl::AbortedError("not worthwhile");
  }
  if (candidate_.said_by_sizes) {
    RETURN_IF_ERROR(FreeAll());
  } else {
    forms_.assign(groups_.size(), AttrForm::kAsIs);
    RETURN_IF_ERROR(FreeAxes());
    if (options_.attributes) FreeOthers();
  }
  FixIdleVariables();
  if (!where_.empty()) DropConditions();
  RuleSyntax rule = Formed();
  rule.where = where_;
  Fare fare = Try(rule, options_.final_assignments, ir::RuleLimits());
  if (!fare.good() && !candidate_.said_by_sizes) {
    // What holds at the ranks seen need not at others, and there may be too
    // many of those.
    SetForms(/*axes=*/false, AttrForm::kAsIs);
    rule = Formed();
    rule.where = where_;
    fare = Try(rule, options_.final_assignments, ir::RuleLimits());
  }
  if (!fare.good() && !candidate_.said_by_sizes) {
    rule = Pinned(base_);
    fare = Try(rule, options_.final_assignments, ir::RuleLimits());
  }
  if (!fare.good()) return absl::FailedPreconditionError(fare.failure);
  RETURN_IF_ERROR(SetDirections(rule));
  // As a reader of the file will see it.
  return ir::ParseRuleBody(ir::PrintRule(Renamed(std::move(rule))));
}

}  // namespace

absl::StatusOr<RuleSyntax> Generalise(const Candidate& candidate,
                                      const GeneraliseOptions& options) {
  return Generaliser(candidate, options).Run();
}

}  // namespace isomer::gen

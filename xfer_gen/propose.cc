// Steps of proofs are counted and not timed, so that the same rules are proved
// anywhere.
#include "xfer_gen/propose.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/hashing.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "verify/verify.h"
#include "xfer_gen/generalise_conditions.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/generalise_sites.h"
#include "xfer_gen/generalise_sizes.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

constexpr int64_t kProofSteps = 3'000;
// Of a rule where it was seen, which is one case of many. Conditions and
// variables make a proof longer.
constexpr int64_t kQuickSteps = 1'500, kPlainSteps = 1'000;
// A rule has passed its trials before anybody tries to prove it.
constexpr int kAssignments = 8;

verify::VerifyOptions ProofOptions(int64_t steps) {
  verify::VerifyOptions options;
  options.prove.time = absl::InfiniteDuration();
  options.prove.steps = steps;
  options.refute.assignments = kAssignments;
  return options;
}

SeenTensors Leaves(const Candidate& candidate) {
  SeenTensors out;
  for (const CandidateLeaf& leaf : candidate.leaves) {
    out.push_back({leaf.name, leaf.type});
  }
  return out;
}

// Makes the siblings of a merge its source, as a fold wants them.
void SiblingsFirst(RuleSyntax& rule) {
  if (!rule.both_ways || Folds(rule)) return;
  RuleSyntax turned = rule;
  std::swap(turned.source, turned.target);
  if (Folds(turned)) rule = std::move(turned);
}

std::string ReasonOf(const verify::Verdict& verdict) {
  return absl::StrCat(verify::OutcomeName(verdict.outcome), ": ",
                      verdict.counterexample ? "false at some sizes or values"
                                             : verdict.reason);
}

// Why a rule at the ranks and sizes that were seen cannot be proved, or "": at
// more of them it will not be either. One that is refuted may hold from right
// to left; one that takes sizes for numbers may be about something else once
// those are variables.
std::string NotProvable(const RuleSyntax& seen, const SeenTensors& leaves) {
  if (NamesSizes(seen, leaves)) return "";
  const auto rule = ir::Rule::Create(seen);
  if (!rule.ok()) return "";
  const bool plain =
      rule->attrs().empty() && seen.where.size() == leaves.size();
  const verify::VerifyOptions options =
      ProofOptions(plain ? kPlainSteps : kQuickSteps);
  const verify::Verdict quick = verify::Verify(*rule, options);
  if (quick.outcome == verify::Outcome::kProved) return "";
  if (quick.outcome == verify::Outcome::kRefuted && seen.both_ways) {
    const auto turned = ir::Rule::Create(seen, /*reversed=*/true);
    if (turned.ok() &&
        verify::Verify(*turned, options).outcome == verify::Outcome::kProved) {
      return "";
    }
  }
  return ReasonOf(quick);
}

absl::StatusOr<ProvedWays> ProveAnew(const RuleSyntax& rule) {
  ProvedWays out;
  absl::Status broken = absl::OkStatus();
  bool differ = false;  // as far as the proof goes
  verify::EqualCases equal;
  verify::VerifyOptions options = ProofOptions(kProofSteps);
  options.prove.equal = &equal;
  for (const bool reversed : {false, true}) {
    // Values that are not shown to be equal hardly are from right to left.
    if (reversed && (!rule.both_ways || differ)) break;
    const auto made = ir::Rule::Create(rule, reversed);
    if (!made.ok()) {
      if (!reversed) broken = made.status();
      continue;
    }
    const verify::Verdict verdict = verify::Verify(*made, options);
    const bool proved = verdict.outcome == verify::Outcome::kProved;
    differ =
        verdict.outcome == verify::Outcome::kUnknown && verdict.proof.differ;
    (reversed ? out.backward : out.forward) = proved;
    if (proved || !out.why.empty()) continue;
    out.why = ReasonOf(verdict);
  }
  if (!out.forward && !out.backward && out.why.empty()) return broken;
  return out;
}

}  // namespace

absl::StatusOr<ProvedWays> Proofs::Prove(const RuleSyntax& rule) {
  const std::string text = ir::PrintRule(rule);
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (auto it = known_.find(text); it != known_.end()) return it->second;
  }
  absl::StatusOr<ProvedWays> proved = ProveAnew(rule);
  absl::MutexLock lock(&mutex_);
  return known_.emplace(text, std::move(proved)).first->second;
}

Proposer::Proposer(const Candidate& candidate, const GeneraliseOptions& options,
                   Proofs& proofs)
    : candidate_(candidate),
      options_(options),
      proofs_(proofs),
      leaves_(Leaves(candidate)),
      instances_(InstancesOf(candidate)),
      generaliser_(candidate, options_) {
  options_.worthwhile = [this](const RuleSyntax& seen) {
    not_provable_ = NotProvable(seen, leaves_);
    return not_provable_.empty();
  };
}

absl::StatusOr<Claim> Proposer::Seen() {
  // At any sizes that are given, what another candidate says by sizes gives
  // this one; it is about shapes that are none of those.
  if (!instances_.empty() && !candidate_.said_by_sizes) {
    return Claim(instances_, candidate_.rule().both_ways);
  }
  const RuleSyntax seen = SeenRule();
  auto rule = ir::Rule::Create(seen);
  if (!rule.ok()) rule = ir::Rule::Create(seen, /*reversed=*/true);
  RETURN_IF_ERROR(rule.status());
  return Claim(*std::move(rule), seen.both_ways);
}

RuleSyntax Proposer::SeenRule() {
  RuleSyntax rule = candidate_.rule();
  if (!candidate_.said_by_sizes && NamesSizes(rule, leaves_)) {
    auto named = generaliser_.Named();
    if (named.ok()) return *std::move(named);
  }
  return AtRanks(std::move(rule), leaves_);
}

absl::StatusOr<std::optional<std::string>> Proposer::ProveWays(
    RuleSyntax& rule) {
  if (NamesSizes(rule, leaves_)) return "it is about the sizes that were seen";
  rule.name = NameOf(rule);
  ASSIGN_OR_RETURN(ProvedWays proved, proofs_.Prove(rule));
  if (!proved.forward && !proved.backward) return std::move(proved.why);
  if (!proved.forward) std::swap(rule.source, rule.target);
  rule.both_ways = proved.forward && proved.backward;
  return std::nullopt;
}

absl::StatusOr<Proposal> Proposer::Propose() {
  Proposal out;
  for (const ir::RuleInstance& at : instances_) {
    auto failure = FindFailureAt(at, options_.seed);
    if (!failure) continue;
    out.why = absl::StrCat("fails: ", *failure);
    return out;
  }
  std::string before;
  for (const bool attributes : {true, false}) {
    auto rule = generaliser_.Run(attributes);
    out.unproved = absl::IsAborted(rule.status());
    if (out.unproved) {
      out.why = not_provable_.empty() ? std::string(rule.status().message())
                                      : not_provable_;
      return out;
    }
    if (!rule.ok()) {
      out.why = absl::StrCat("fails: ", rule.status().message());
      return out;
    }
    SiblingsFirst(*rule);
    const std::string text = ir::PrintRule(*rule);
    if (text == before) continue;
    before = text;
    ASSIGN_OR_RETURN(std::optional<std::string> reason, ProveWays(*rule));
    if (!reason) {
      out.rule = *std::move(rule);
      return out;
    }
    if (out.why.empty()) out.why = *std::move(reason);
  }
  if (!candidate_.said_by_sizes) {
    ASSIGN_OR_RETURN(RuleSyntax seen, generaliser_.Named());
    seen = Renamed(std::move(seen));
    ASSIGN_OR_RETURN(std::optional<std::string> still, ProveWays(seen));
    if (!still) {
      out.rule = std::move(seen);
      return out;
    }
  }
  out.unproved = true;
  return out;
}

std::string NameOf(const RuleSyntax& rule) {
  constexpr size_t kMostOperators = 3;
  RuleSyntax bare = rule;
  bare.name.clear();
  bare.comments.clear();
  std::vector<std::string> parts;
  for (const ir::ExprSyntax* call : Calls(bare)) {
    if (parts.size() == kMostOperators) break;
    if (!absl::c_linear_search(parts, call->name)) parts.push_back(call->name);
  }
  const uint64_t hash = ir::HashText(ir::PrintRule(bare));
  return absl::StrFormat("%s_%06x", absl::StrJoin(parts, "_"), hash & 0xffffff);
}

}  // namespace isomer::gen

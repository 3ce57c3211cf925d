// A candidate is looked at where it was seen, with the ranks of its leaves
// fixed; a rule, once kept, at all ranks.
#include "xfer_gen/minimise.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "graph/hashing.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "verify/refuter.h"
#include "xfer_gen/derive_theory.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/generalise_sites.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

double Since(absl::Time start) {
  return absl::ToDoubleSeconds(absl::Now() - start);
}

// The rule at the ranks of the candidate's leaves.
RuleSyntax WhereSeen(const Candidate& candidate) {
  RuleSyntax rule = candidate.rule;
  for (const CandidateLeaf& leaf : candidate.leaves) {
    ir::ConditionSyntax c;
    c.left.kind = ir::ValueSyntax::Kind::kRank;
    c.left.name = leaf.name;
    c.right.integer = leaf.type.rank();
    rule.where.push_back(std::move(c));
  }
  return rule;
}

std::map<std::string, int> OperatorsOf(const ir::RuleSide& side) {
  std::map<std::string, int> out;
  for (const ir::RuleNode& n : side.nodes) {
    if (n.op != nullptr) ++out[n.op->name];
  }
  return out;
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

// Makes the siblings of a merge its source, as a fold wants them.
void SiblingsFirst(RuleSyntax& rule) {
  if (!rule.both_ways || Folds(rule)) return;
  RuleSyntax turned = rule;
  std::swap(turned.source, turned.target);
  if (Folds(turned)) rule = std::move(turned);
}

// True if an output of the side is used by another one of its outputs.
bool Nested(const ir::RuleSide& side) {
  std::set<int> used;
  for (const ir::RuleNode& n : side.nodes) {
    for (ir::RuleOperand o : n.inputs) used.insert(o.node);
  }
  return absl::c_any_of(side.outputs, [&](ir::RuleOperand o) {
    return side.outputs.size() > 1 && used.contains(o.node);
  });
}

class Minimiser {
 public:
  explicit Minimiser(const MinimiseOptions& options) : options_(options) {}

  absl::StatusOr<Minimised> Run(absl::Span<const Candidate> candidates);

 private:
  struct Kept {
    RuleSyntax rule;
    int number = 0;  // in the theory
    bool dropped = false;
  };

  std::optional<std::string> Given(const ir::Rule& rule, bool both_ways) const;
  absl::Status Take(const Candidate& candidate);
  void DropWhatLaterRulesGive();
  ir::RuleFileSyntax File() const;

  const MinimiseOptions& options_;
  Theory theory_;
  std::vector<Kept> kept_;
  Minimised out_;
};

// How the rules so far give a rule, if they do: in every direction in which it
// is worth having.
std::optional<std::string> Minimiser::Given(const ir::Rule& rule,
                                            bool both_ways) const {
  const auto source = OperatorsOf(rule.source());
  const auto target = OperatorsOf(rule.target());
  DeriveLimits limits = options_.limits;
  // A rule that also hands out what it uses inside is a merge and a slice in
  // one; it is kept only if it says something new.
  const bool nested = Nested(rule.source()) || Nested(rule.target());
  limits.forward = !nested && !MoreThan(target, source);
  limits.backward = !nested && both_ways && !MoreThan(source, target);
  const auto d = DeriveRule(rule, theory_, limits);
  if (!d) return std::nullopt;
  if (d->steps() == 0) return "both sides are the same";
  return absl::StrCat(d->whole ? "instance of " : "derived by ",
                      absl::StrJoin(StepNames(*d, theory_), ", "));
}

// Whether some sizes and values break a rule in a direction it has.
bool Refuted(const RuleSyntax& rule) {
  for (bool reversed : {false, true}) {
    if (reversed && !rule.both_ways) continue;
    auto checked = ir::Rule::Create(rule, reversed);
    if (checked.ok() && verify::Refute(*checked, {}).found) return true;
  }
  return false;
}

absl::Status Minimiser::Take(const Candidate& candidate) {
  RuleSyntax seen = WhereSeen(candidate);
  auto checked = ir::Rule::Create(seen);
  if (!checked.ok()) checked = ir::Rule::Create(seen, /*reversed=*/true);
  auto drop = [&](std::string why) {
    out_.dropped.push_back({ir::PrintRule(candidate.rule), std::move(why)});
    return absl::OkStatus();
  };
  if (!checked.ok()) {
    return drop(absl::StrCat("ill-formed: ", checked.status().message()));
  }
  if (auto why = Given(*checked, candidate.rule.both_ways)) {
    return drop(*std::move(why));
  }
  const absl::Time start = absl::Now();
  auto rule = Generalise(candidate, options_.generalise);
  out_.generalise_s += Since(start);
  if (!rule.ok()) {
    return drop(absl::StrCat("fails: ", rule.status().message()));
  }
  // What is more general is tried harder; where it breaks, the rule is kept as
  // it was seen.
  if (Refuted(*rule)) {
    if (Refuted(seen)) return drop("refuted at other sizes");
    *rule = seen;
  }
  ++out_.generalised;
  SiblingsFirst(*rule);
  rule->name = NameOf(*rule);
  if (!options_.origin.empty()) {
    rule->comments = {absl::StrCat("From ", options_.origin, ": ",
                                   candidate.source_steps, " steps and ",
                                   candidate.target_steps, ".")};
  }
  const int number = theory_.rules();
  RETURN_IF_ERROR(theory_.Add(*rule));
  kept_.push_back({*std::move(rule), number});
  return absl::OkStatus();
}

// Larger rules go first, so that what is left is what is easy to read.
void Minimiser::DropWhatLaterRulesGive() {
  for (auto k = kept_.rbegin(); k != kept_.rend(); ++k) {
    const auto equation =
        absl::c_find_if(theory_.equations(),
                        [&](const Equation& e) { return e.of == k->number; });
    theory_.Enable(k->number, false);
    if (auto why = Given(equation->rule, k->rule.both_ways)) {
      k->dropped = true;
      out_.dropped.push_back({ir::PrintRule(k->rule), *std::move(why)});
    } else {
      theory_.Enable(k->number, true);
    }
  }
}

ir::RuleFileSyntax Minimiser::File() const {
  std::map<std::string, const RuleSyntax*> by_name;
  for (const Kept& k : kept_) {
    if (!k.dropped) by_name.emplace(k.rule.name, &k.rule);
  }
  ir::RuleFileSyntax file;
  for (const auto& [name, rule] : by_name) {
    file.items.push_back(*rule);
    if (Folds(*rule)) {
      ir::FoldSyntax fold;
      fold.name = name;
      file.items.push_back(std::move(fold));
    }
  }
  return file;
}

absl::StatusOr<Minimised> Minimiser::Run(
    absl::Span<const Candidate> candidates) {
  const absl::Time start = absl::Now();
  for (const RuleSyntax& rule : options_.known) {
    RETURN_IF_ERROR(theory_.Add(rule));
  }
  // Of rules of one size, those with more variables say more.
  std::vector<const Candidate*> order;
  for (const Candidate& c : candidates) order.push_back(&c);
  absl::c_stable_sort(order, [](const Candidate* a, const Candidate* b) {
    const int x = a->source_steps + a->target_steps;
    const int y = b->source_steps + b->target_steps;
    return x != y ? x < y : a->leaves.size() > b->leaves.size();
  });
  const auto total = static_cast<int64_t>(order.size());
  for (int64_t i = 0; i < total && !out_.stopped; ++i) {
    RETURN_IF_ERROR(Take(*order[i]));
    out_.stopped = options_.progress && !options_.progress(i + 1, total);
  }
  DropWhatLaterRulesGive();
  out_.file = File();
  out_.minimise_s = Since(start) - out_.generalise_s;
  return std::move(out_);
}

}  // namespace

absl::StatusOr<Minimised> Minimise(absl::Span<const Candidate> candidates,
                                   const MinimiseOptions& options) {
  return Minimiser(options).Run(candidates);
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

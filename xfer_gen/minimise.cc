// A candidate is looked at where it was seen, with the ranks of its leaves
// fixed; a rule, once kept, at all ranks.
#include "xfer_gen/minimise.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "graph/hashing.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "verify/verify.h"
#include "xfer_gen/derive_theory.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/generalise_sites.h"
#include "xfer_gen/generalise_sizes.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

// Candidates that are looked at side by side.
constexpr size_t kBatch = 32;

// Steps of proofs are counted and not timed, so that the same rules are proved
// anywhere.
verify::VerifyOptions ProofOptions(int64_t steps) {
  verify::VerifyOptions options;
  options.prove.time = absl::InfiniteDuration();
  options.prove.steps = steps;
  return options;
}
constexpr int64_t kProofSteps = 3'000, kQuickSteps = 1'000;

double Since(absl::Time start) {
  return absl::ToDoubleSeconds(absl::Now() - start);
}

// The rule at the ranks of the candidate's leaves.
RuleSyntax WhereSeen(const Candidate& candidate) {
  RuleSyntax rule = candidate.rule();
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

// The calls of an expression with every `let` written out.
int64_t TreeSize(const ir::ExprSyntax& e,
                 const std::map<std::string, int64_t>& lets) {
  if (e.kind == ir::ExprSyntax::Kind::kVariable) {
    const auto it = lets.find(e.name);
    return it == lets.end() ? 0 : it->second;
  }
  int64_t size = e.kind == ir::ExprSyntax::Kind::kCall ? 1 : 0;
  for (const ir::ExprSyntax& a : e.args) size += TreeSize(a, lets);
  return size;
}

int64_t TreeSize(const ir::SideSyntax& side) {
  std::map<std::string, int64_t> lets;
  for (const ir::BinderSyntax& b : side.binders) {
    if (!b.choose) lets[b.name] = TreeSize(b.value, lets);
  }
  int64_t size = 0;
  for (const ir::ExprSyntax& e : side.outputs) size += TreeSize(e, lets);
  return size;
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

SeenTensors Leaves(const Candidate& candidate) {
  SeenTensors out;
  for (const CandidateLeaf& leaf : candidate.leaves) {
    out.push_back({leaf.name, leaf.type});
  }
  return out;
}

// Why a rule at the ranks and sizes that were seen cannot be proved, or "": at
// more of them it will not be either. One that takes sizes for numbers may be
// about something else once those are variables.
std::string NotProvable(const RuleSyntax& seen, const SeenTensors& leaves) {
  if (NamesSizes(seen, leaves)) return "";
  const auto rule = ir::Rule::Create(seen);
  if (!rule.ok()) return "";
  const verify::Verdict quick =
      verify::Verify(*rule, ProofOptions(kQuickSteps));
  if (quick.outcome != verify::Outcome::kUnknown) return "";
  return absl::StrCat("unknown: ", quick.reason);
}

// What becomes of a candidate whatever the other rules are.
struct Proposal {
  std::optional<RuleSyntax> rule;  // proved, in the directions that it has
  std::string why;                 // there is none
  bool unproved = false;           // as far as anybody knows it is true
};

// Reduces a rule to the directions in which it is proved; the reason if there
// is none.
absl::StatusOr<std::optional<std::string>> ProveWays(
    RuleSyntax& rule, const Candidate& candidate) {
  if (NamesSizes(rule, Leaves(candidate)))
    return "it is about the sizes that were seen";
  rule.name = NameOf(rule);
  absl::Status broken = absl::OkStatus();
  std::optional<std::string> why;
  bool proved[2] = {false, false};
  for (int way = 0; way <= rule.both_ways; ++way) {
    const auto made = ir::Rule::Create(rule, /*reversed=*/way == 1);
    if (!made.ok()) {
      if (way == 0) broken = made.status();
      continue;
    }
    const verify::Verdict verdict =
        verify::Verify(*made, ProofOptions(kProofSteps));
    proved[way] = verdict.outcome == verify::Outcome::kProved;
    if (proved[way] || why) continue;
    why = absl::StrCat(verify::OutcomeName(verdict.outcome), ": ",
                       verdict.counterexample ? "false at some sizes or values"
                                              : verdict.reason);
  }
  if (!proved[0] && !proved[1]) {
    if (!why) return broken;
    return why;
  }
  if (!proved[0]) std::swap(rule.source, rule.target);
  rule.both_ways = proved[0] && proved[1];
  return std::nullopt;
}

// What is more general is harder to prove: where that fails, attributes stay
// as they were seen, and then ranks too.
absl::StatusOr<Proposal> Propose(const Candidate& candidate,
                                 GeneraliseOptions options) {
  Proposal out;
  std::string before;
  for (const bool attributes : {true, false}) {
    options.attributes = attributes;
    options.worthwhile = [&](const RuleSyntax& seen) {
      if (attributes) out.why = NotProvable(seen, Leaves(candidate));
      return !attributes || out.why.empty();
    };
    auto rule = Generalise(candidate, options);
    out.unproved = absl::IsAborted(rule.status());
    if (out.unproved) return out;
    if (!rule.ok()) {
      out.why = absl::StrCat("fails: ", rule.status().message());
      return out;
    }
    SiblingsFirst(*rule);
    const std::string text = ir::PrintRule(*rule);
    if (text == before) continue;
    before = text;
    ASSIGN_OR_RETURN(std::optional<std::string> reason,
                     ProveWays(*rule, candidate));
    if (!reason) {
      out.rule = *std::move(rule);
      return out;
    }
    if (out.why.empty()) out.why = *std::move(reason);
  }
  if (!candidate.said_by_sizes) {
    RuleSyntax seen = WhereSeen(candidate);
    ASSIGN_OR_RETURN(std::optional<std::string> still,
                     ProveWays(seen, candidate));
    if (!still) {
      out.rule = std::move(seen);
      return out;
    }
  }
  out.unproved = true;
  return out;
}

// Runs a task for every number below `n` on some threads.
void InParallel(int threads, size_t n, absl::FunctionRef<void(size_t)> task) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < n; i = next++) task(i);
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
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

  // What is known of a candidate before it is taken.
  struct Looked {
    const Candidate* candidate = nullptr;
    std::optional<ir::Rule> rule;    // where it was seen
    std::optional<std::string> why;  // it is left out
    int rules = 0;                   // that there were
    std::optional<absl::StatusOr<Proposal>> proposal;
  };

  std::optional<std::string> Given(const ir::Rule& rule, bool both_ways) const;
  Looked Look(const Candidate& candidate) const;
  void LookAgain(Looked& looked) const;
  absl::Status TakeBatch(absl::Span<const Candidate* const> batch);
  void ProposeSome(absl::Span<Looked> batch);
  absl::Status Take(Looked looked);
  absl::Status Keep(RuleSyntax rule, const Candidate& candidate);
  const Equation& EquationOf(int number) const;
  void DropWhatLaterRulesGive();
  ir::RuleFileSyntax File() const;

  const MinimiseOptions& options_;
  Theory theory_;
  std::vector<Kept> kept_;
  int64_t done_ = 0, total_ = 0;  // candidates
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

Minimiser::Looked Minimiser::Look(const Candidate& candidate) const {
  Looked out;
  out.candidate = &candidate;
  out.rules = theory_.rules();
  const RuleSyntax seen = WhereSeen(candidate);
  auto checked = ir::Rule::Create(seen);
  if (!checked.ok()) checked = ir::Rule::Create(seen, /*reversed=*/true);
  if (!checked.ok()) {
    out.why = absl::StrCat("ill-formed: ", checked.status().message());
    return out;
  }
  out.why = Given(*checked, seen.both_ways);
  out.rule = *std::move(checked);
  return out;
}

// Looks at what was left once more if rules have come since.
void Minimiser::LookAgain(Looked& looked) const {
  if (looked.why || looked.rules == theory_.rules()) return;
  looked.why = Given(*looked.rule, looked.candidate->rule().both_ways);
  looked.rules = theory_.rules();
}

// Candidates are looked at side by side with the rules at the start of the
// batch; those that are left are taken one after the other.
absl::Status Minimiser::TakeBatch(absl::Span<const Candidate* const> batch) {
  std::vector<Looked> looked(batch.size());
  InParallel(options_.threads, batch.size(),
             [&](size_t i) { looked[i] = Look(*batch[i]); });
  for (size_t i = 0; i < batch.size() && !out_.stopped; ++i) {
    if (!looked[i].why && !looked[i].proposal) {
      ProposeSome(absl::MakeSpan(looked).subspan(i));
    }
    RETURN_IF_ERROR(Take(std::move(looked[i])));
    out_.stopped = options_.progress && !options_.progress(++done_, total_);
  }
  return absl::OkStatus();
}

// Generalises and proves, side by side, as many of the next candidates that are
// left as there are threads. The rule of an earlier one may yet give a later
// one, whose proposal is then for nothing.
void Minimiser::ProposeSome(absl::Span<Looked> batch) {
  const absl::Time start = absl::Now();
  std::vector<Looked*> some;
  for (Looked& looked : batch) {
    if (static_cast<int>(some.size()) == options_.threads) break;
    if (!looked.why) some.push_back(&looked);
  }
  InParallel(options_.threads, some.size(), [&](size_t i) {
    LookAgain(*some[i]);
    if (some[i]->why) return;
    some[i]->proposal = Propose(*some[i]->candidate, options_.generalise);
  });
  out_.generalise_s += Since(start);
}

absl::Status Minimiser::Take(Looked looked) {
  LookAgain(looked);
  auto drop = [&](std::string why) {
    out_.dropped.push_back({looked.candidate->text, std::move(why)});
    return absl::OkStatus();
  };
  if (looked.why) return drop(*std::move(looked.why));
  ASSIGN_OR_RETURN(Proposal proposal, *std::move(looked.proposal));
  if (proposal.rule) {
    return Keep(*std::move(proposal.rule), *looked.candidate);
  }
  out_.unproved += proposal.unproved;
  return drop(std::move(proposal.why));
}

absl::Status Minimiser::Keep(RuleSyntax rule, const Candidate& candidate) {
  const int number = theory_.rules();
  RETURN_IF_ERROR(theory_.Add(rule));
  if (!candidate.origin.empty()) {
    rule.comments = {absl::StrCat("From ", candidate.origin, ": ",
                                  candidate.source_steps, " steps and ",
                                  candidate.target_steps, ".")};
  }
  kept_.push_back({std::move(rule), number});
  ++out_.generalised;
  return absl::OkStatus();
}

const Equation& Minimiser::EquationOf(int number) const {
  return *absl::c_find_if(theory_.equations(),
                          [&](const Equation& e) { return e.of == number; });
}

// Larger rules go first, so that what is left is what is easy to read.
void Minimiser::DropWhatLaterRulesGive() {
  for (auto k = kept_.rbegin(); k != kept_.rend(); ++k) {
    const Equation& equation = EquationOf(k->number);
    theory_.Enable(k->number, false);
    if (auto why = Given(equation.rule, k->rule.both_ways)) {
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
  // Of rules of one size, those with more variables say more. A value that is
  // used twice counts twice: x + x is an instance of x + y, not smaller.
  struct Sized {
    const Candidate* candidate;
    int64_t size;
  };
  std::vector<Sized> order;
  for (const Candidate& c : candidates) {
    const RuleSyntax rule = c.rule();
    order.push_back({&c, TreeSize(rule.source) + TreeSize(rule.target)});
  }
  absl::c_stable_sort(order, [](const Sized& a, const Sized& b) {
    return a.size != b.size
               ? a.size < b.size
               : a.candidate->leaves.size() > b.candidate->leaves.size();
  });
  total_ = static_cast<int64_t>(order.size());
  for (size_t i = 0; i < order.size() && !out_.stopped;) {
    std::vector<const Candidate*> batch;
    for (; i < order.size() && batch.size() < kBatch; ++i) {
      batch.push_back(order[i].candidate);
    }
    RETURN_IF_ERROR(TakeBatch(batch));
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

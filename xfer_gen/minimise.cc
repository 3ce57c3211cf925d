// A candidate is looked at where it was seen, with the ranks of its leaves
// fixed; a rule, once kept, at all ranks.
#include "xfer_gen/minimise.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "xfer_gen/derive_theory.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/in_parallel.h"
#include "xfer_gen/propose.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

// Candidates that are looked at side by side.
constexpr size_t kBatch = 32;

double Since(absl::Time start) {
  return absl::ToDoubleSeconds(absl::Now() - start);
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

  // What is known of a candidate before it is taken.
  struct Looked {
    const Candidate* candidate = nullptr;
    std::unique_ptr<Proposer> proposer;
    std::optional<ir::Rule> rule;  // where it was seen
    bool both_ways = false;
    std::optional<std::string> why;  // it is left out
    int rules = 0;                   // that there were
    std::optional<absl::StatusOr<Proposal>> proposal;
  };

  std::optional<std::string> Given(const ir::Rule& rule, bool both_ways,
                                   DeriveLimits limits) const;
  Looked Look(const Candidate& candidate);
  void LookAgain(Looked& looked) const;
  absl::Status TakeBatch(absl::Span<const Candidate* const> batch);
  void ProposeAhead(Looked& looked);
  absl::Status Take(Looked looked);
  absl::Status Keep(RuleSyntax rule, const Candidate& candidate);
  const Equation& EquationOf(int number) const;
  void DropWhatLaterRulesGive();
  ir::RuleFileSyntax File() const;

  const MinimiseOptions& options_;
  Proofs proofs_;
  Theory theory_;
  // Held by whoever changes the theory, or looks at it ahead of that.
  absl::Mutex mutex_;
  std::vector<Kept> kept_;
  int64_t done_ = 0, total_ = 0;  // candidates
  Minimised out_;
};

// How the rules so far give a rule, if they do: in every direction in which it
// is worth having.
std::optional<std::string> Minimiser::Given(const ir::Rule& rule,
                                            bool both_ways,
                                            DeriveLimits limits) const {
  const auto source = OperatorsOf(rule.source());
  const auto target = OperatorsOf(rule.target());
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

Minimiser::Looked Minimiser::Look(const Candidate& candidate) {
  Looked out;
  out.candidate = &candidate;
  out.rules = theory_.rules();
  out.proposer =
      std::make_unique<Proposer>(candidate, options_.generalise, proofs_);
  const RuleSyntax seen = out.proposer->Seen();
  auto checked = ir::Rule::Create(seen);
  if (!checked.ok()) checked = ir::Rule::Create(seen, /*reversed=*/true);
  if (!checked.ok()) {
    out.why = absl::StrCat("ill-formed: ", checked.status().message());
    return out;
  }
  out.both_ways = seen.both_ways;
  out.why = Given(*checked, seen.both_ways, options_.limits);
  out.rule = *std::move(checked);
  return out;
}

// Looks once more if rules have come since, not as far as the first time: what
// it misses is dropped in the end.
void Minimiser::LookAgain(Looked& looked) const {
  constexpr int kGraphs = 300;
  if (looked.rules == theory_.rules()) return;
  DeriveLimits limits = options_.limits;
  limits.graphs = std::min(limits.graphs, kGraphs);
  looked.why = Given(*looked.rule, looked.both_ways, limits);
  looked.rules = theory_.rules();
}

// Candidates are looked at side by side with the rules at the start of the
// batch; those that are left are taken one after the other, while others are
// generalised and proved ahead of that.
absl::Status Minimiser::TakeBatch(absl::Span<const Candidate* const> batch) {
  std::vector<Looked> looked(batch.size());
  InParallel(options_.threads, batch.size(),
             [&](size_t i) { looked[i] = Look(*batch[i]); });
  std::vector<Looked*> left;
  for (Looked& l : looked) {
    if (!l.why) left.push_back(&l);
  }
  Ahead ahead(options_.threads, left.size(),
              [&](size_t i) { ProposeAhead(*left[i]); });
  size_t next = 0;
  for (Looked& l : looked) {
    if (next < left.size() && &l == left[next]) {
      const absl::Time start = absl::Now();
      ahead.Await(next++);
      // Now that all before it are taken, what is known of it is settled.
      LookAgain(l);
      if (!l.why && !l.proposal) l.proposal = l.proposer->Propose();
      out_.generalise_s += Since(start);
    }
    RETURN_IF_ERROR(Take(std::move(l)));
    out_.stopped = options_.progress && !options_.progress(++done_, total_);
    if (out_.stopped) break;
  }
  return absl::OkStatus();
}

// A rule of an earlier candidate may yet give this one, and its proposal is
// then for nothing.
void Minimiser::ProposeAhead(Looked& looked) {
  {
    absl::ReaderMutexLock lock(&mutex_);
    LookAgain(looked);
  }
  if (!looked.why) looked.proposal = looked.proposer->Propose();
}

absl::Status Minimiser::Take(Looked looked) {
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
  {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(theory_.Add(rule));
  }
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
    if (auto why = Given(equation.rule, k->rule.both_ways, options_.limits)) {
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

}  // namespace isomer::gen

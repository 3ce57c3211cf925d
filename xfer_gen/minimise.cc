// A candidate is looked at where it was seen; a rule, once kept, at all ranks.
#include "xfer_gen/minimise.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "graph/for_all.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "xfer_gen/claim.h"
#include "xfer_gen/derive_theory.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/in_parallel.h"
#include "xfer_gen/propose.h"

namespace isomer::gen {

namespace {

using ir::RuleSyntax;

// Candidates that are looked at ahead of the one that is taken next: one is
// looked at with the rules that there were so many before it.
constexpr size_t kWindow = 96;
// Graphs of a derivation when a candidate is looked at: more find little more,
// and what they miss is dropped in the end.
constexpr int kLookGraphs = 400;

// Seconds that dropping rules may take once the work was stopped.
constexpr double kOvertime = 4;

double Since(absl::Time start) {
  return absl::ToDoubleSeconds(absl::Now() - start);
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

class Minimiser {
 public:
  explicit Minimiser(const MinimiseOptions& options) : options_(options) {}

  absl::StatusOr<Minimised> Run(absl::Span<const Candidate> candidates);

 private:
  using TheoryPtr = std::shared_ptr<const Theory>;

  struct Kept {
    RuleSyntax rule;
    int number = 0;  // in the theory
    bool dropped = false;
  };

  // What is known of a candidate before it is taken.
  struct Looked {
    std::unique_ptr<Proposer> proposer;
    std::optional<Claim> claim;
    std::optional<std::string> why;  // it is left out
    bool left = false;               // at first
    // The equations that it was asked of, and what was tried with them.
    size_t equations = 0;
    Rewritten rewritten;
    std::optional<absl::StatusOr<Proposal>> proposal;
  };

  std::unique_ptr<Looked> Look(const Candidate& candidate,
                               const Theory& theory);
  void AskWhetherGiven(Looked& looked, const Theory& theory) const;
  void ProposeAhead(Looked& looked);
  absl::Status TakeAll(absl::Span<const Candidate* const> order);
  absl::Status Take(const Candidate& candidate, Looked looked);
  absl::Status Keep(RuleSyntax rule, const Candidate& candidate);
  TheoryPtr Current() const;
  std::optional<Derivation> DerivedWithout(const Kept& kept,
                                           Theory theory) const;
  void DropWhatLaterRulesGive(int64_t candidates);
  ir::RuleFileSyntax File() const;

  const MinimiseOptions& options_;
  Proofs proofs_;
  // Replaced whenever a rule is kept; what others look at stays as it was.
  mutable absl::Mutex mutex_;
  TheoryPtr theory_ ABSL_GUARDED_BY(mutex_) = std::make_shared<Theory>();
  std::vector<Kept> kept_;
  // Seconds of all threads.
  std::atomic<double> proposing_s_ = 0, looking_s_ = 0;
  Minimised out_;
};

std::string TextOf(const Derivation& d, const Theory& theory) {
  if (d.steps() == 0) return "both sides are the same";
  return absl::StrCat(d.whole ? "instance of " : "derived by ",
                      absl::StrJoin(StepNames(d, theory), ", "));
}

// True if no rule that the derivation takes is left out.
bool Enabled(const Derivation& d, const Theory& theory) {
  auto enabled = [&](int e) { return theory.enabled(theory.equations()[e]); };
  return absl::c_all_of(d.from_source, enabled) &&
         absl::c_all_of(d.from_target, enabled);
}

Minimiser::TheoryPtr Minimiser::Current() const {
  absl::MutexLock lock(&mutex_);
  return theory_;
}

std::unique_ptr<Minimiser::Looked> Minimiser::Look(const Candidate& candidate,
                                                   const Theory& theory) {
  auto out = std::make_unique<Looked>();
  out->proposer =
      std::make_unique<Proposer>(candidate, options_.generalise, proofs_);
  auto claim = out->proposer->Seen();
  if (!claim.ok()) {
    out->why = absl::StrCat("ill-formed: ", claim.status().message());
    return out;
  }
  out->claim = *std::move(claim);
  AskWhetherGiven(*out, theory);
  return out;
}

// Asks whether the rules of a theory give a candidate, unless it was asked
// before and none that came since could be used.
void Minimiser::AskWhetherGiven(Looked& looked, const Theory& theory) const {
  const std::vector<Equation>& all = theory.equations();
  const auto usable = [&](const Equation& e) {
    return absl::c_any_of(looked.rewritten, [&](const Traits& graph) {
      return graph.Has(e.needs);
    });
  };
  const bool asked = looked.equations > 0;
  const size_t before = std::exchange(looked.equations, all.size());
  if (asked && std::none_of(all.begin() + static_cast<int64_t>(before),
                            all.end(), usable)) {
    return;
  }
  DeriveLimits limits = options_.limits;
  limits.graphs = std::min(limits.graphs, kLookGraphs);
  looked.rewritten.clear();
  const auto d = looked.claim->DerivedBy(theory, limits, &looked.rewritten);
  looked.why.reset();
  if (d) looked.why = TextOf(*d, theory);
}

// Candidates are taken one after the other. Those that come next are looked at
// with the rules that there were a fixed number of candidates before, and those
// that are left are generalised and proved ahead of their turn.
absl::Status Minimiser::TakeAll(absl::Span<const Candidate* const> order) {
  std::vector<std::unique_ptr<Looked>> looked(order.size());
  // The rules that the next candidates are looked at with, round and round.
  std::vector<TheoryPtr> rules(kWindow, Current());
  auto look = [&](size_t i) -> std::optional<Ahead::Kind> {
    const absl::Time start = absl::Now();
    TheoryPtr theory;
    {
      absl::MutexLock lock(&mutex_);
      theory = rules[i % kWindow];
    }
    looked[i] = Look(*order[i], *theory);
    looked[i]->left = !looked[i]->why;
    looking_s_ += Since(start);
    if (!looked[i]->left) return std::nullopt;
    return looked[i]->claim->Operators();
  };
  Ahead ahead(options_.threads, order.size(), kWindow, look,
              [&](size_t i) { ProposeAhead(*looked[i]); });
  for (size_t i = 0; i < order.size(); ++i) {
    ahead.Await(i);
    {
      absl::MutexLock lock(&mutex_);
      rules[i % kWindow] = theory_;
    }
    RETURN_IF_ERROR(Take(*order[i], std::move(*looked[i])));
    looked[i].reset();
    out_.stopped = options_.progress &&
                   !options_.progress(static_cast<int64_t>(i) + 1,
                                      static_cast<int64_t>(order.size()));
    if (out_.stopped) break;
  }
  return absl::OkStatus();
}

// A rule of an earlier candidate may yet give this one, and its proposal is
// then for nothing.
void Minimiser::ProposeAhead(Looked& looked) {
  const absl::Time start = absl::Now();
  AskWhetherGiven(looked, *Current());
  const absl::Time then = absl::Now();
  if (!looked.why) looked.proposal = looked.proposer->Propose();
  looking_s_ += absl::ToDoubleSeconds(then - start);
  proposing_s_ += Since(then);
}

// Now that all before it are taken, what is known of it is settled.
absl::Status Minimiser::Take(const Candidate& candidate, Looked looked) {
  auto drop = [&](std::string why) {
    out_.dropped.push_back({candidate.text, std::move(why)});
    return absl::OkStatus();
  };
  if (looked.left) {
    AskWhetherGiven(looked, *Current());
    if (!looked.why && !looked.proposal) ProposeAhead(looked);
  }
  if (looked.why) return drop(*std::move(looked.why));
  ASSIGN_OR_RETURN(Proposal proposal, *std::move(looked.proposal));
  if (proposal.rule) return Keep(*std::move(proposal.rule), candidate);
  out_.unproved += proposal.unproved;
  return drop(std::move(proposal.why));
}

absl::Status Minimiser::Keep(RuleSyntax rule, const Candidate& candidate) {
  auto more = std::make_shared<Theory>(*Current());
  const int number = more->rules();
  RETURN_IF_ERROR(more->Add(rule));
  {
    absl::MutexLock lock(&mutex_);
    theory_ = std::move(more);
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

std::optional<Derivation> Minimiser::DerivedWithout(const Kept& kept,
                                                    Theory theory) const {
  theory.Enable(kept.number, false);
  const auto equation = absl::c_find_if(
      theory.equations(), [&](const auto& e) { return e.of == kept.number; });
  return Claim(*equation->rule, kept.rule.both_ways)
      .DerivedBy(theory, options_.limits);
}

// Larger rules go first, so that what is left is what is easy to read. What all
// others do not give stays; what they give is looked at again where that took a
// rule that is gone.
void Minimiser::DropWhatLaterRulesGive(int64_t candidates) {
  absl::Mutex mutex;
  const absl::Time start = absl::Now();
  // What is not looked at stays.
  auto may_go_on = [&] {
    absl::MutexLock lock(&mutex);
    if (!out_.stopped && options_.progress) {
      out_.stopped = !options_.progress(candidates, candidates);
    }
    return !out_.stopped || Since(start) < kOvertime;
  };
  Theory theory = *Current();
  std::vector<std::optional<Derivation>> given(kept_.size());
  ForAll(
      static_cast<int64_t>(kept_.size()),
      [&](int64_t i) {
        if (may_go_on()) given[i] = DerivedWithout(kept_[i], theory);
      },
      options_.threads);
  for (size_t i = kept_.size(); i-- > 0;) {
    if (given[i] && !Enabled(*given[i], theory)) {
      given[i] = may_go_on() ? DerivedWithout(kept_[i], theory) : std::nullopt;
    }
    if (!given[i]) continue;
    theory.Enable(kept_[i].number, false);
    kept_[i].dropped = true;
    out_.dropped.push_back(
        {ir::PrintRule(kept_[i].rule), TextOf(*given[i], theory)});
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

// Of rules of one size, those with more variables say more. A value that is
// used twice counts twice: x + x is an instance of x + y, not smaller.
std::vector<const Candidate*> InOrder(absl::Span<const Candidate> candidates) {
  struct Sized {
    const Candidate* candidate;
    int64_t size;
  };
  std::vector<Sized> sized;
  for (const Candidate& c : candidates) {
    const RuleSyntax rule = c.rule();
    sized.push_back({&c, TreeSize(rule.source) + TreeSize(rule.target)});
  }
  absl::c_stable_sort(sized, [](const Sized& a, const Sized& b) {
    return a.size != b.size
               ? a.size < b.size
               : a.candidate->leaves.size() > b.candidate->leaves.size();
  });
  std::vector<const Candidate*> order;
  for (const Sized& s : sized) order.push_back(s.candidate);
  return order;
}

absl::StatusOr<Minimised> Minimiser::Run(
    absl::Span<const Candidate> candidates) {
  const absl::Time start = absl::Now();
  auto known = std::make_shared<Theory>();
  for (const RuleSyntax& rule : options_.known) {
    RETURN_IF_ERROR(known->Add(rule));
  }
  {
    absl::MutexLock lock(&mutex_);
    theory_ = std::move(known);
  }
  RETURN_IF_ERROR(TakeAll(InOrder(candidates)));
  const double took = Since(start);
  const double busy = proposing_s_ + looking_s_;
  out_.generalise_s = busy > 0 ? took * proposing_s_ / busy : 0;
  DropWhatLaterRulesGive(static_cast<int64_t>(candidates.size()));
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

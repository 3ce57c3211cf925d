// Threads take rules by number; the main thread hands results on in order.
#include "tools/verify_rules.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tools/smt_process.h"
#include "verify/audit.h"
#include "verify/infer_conditions.h"
#include "verify/trust.h"

namespace isomer::cli {

namespace {

using verify::Outcome;

// How long it may take to find out whether a rule follows from axioms.
constexpr absl::Duration kAxiomTime = absl::Seconds(5);

// Says under which conditions a refuted rule is proved.
void AddCondition(const ir::RuleSyntax& rule,
                  const verify::VerifyOptions& options, RuleReport& out) {
  const auto with = verify::InferConditions(rule, options);
  if (!with) {
    out.condition = "no condition was found under which it is proved";
    return;
  }
  std::vector<std::string> added;
  for (size_t i = rule.where.size(); i < with->where.size(); ++i) {
    added.push_back(ir::PrintCondition(with->where[i]));
  }
  out.condition = absl::StrCat("proved where ", absl::StrJoin(added, ", "));
}

// Asks the solver again what the proof of a rule settled without it, and
// whether the rule follows from axioms. A proof that it contradicts is none.
void AuditProof(const ir::RuleSyntax& syntax, const verify::AxiomSet& axioms,
                verify::ProveOptions options, RuleReport& out) {
  options.record = true;
  int asked = 0, confirmed = 0;
  out.follows = true;
  for (bool reversed : {false, true}) {
    if (reversed && !syntax.both_ways) continue;
    auto rule = ir::Rule::Create(syntax, reversed);
    if (!rule.ok()) continue;
    const verify::AxiomAnswer answer = verify::AskFromAxioms(
        *rule, axioms, options.solver, absl::Now() + kAxiomTime);
    *out.follows = *out.follows && answer.proved == answer.cases;
    const verify::Audit audit = verify::AuditArithmetic(
        verify::Prove(*rule, options).settled, options.solver);
    asked += audit.asked;
    confirmed += audit.confirmed;
    if (audit.contradicted.empty()) continue;
    out.outcome = Outcome::kUnknown;
    out.reason = absl::StrCat("Z3 contradicts the proof: ", audit.contradicted);
  }
  out.audit = absl::StrCat(
      confirmed, " of ", asked, " confirmed, ",
      *out.follows ? "follows from axioms" : "not known to follow from axioms");
}

// The verdict on one direction becomes part of the rule's.
void Merge(const ir::Rule& rule, verify::Verdict v, RuleReport& out) {
  out.time += v.time;
  out.cases += v.proof.cases;
  out.solver_calls += v.proof.solver_calls;
  out.assignments += v.assignments;
  out.facts.insert(out.facts.end(), v.proof.facts.begin(), v.proof.facts.end());
  std::sort(out.facts.begin(), out.facts.end());
  out.facts.erase(std::unique(out.facts.begin(), out.facts.end()),
                  out.facts.end());
  if (v.outcome == Outcome::kProved || out.outcome == Outcome::kRefuted) {
    return;
  }
  out.outcome = v.outcome;
  out.reason = v.reason;
  if (v.counterexample) {
    out.counterexample = verify::ToText(rule, *v.counterexample);
  }
}

void VerifyDirections(const ir::RuleSyntax& syntax,
                      const verify::VerifyOptions& options, RuleReport& out) {
  std::vector<ir::Rule> directions;
  for (bool reversed : {false, true}) {
    if (reversed && !syntax.both_ways) continue;
    auto rule = ir::Rule::Create(syntax, reversed);
    if (!rule.ok()) {
      out.reason = std::string(rule.status().message());
      return;
    }
    directions.push_back(*std::move(rule));
  }
  out.parametric = !directions[0].attrs().empty();
  out.outcome = Outcome::kProved;
  for (const ir::Rule& rule : directions) {
    Merge(rule, verify::Verify(rule, options), out);
  }
}

class Workers {
 public:
  Workers(const RuleEntries& entries, const VerifyRun& run)
      : entries_(entries), run_(run), results_(entries.rules.size()) {}

  std::vector<RuleReport> Run() {
    const int n = std::max<int>(
        1, std::min<int>(run_.threads, static_cast<int>(results_.size())));
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([this] { Work(); });
    std::vector<RuleReport> out = Collect();
    for (std::thread& t : threads) t.join();
    return out;
  }

 private:
  void Work() {
    SmtProcess process({});
    const verify::SmtSolver solver = [&](const std::string& question) {
      return process.Ask(question);
    };
    while (!stop_) {
      const size_t i = next_++;
      if (i >= results_.size()) return;
      RuleReport report = VerifyEntry(entries_.rules[i], run_, solver);
      std::lock_guard<std::mutex> lock(mutex_);
      results_[i] = std::move(report);
      done_.notify_one();
    }
  }

  // Waits for the results in order; ends early if the run is stopped.
  std::vector<RuleReport> Collect() {
    std::vector<RuleReport> out;
    while (out.size() < results_.size()) {
      std::optional<RuleReport> next;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait_for(lock, std::chrono::milliseconds(100),
                       [&] { return results_[out.size()].has_value(); });
        next.swap(results_[out.size()]);
      }
      if (next) {
        if (run_.report) run_.report(*next);
        out.push_back(*std::move(next));
      }
      if (run_.progress &&
          !run_.progress(static_cast<int64_t>(out.size()),
                         static_cast<int64_t>(results_.size()))) {
        stop_ = true;
        break;
      }
    }
    return out;
  }

  const RuleEntries& entries_;
  const VerifyRun& run_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<RuleReport>> results_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace

RuleReport VerifyEntry(const RuleEntry& entry, const VerifyRun& run,
                       const verify::SmtSolver& solver) {
  RuleReport out;
  out.name = entry.name;
  out.outcome = Outcome::kIllFormed;
  out.reason = entry.ill_formed;
  if (!entry.rule) return out;
  verify::VerifyOptions options;
  options.prove.solver = solver;
  options.prove.time = run.timeout;
  out.hash = verify::RuleHash(*entry.rule, run.operators);
  std::optional<RuleReport> known;
  if (run.cache != nullptr) known = run.cache->Find(out.hash, run.timeout);
  if (known) {
    known->name = entry.name;
    out = *std::move(known);
  } else {
    VerifyDirections(*entry.rule, options, out);
    if (run.cache != nullptr && out.outcome != Outcome::kIllFormed) {
      run.cache->Add(out, run.timeout);
    }
  }
  out.degrees = entry.degrees;
  if (run.audit != nullptr && out.outcome == Outcome::kProved) {
    AuditProof(*entry.rule, *run.audit, options.prove, out);
  }
  if (run.infer_conditions && out.outcome == Outcome::kRefuted) {
    AddCondition(*entry.rule, options, out);
  }
  return out;
}

std::vector<RuleReport> VerifyRules(const RuleEntries& entries,
                                    const VerifyRun& run) {
  return Workers(entries, run).Run();
}

}  // namespace isomer::cli

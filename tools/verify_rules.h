// Verifying many rules at once: threads, a solver process for each, the cache.
#ifndef ISOMER_TOOLS_VERIFY_RULES_H_
#define ISOMER_TOOLS_VERIFY_RULES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "tools/rule_entries.h"
#include "tools/rule_report.h"
#include "tools/verdict_cache.h"
#include "verify/axioms.h"

namespace isomer::cli {

struct VerifyRun {
  absl::Duration timeout = absl::Seconds(10);  // per rule
  int threads = 1;
  uint64_t operators = 0;         // verify::OperatorDigest
  VerdictCache* cache = nullptr;  // null: none
  bool infer_conditions = false;
  // For --audit: ask Z3 again what proofs settled without it, and whether the
  // rules follow from these axioms. Null: no audit.
  const verify::AxiomSet* audit = nullptr;
  // Called in the order of the rules, each as soon as it is its turn.
  std::function<void(const RuleReport&)> report;
  // Called between rules; false stops the run.
  std::function<bool(int64_t done, int64_t total)> progress;
};

// Verifies every rule; if the run is stopped, those that were reached.
std::vector<RuleReport> VerifyRules(const RuleEntries& entries,
                                    const VerifyRun& run);

// Verifies one rule in both of its directions if it has two.
RuleReport VerifyEntry(const RuleEntry& entry, const VerifyRun& run,
                       const verify::SmtSolver& solver);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_VERIFY_RULES_H_

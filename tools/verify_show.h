// One rule in full: how it is proved or refuted.
#ifndef ISOMER_TOOLS_VERIFY_SHOW_H_
#define ISOMER_TOOLS_VERIFY_SHOW_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/rule_entries.h"
#include "tools/verify_rules.h"

namespace isomer::cli {

// Prints the rule called `name` with the verdict on it and the reasons; with
// `replay`, its counterexample run again. Returns the exit code.
absl::StatusOr<int> ShowRule(const RuleEntries& entries,
                             const std::string& name, bool replay,
                             const VerifyRun& run);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_VERIFY_SHOW_H_

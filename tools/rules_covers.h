// isomer rules covers: somebody's rules, looked for in ours.
#ifndef ISOMER_TOOLS_RULES_COVERS_H_
#define ISOMER_TOOLS_RULES_COVERS_H_

#include "absl/status/statusor.h"
#include "tools/args.h"
#include "tools/rule_files.h"

namespace isomer::cli {

// Reports for every rule of `theirs` what the rules of the files named by --by
// make of it. The exit code is 1 if one is missing.
absl::StatusOr<int> CoverRules(const Args& args, const RuleFile& theirs);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_RULES_COVERS_H_

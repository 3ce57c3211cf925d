// Conditions that make a false rule true. Where a rule is wrong at some sizes
// only, a `where` clause can leave those out: two sizes that must be equal, a
// size that must be 1, one that must divide another.
#ifndef ISOMER_VERIFY_INFER_CONDITIONS_H_
#define ISOMER_VERIFY_INFER_CONDITIONS_H_

#include <optional>
#include <vector>

#include "graph/rule_syntax.h"
#include "verify/verify.h"

namespace isomer::verify {

// The rule with the weakest conditions, of those that were tried, under which
// it is proved (both ways, if it is written so); nothing if there are none.
// Weak means that few sizes at which the rule holds are left out.
std::optional<ir::RuleSyntax> InferConditions(const ir::RuleSyntax& rule,
                                              const VerifyOptions& options);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_INFER_CONDITIONS_H_

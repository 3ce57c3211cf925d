// Variants of a rule, each with one thing changed, as a person or a generator
// might get it wrong: operands exchanged, an axis, stride, pad, group or
// constant changed, an operator dropped, a slice off by one, a condition
// removed, outputs exchanged. For tests.
#ifndef ISOMER_VERIFY_MUTATE_H_
#define ISOMER_VERIFY_MUTATE_H_

#include <vector>

#include "graph/rule_syntax.h"

namespace isomer::verify {

// All single changes, without those that print the same; most are wrong, many
// do not check, and some are true.
std::vector<ir::RuleSyntax> Mutants(const ir::RuleSyntax& rule);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_MUTATE_H_

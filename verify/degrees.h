// What a rule of Unity's does to parallel degrees, apart from values. Its four
// parallel operators multiply or divide the degree of a dimension; a rule keeps
// degrees if both sides give each output the same ones. How the others pass
// degrees on is written down nowhere, so only the plain ones are followed:
// operators on equal operands pass theirs on.
#ifndef ISOMER_VERIFY_DEGREES_H_
#define ISOMER_VERIFY_DEGREES_H_

#include <string>

#include "graph/foreign_wire.h"

namespace isomer::verify {

// "kept", "changed: ..." with the first output that differs, or "unknown: ..."
// with the operator that has no rule for what it is given.
std::string JudgeDegrees(const ir::WireRule& rule);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_DEGREES_H_

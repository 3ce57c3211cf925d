// What stands in the way of a normal form: conditions and orders that hold in
// part of the cases only. Proofs split on them.
#ifndef ISOMER_VERIFY_NF_OPEN_H_
#define ISOMER_VERIFY_NF_OPEN_H_

#include <optional>

#include "verify/arithmetic.h"
#include "verify/nf_term.h"

namespace isomer::verify {

// A condition on free symbols alone, somewhere in the sum.
std::optional<Obligation> OpenCondition(const Sum& s, Facts& facts);

// a - b for two values of one maximum, neither of which is known to be the
// greater one; no maximum is inside them.
std::optional<Sum> OpenOrder(const Sum& s);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_OPEN_H_

// Signs of sums, as far as they are easily seen.
#ifndef ISOMER_VERIFY_NF_SIGNS_H_
#define ISOMER_VERIFY_NF_SIGNS_H_

#include "verify/nf_context.h"

namespace isomer::verify {

// True if the sum is shown to be above zero, or to differ from it.
bool IsPositive(const Sum& s, NormalContext& c);
bool IsNonZero(const Sum& s, NormalContext& c);
bool IsPositive(const Leaf& leaf, NormalContext& c);

// True if the function is 1 or 0, so that its square is itself.
bool IsIndicator(const Leaf& leaf);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_SIGNS_H_

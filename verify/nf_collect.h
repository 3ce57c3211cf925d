// Terms of a sum that are alike become one.
#ifndef ISOMER_VERIFY_NF_COLLECT_H_
#define ISOMER_VERIFY_NF_COLLECT_H_

#include "verify/arithmetic.h"
#include "verify/nf_term.h"

namespace isomer::verify {

// Adds up terms of one key, joins neighbouring ranges, and sorts what is left.
Sum Collect(Sum s, Facts& facts);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_COLLECT_H_

// Sums in normal form under facts: factors first, from the inside out, with
// the few facts about scalar functions that proofs may use; then each term's
// structure; then terms that are alike become one.
#ifndef ISOMER_VERIFY_NF_NORMALIZE_H_
#define ISOMER_VERIFY_NF_NORMALIZE_H_

#include "verify/nf_context.h"

namespace isomer::verify {

// An equal sum in normal form.
Sum Normalize(const Sum& s, NormalContext& c);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_NORMALIZE_H_

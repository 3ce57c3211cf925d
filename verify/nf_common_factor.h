// What the terms of sums have in common.
#ifndef ISOMER_VERIFY_NF_COMMON_FACTOR_H_
#define ISOMER_VERIFY_NF_COMMON_FACTOR_H_

#include <vector>

#include "verify/nf_context.h"

namespace isomer::verify {

// What divides every term: a positive number, and factors to a power.
struct CommonFactor {
  Polynomial number = 1;
  std::vector<Power> factors;
};

// What divides all terms of all sums and does not speak of the variables of
// `inner`. `positive_only`: factors that are not known to be above zero stay.
CommonFactor FindCommonFactor(const std::vector<const Sum*>& sums,
                              const std::vector<Bound>& inner,
                              bool positive_only, NormalContext& c);

// The sum divided by what its terms have in common.
Sum Without(const Sum& s, const CommonFactor& common);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_COMMON_FACTOR_H_

// What normalisation knows about the inputs and notes about its work.
#ifndef ISOMER_VERIFY_NF_CONTEXT_H_
#define ISOMER_VERIFY_NF_CONTEXT_H_

#include <set>
#include <string>
#include <vector>

#include "verify/arithmetic.h"
#include "verify/nf_term.h"

namespace isomer::verify {

struct NormalContext {
  Facts& facts;
  Names& names;
  // Tensor variables all of whose elements are above zero.
  std::set<std::string> positive = {};
  // Sums that are known not to be negative, as far as maxima are concerned:
  // the branch of a proof that they belong to.
  std::vector<Sum> ordered = {};
  // Leaves the structure of terms as it is, but for conditions that speak of
  // no bound variable: enough where both sides do the same to their indices,
  // and many times faster.
  bool light = false;
  // The scalar facts that were used.
  std::set<std::string> axioms = {};
};

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_CONTEXT_H_

// Sums in normal form under facts: factors first, from the inside out, with
// the few axioms about scalar functions that proofs may use; then each term's
// structure; then terms that are alike become one.
#ifndef ISOMER_VERIFY_NF_NORMALIZE_H_
#define ISOMER_VERIFY_NF_NORMALIZE_H_

#include <functional>
#include <set>
#include <string>

#include "verify/arithmetic.h"
#include "verify/nf_term.h"

namespace isomer::verify {

// What normalisation knows about the inputs and notes about its work.
struct NormalContext {
  Facts& facts;
  Names& names;
  // Tensor variables all of whose elements are above zero.
  std::set<std::string> positive = {};
  // The axioms that were used.
  std::set<std::string> axioms = {};
};

// An equal sum in normal form.
Sum Normalize(const Sum& s, NormalContext& c);

// A condition that holds in part of the cases, if one stands in the way: on
// free symbols alone, somewhere in the sum. Proofs split on it.
std::optional<Obligation> OpenCondition(const Sum& s, NormalContext& c);

// True if the sum is shown to be above zero, or to differ from it.
bool IsPositive(const Sum& s, NormalContext& c);
bool IsNonZero(const Sum& s, NormalContext& c);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_NORMALIZE_H_

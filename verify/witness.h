// Values that show a rule wrong at an assignment, and what counts as that.
//
// A rule promises equality over the reals wherever everything that its source
// computes is finite. So a witness is a point where the source is finite
// throughout and an output of the target is another number, or no number at
// all. Rounding must not be able to explain the difference: either it is there
// in exact integer arithmetic, or it is large against the magnitudes on the way
// and stays when the inputs move a little.
#ifndef ISOMER_VERIFY_WITNESS_H_
#define ISOMER_VERIFY_WITNESS_H_

#include <optional>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "graph/expand.h"
#include "verify/assignment.h"

namespace isomer::verify {

// What values are drawn for floating-point elements. Integers and booleans are
// small in all of them.
enum class Draw {
  kIntegers,  // -3 to 3
  kSparse,    // 0, sometimes 1 or -1
  kPositive,  // 1 to 4
  kReals,     // odd multiples of 1/8 between -3 and 3
  kWide,      // -12 to 12: beyond the ends of clip and the like
  kField,     // random elements of the field; for Interp::kField
};

// Values for the tensor variables: integers, and doubles or field elements.
// Variables that the rule calls positive are positive.
std::vector<Tensor> DrawValues(const ir::Rule& rule, const Assignment& a,
                               Draw draw, std::mt19937_64& random);

// An output on which the sides differ.
struct Disagreement {
  int output = 0;
  int64_t element = 0;
  Tensor source, target;
};

// Whether the sides agree in the field; an error if one has no value there.
absl::StatusOr<bool> AgreeInField(const ir::Rule& rule, const Assignment& a,
                                  absl::Span<const Tensor> values,
                                  ir::Expansions& expansions);

// The output on which the sides differ at these values (doubles and integers),
// if they are a witness.
std::optional<Disagreement> FindDifference(const ir::Rule& rule,
                                           const Assignment& a,
                                           absl::Span<const Tensor> values,
                                           ir::Expansions& expansions);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_WITNESS_H_

// The legal shardings of an operator, read off its index semantics: which
// dimensions of the operands may be cut over devices so that every device
// computes its part of the result from its parts of the operands alone.
//
// A dimension of the result may be cut if its index reaches the operands only
// as the plain index of a dimension of equal size, the same one at every
// access, and nothing else depends on that index or that size. A summed index
// may be cut under the same condition; the results of the devices are then
// added. Whatever is unclear counts as not legal.
#ifndef ISOMER_OPS_SHARDING_H_
#define ISOMER_OPS_SHARDING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/op_def.h"

namespace isomer {

// Entry `at` of a list attribute, or an integer attribute (then `at` is 0).
struct AttrEntry {
  std::string name;
  int at = 0;
  friend bool operator==(const AttrEntry&, const AttrEntry&) = default;
};

struct Sharding {
  // Per input the dimension that is cut; -1: every device has all of it.
  std::vector<int> input_dims;
  // The dimension of the result that is cut; -1: the results are added.
  int output_dim = -1;
  // Attributes that state the size of the cut dimension (a reshape's shape);
  // on a device they state the size of its part.
  std::vector<AttrEntry> resized = {};

  friend bool operator==(const Sharding&, const Sharding&) = default;
};

// Prints "0,- -> 1" (input 0 cut along 0, input 1 whole, result cut along 1),
// "1,0 -> sum", or with the resized attribute: "0 -> 0 with shape[0]".
std::string ShardingText(const Sharding& s);

// Returns all shardings that the index semantics of one call show to be legal,
// for every degree that divides the sizes it cuts: first those of the result's
// dimensions, then sums. An operator without index semantics has none. An
// error if the call is not well-typed.
absl::StatusOr<std::vector<Sharding>> LegalShardings(
    const OpDef& op, absl::Span<const SymType> inputs, const SymAttrs& attrs);
absl::StatusOr<std::vector<Sharding>> LegalShardings(
    const OpDef& op, absl::Span<const TensorType> inputs, const Attrs& attrs);

}  // namespace isomer

#endif  // ISOMER_OPS_SHARDING_H_

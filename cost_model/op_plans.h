// What each operator may be in a kernel: its class, which decides where a
// family of kernels takes it in, and the family of the kernel that it is the
// core of. This is a table; the planner knows no operator.
#ifndef ISOMER_COST_MODEL_OP_PLANS_H_
#define ISOMER_COST_MODEL_OP_PLANS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::cost {

// How an operator takes part in kernels. All but a core may be taken into a
// kernel around another operator's core, or into one without any.
enum class OpClass : uint8_t {
  kPointwise,  // a function of the elements at one place
  kCast,       // the same, so cheap that it is done again for each reader
  kReshape,    // the same elements in the same order
  kTranspose,  // dimensions in another order
  kSlice,      // a part, at regular steps
  kBroadcast,  // elements repeated along new dimensions
  kIndex,      // elements of an operand picked by place: pad, tile, gather
  kConcat,     // operands one after the other
  kGenerate,   // made from attributes alone
  kCore,       // has kernels of its own: a product, a reduction
};
inline constexpr int kNumOpClasses = 10;

// Kernels that are built and timed alike.
enum class Family : uint8_t {
  kPointwise,
  kCopy,  // moves elements and computes nothing
  kMatmul,
  kConv,
  kReduce,
  kNorm,
  kSoftmax,
  kAttention,
  kPool,
  kScatter,
  kSort,
  kCollective,
  kOther,  // what nothing is known of, opaque nodes among them
};
inline constexpr int kNumFamilies = 13;

absl::string_view OpClassName(OpClass c);
absl::string_view FamilyName(Family f);
// Errors list the names there are.
absl::StatusOr<OpClass> ParseOpClass(absl::string_view name);
absl::StatusOr<Family> ParseFamily(absl::string_view name);

// A set of classes.
struct OpClasses {
  uint32_t bits = 0;

  void Add(OpClass c) { bits |= 1u << static_cast<int>(c); }
  bool Has(OpClass c) const { return bits >> static_cast<int>(c) & 1; }
  bool empty() const { return bits == 0; }
};

struct OpPlan {
  OpClass op_class = OpClass::kCore;
  Family family = Family::kOther;  // of a kernel whose core it is
  // It is a slice if its second operand is one constant index.
  bool slice_at_constant = false;
};

// The entry of an operator, or nothing.
std::optional<OpPlan> FindOpPlan(absl::string_view op);

// The entry of an operator; one that has none is a core of family `other`,
// which nothing is fused with.
OpPlan OpPlanOf(absl::string_view op);

// True for classes that need no arithmetic worth mentioning: such a node is
// computed again in every kernel that reads it rather than stored.
bool IsRecomputed(OpClass c);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_OP_PLANS_H_

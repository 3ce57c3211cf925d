// One kernel that computes some nodes of a region: whether the target's engine
// has such a kernel, what it reads and writes, and its name in a profile.
#ifndef ISOMER_COST_MODEL_FUSED_H_
#define ISOMER_COST_MODEL_FUSED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost_model/region.h"
#include "cost_model/target.h"

namespace isomer::cost {

// Which nodes: `members` ascending, of which the last is the result and
// `stored` (ascending, the result included) are written to memory.
struct Fused {
  std::vector<int> members;
  std::vector<int> stored;
  friend bool operator==(const Fused&, const Fused&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Fused& f) {
    return H::combine(std::move(h), f.members, f.stored);
  }
};

// A kernel as the roofline sees it.
struct KernelShape {
  Family family = Family::kOther;
  const RegionNode* core = nullptr;
  std::vector<const TensorType*> core_inputs = {};
  // Bytes moved, apart for each tensor: small ones stay in the cache.
  struct Move {
    int64_t bytes = 0;
    bool constant = false;
  };
  std::vector<Move> moves = {};
  double flops = 0;      // beside those of a product or convolution
  bool launches = true;  // false for a view, or what is all in place
};

// The shape of the kernel, or nothing if the engine has no such kernel.
std::optional<KernelShape> ShapeOf(const Target& target,
                                   const RegionProblem& region,
                                   const Fused& fused);

// What a profile calls the kernel: the expression that it computes, over
// operands a, b, ..., and their types. Constant operands are marked with '*',
// stored inner values with '!'. Sums and products are the same in any order.
//
//   matmul relu(add(matmul(a,b),broadcast(c,shape=[1 4],dims=[1])))
//     a:f16[1,3] b:f16[3,4]* c:f16[4]*
std::string SignatureOf(const RegionProblem& region, Family family,
                        const Fused& fused);

// What a kernel reads: leaves and nodes of the region, in the order in which
// the members ask for them.
std::vector<RegionInput> ReadsOf(const RegionProblem& region,
                                 const Fused& fused);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_FUSED_H_

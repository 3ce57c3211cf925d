// Covering a region with kernels, as cheaply as possible.
//
// Every node of a region is either stored or computed within the kernels that
// read it. A kernel ends in a stored node, its result, and reaches down to what
// is stored. A node that is not recomputed is in one kernel; that kernel stores
// it too if others read it, provided that all those others come after the
// kernel's result anyway (RegionNode::hosts). So wherever one kernel waits for
// another, the result of the first is an ancestor of the result of the second,
// and kernels never wait for each other in a circle.
#ifndef ISOMER_COST_MODEL_COVER_H_
#define ISOMER_COST_MODEL_COVER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost_model/fused.h"
#include "cost_model/profile.h"
#include "cost_model/region.h"
#include "cost_model/target.h"

namespace isomer::cost {

struct CoverKernel {
  Fused fused;
  Family family = Family::kOther;
  std::string signature;  // "" for what does not launch
  std::vector<RegionInput> reads;
  double core_flops = 0;    // of the product, say, that it is about
  int64_t estimate_ps = 0;  // by which covers are compared
  int64_t time_ps = 0;      // measured, or the estimate as scaled
  bool measured = false;
  bool launches = true;
};

struct Cover {
  std::vector<CoverKernel> kernels;  // by their results
  int64_t time_ps = 0;
  int64_t measured_ps = 0;
  int64_t launches = 0;
};

// Regions with at most so many nodes that could be stored or not are covered
// optimally, others well.
inline constexpr int kExactNodes = 12;

// The cheapest cover by estimates, and what it takes as far as that is known.
// Covers are not compared by measured times: what was not measured would win,
// or lose, for that alone, and an engine that plans without a profile runs
// another.
Cover FindCover(const Target& target, const Profile& profile,
                const RegionProblem& region);

// The kernels that arise if exactly the nodes with stored[i] end kernels of
// their own; nothing if that is not possible.
std::optional<std::vector<Fused>> KernelsOf(const RegionProblem& region,
                                            const std::vector<char>& results);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_COVER_H_

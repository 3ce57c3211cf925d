// The time of a kernel from the figures of a target: the launch, what the
// family takes in any case, and the longer of moving the data and computing.
#ifndef ISOMER_COST_MODEL_ROOFLINE_H_
#define ISOMER_COST_MODEL_ROOFLINE_H_

#include <cstdint>

#include "cost_model/fused.h"
#include "cost_model/target.h"

namespace isomer::cost {

// The time in picoseconds; zero for what does not launch.
int64_t RooflinePs(const Target& target, const KernelShape& kernel);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_ROOFLINE_H_

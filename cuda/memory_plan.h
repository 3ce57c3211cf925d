// Where the buffers of a program lie in one arena: those that are never in use
// at one time may share memory.
#ifndef ISOMER_CUDA_MEMORY_PLAN_H_
#define ISOMER_CUDA_MEMORY_PLAN_H_

#include "cuda/program.h"

namespace isomer::cuda {

// Sets the offsets of scratch buffers and the sizes of arena and constants.
void PlanMemory(Program& program);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_MEMORY_PLAN_H_

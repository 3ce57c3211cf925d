// What the asm statements of generated kernels do, by the words of the PTX
// manual: one function for each kind of instruction that they use.
#ifndef ISOMER_CUDA_EMULATOR_INSTRUCTIONS_H_
#define ISOMER_CUDA_EMULATOR_INSTRUCTIONS_H_

#include <array>
#include <cstdint>

#include "cuda/emulator/host.h"
#include "cuda/emulator/machine.h"

namespace isomer::cuda::emulator {

// What a kernel has in place of the map of a matrix: see cuda::TensorMap.
struct EmulatedMap {
  const char* data = nullptr;
  int64_t step_bytes = 0;
  std::array<int64_t, 2> size = {0, 0};
  std::array<int32_t, 2> box = {0, 0};
};

// Does what the statement says for the thread that runs now. `parsed` keeps
// what was read of it.
void RunStatement(const char* text, const void** parsed, IsoOperand* operands);

}  // namespace isomer::cuda::emulator

#endif  // ISOMER_CUDA_EMULATOR_INSTRUCTIONS_H_

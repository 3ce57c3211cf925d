// Noise for what a kernel reads, to see what it computes of it. It is written
// late, by a kernel that lets the next one start early: what does not wait for
// it reads something else.
#ifndef ISOMER_CUDA_NOISE_KERNEL_H_
#define ISOMER_CUDA_NOISE_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cuda/device.h"
#include "cuda/kernel.h"
#include "ops/dtype.h"

namespace isomer::cuda {

// For a device of so many multiprocessors. One block of eight writes, after a
// while; on the multiprocessors of the others the next kernel can start.
KernelSource NoiseKernel(int units);

struct NoisyBuffer {
  DevicePointer at = 0;
  DType dtype = DType::kF32;
  int64_t bytes = 0;
};
// So many at most are filled by one launch.
inline constexpr size_t kNoisyBuffers = 4;
std::vector<DevicePointer> NoiseArguments(
    absl::Span<const NoisyBuffer> buffers);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_NOISE_KERNEL_H_

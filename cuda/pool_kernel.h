// The source of kernels for pooling of 16-bit floats whose channels lie side by
// side: a thread takes eight channels of one window.
#ifndef ISOMER_CUDA_POOL_KERNEL_H_
#define ISOMER_CUDA_POOL_KERNEL_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// The kernel for a call whose core is max_pool or avg_pool over two dimensions;
// nothing if its form is another.
absl::StatusOr<std::optional<KernelSource>> PoolKernel(const ProductCall& call);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_POOL_KERNEL_H_

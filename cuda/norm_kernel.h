// The source of kernels for layer_norm and rms_norm along the last dimension,
// with what is pointwise before and after: a row of 16-bit floats is read once
// and stays in registers.
#ifndef ISOMER_CUDA_NORM_KERNEL_H_
#define ISOMER_CUDA_NORM_KERNEL_H_

#include <optional>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// The kernel for a call whose core is the norm, and whose result has its shape;
// nothing if its form is another.
absl::StatusOr<std::optional<KernelSource>> NormKernel(const ProductCall& call);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_NORM_KERNEL_H_

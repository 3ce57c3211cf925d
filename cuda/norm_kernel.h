// The source of kernels for layer_norm and rms_norm along the last dimension,
// with what is pointwise before and after: a row of 16-bit floats is read once
// and stays in registers.
#ifndef ISOMER_CUDA_NORM_KERNEL_H_
#define ISOMER_CUDA_NORM_KERNEL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/kernel.h"

namespace isomer::cuda {

// The kernel for outputs of one shape, of which those that are not the norm's
// operand are made of the norm `core`: of its shape, or views of it. Nothing if
// its form is another. Threads have so few registers that at least `blocks`
// blocks fit on a multiprocessor.
absl::StatusOr<std::optional<KernelSource>> NormKernel(
    const ir::Graph& graph, Value core, const std::vector<Operand>& inputs,
    const std::vector<Operand>& outputs, int blocks = 0);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_NORM_KERNEL_H_

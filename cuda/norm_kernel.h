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

// What threads have registers for.
struct NormRegisters {
  // Factors are floats, which they are made before the kernel waits; else they
  // are kept as they are stored, which takes half the registers.
  bool factors_as_floats = false;
  int blocks = 0;  // on a multiprocessor at least; 0: as many as fit
};

// The kernel for outputs of one shape, of which those that are not the norm's
// operand are made of the norm `core`: of its shape, or views of it. Nothing if
// its form is another.
absl::StatusOr<std::optional<KernelSource>> NormKernel(
    const ir::Graph& graph, Value core, const std::vector<Operand>& inputs,
    const std::vector<Operand>& outputs, const NormRegisters& registers = {});

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_NORM_KERNEL_H_

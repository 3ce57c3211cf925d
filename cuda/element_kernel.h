// Kernels that compute every output element from an expression: fused
// pointwise chains, views that have to be copied, reductions, norms, softmax,
// pooling, gathers.
//
// Where the expression has no long sums, a thread computes one or several
// neighbouring elements. Where it has, the dimensions that the sums depend on
// are rows: the threads of a row compute each sum together, once, and then the
// elements of the row. A group of neighbours that have the same sums, such as
// channels that are normed together, is one row.
#ifndef ISOMER_CUDA_ELEMENT_KERNEL_H_
#define ISOMER_CUDA_ELEMENT_KERNEL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/kernel.h"
#include "graph/graph.h"

namespace isomer::cuda {

// The kernel that computes `outputs`, which have one shape, from `inputs`. All
// operators in between must have element functions. `lanes` threads compute a
// row together where there are rows; 0: as many as seem right.
absl::StatusOr<KernelSource> ElementKernel(const ir::Graph& graph,
                                           const std::vector<Operand>& inputs,
                                           const std::vector<Operand>& outputs,
                                           int lanes = 0);

// The same where outputs are nothing but long sums, and the elements of several
// that lie side by side do so too: `lanes` threads compute these sums together,
// each of some of their elements. Nothing where that is not so, or a thread
// would have too many.
absl::StatusOr<std::optional<KernelSource>> ColumnsKernel(
    const ir::Graph& graph, const std::vector<Operand>& inputs,
    const std::vector<Operand>& outputs, int lanes);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ELEMENT_KERNEL_H_

// What follows a product in its own kernel, moved to the kernel that reads it.
//
//   g = silu(matmul(x, a))            g = matmul(x, a)
//   y = mul(g, matmul(x, b))    ->    y = mul(silu(g), matmul(x, b))
//
// A large product is often computed by a library, and what follows it by a
// kernel of its own, which reads and writes the whole result. Where the reader
// has such a kernel too, one is enough. Large is what does not stay in the
// cache, in which there is room for so many bytes.
#ifndef ISOMER_CUDA_LATE_EPILOGUES_H_
#define ISOMER_CUDA_LATE_EPILOGUES_H_

#include <vector>

#include "absl/status/status.h"
#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

// Moves pointwise functions of large products alone to the one product that
// reads them, if that does not multiply them. Signatures stay as planned.
void MoveEpilogues(const ir::Graph& graph, std::vector<cost::Kernel>& kernels,
                   int64_t cached_bytes);

// Moves constants that a norm's kernel adds to a product before the norm to the
// kernel of the product, if nothing else reads that: the norm then reads rows
// as they lie.
void MoveSums(const ir::Graph& graph, std::vector<cost::Kernel>& kernels);

// Joins two large products of one factor by constants of one size, where all
// that reads the one is what follows the other. What follows is then a function
// of equal parts of the rows of one product, and neither is stored:
//
//   g = matmul(x, a)                         m = matmul(x, concat(a, b))
//   y = mul(silu(g), matmul(x, b))    ->     y = mul(silu(slice(m, 0..n)),
//                                                    slice(m, n..2n))
//
// This comes after MoveEpilogues. Signatures are those of both, side by side.
absl::Status JoinProducts(ir::Graph& graph, std::vector<cost::Kernel>& kernels,
                          int64_t cached_bytes);

// Joins products by constants, of few rows or large, with the kernels that
// compute pointwise functions of equal parts of their rows, if nothing else
// reads these, and most of what reads the constants is so:
//
//   y = matmul(x, w)
//   z = mul(sigmoid(slice(y, 0..n)), slice(y, n..2n))
void MoveParts(const ir::Graph& graph, std::vector<cost::Kernel>& kernels,
               int64_t cached_bytes);

// How many equal parts of rows of a product by a constant the kernel's results
// are functions of; 1 if they are something else.
int PartsOf(const ir::Graph& graph, const cost::Kernel& kernel);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_LATE_EPILOGUES_H_

// The source of a kernel for products of few rows by constants that are small:
// each warp holds its part of them in registers before the kernel before has
// ended, so that nothing but the rows has to come when that has. Then there is
// one step: the warps multiply, their sums meet in shared memory, and what the
// results are made of besides was asked for together with the rows. Cells of
// recurrent networks are chains of such products, and a chain takes as long as
// each of them takes from its rows to its results. Rows that are there before
// the network runs are multiplied before, too.
#ifndef ISOMER_CUDA_HELD_KERNEL_H_
#define ISOMER_CUDA_HELD_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"
#include "ops/onnx_node.h"

namespace isomer::cuda {

// Rows of f32, that no instruction multiplies as matrices, at most.
inline constexpr int kHeldFloatRows = 4;

// Blocks have tiles of tn columns; wk warps share k. Each thread reads what it
// holds straight from memory where weights lie in panels.
struct HeldTiling {
  int tn = 32, wk = 8;
  bool panels = false;

  int threads() const { return 32 * wk; }
  // "held 32 k8", "held 32 k8 panels".
  std::string ToString() const;
};

// A matrix of k rows and n columns that lies row by row, in panels instead: of
// 16 columns each, in pieces of 16 rows, of which each thread of a warp has 16
// bytes, those that it multiplies.
SharedBytes InPanels(const SharedBytes& b, DType dtype, int64_t k, int64_t n);

// Tilings that are worth trying, the likeliest first; none if the kernel cannot
// compute the product.
std::vector<HeldTiling> HeldTilings(const ProductCall& call,
                                    const Product& product, int units);

absl::StatusOr<KernelSource> HeldProduct(const ProductCall& call,
                                         const Product& product,
                                         const HeldTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_HELD_KERNEL_H_

// The source of kernels for products of one row by a matrix, which take as long
// as reading the matrix does: every thread has many loads under way, and the
// first of them are started before the kernel that computes the row has ended.
#ifndef ISOMER_CUDA_ROW_KERNEL_H_
#define ISOMER_CUDA_ROW_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// A block has 64 columns; its threads and `split` blocks share k.
struct RowTiling {
  int threads = 512, split = 1;

  // "row 512 z2".
  std::string ToString() const;
};

// Tilings that are worth trying for the product on a device of `units`, the
// likeliest first; none if it is not one row, or lies in another way.
std::vector<RowTiling> RowTilings(const Product& product, int units);

absl::StatusOr<KernelSource> RowProduct(const ProductCall& call,
                                        const Product& product,
                                        const RowTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ROW_KERNEL_H_

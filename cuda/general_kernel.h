// The source of a kernel for products and convolutions of any type, whose
// operands are computed element by element: tiles of both are in shared memory,
// the next ones on their way to registers, and k may be split over blocks of a
// cluster where sums are floats. Products of 32-bit floats that no library
// takes are computed so.
#ifndef ISOMER_CUDA_GENERAL_KERNEL_H_
#define ISOMER_CUDA_GENERAL_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// Blocks have tiles of tm x tn; `split` of them share k.
struct GeneralTiling {
  int tm = 64, tn = 64, split = 1;

  // "general 64x64 z1".
  std::string ToString() const;
};

// Tilings that are worth trying, the likeliest first; at least one.
std::vector<GeneralTiling> GeneralTilings(const Product& product, int units);

absl::StatusOr<KernelSource> GeneralProduct(const ProductCall& call,
                                            const Product& product,
                                            const GeneralTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_GENERAL_KERNEL_H_

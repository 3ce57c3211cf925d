// The source of kernels for large products and convolutions of 16-bit floats on
// Hopper: warpgroups multiply tiles where they lie in shared memory (wgmma),
// while copies for later steps are on their way (cp.async). Any operand that
// has 16 contiguous bytes will do, so convolutions are products here as well,
// and anything pointwise may follow.
#ifndef ISOMER_CUDA_WARPGROUP_KERNEL_H_
#define ISOMER_CUDA_WARPGROUP_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// How a product is cut. `wm` warpgroups share the rows of a tile of tm x tn;
// `wk` such groups and `split` blocks share k, each in steps of 64.
struct WarpgroupTiling {
  int tm = 128, tn = 128, wm = 2, wk = 1, stages = 4, split = 1;

  int threads() const { return 128 * wm * wk; }
  // "wg 128x128 2x1 s4 z1".
  std::string ToString() const;
};

// Tilings that are worth trying for the product on a device of `units`, the
// likeliest first; none if its operands do not lie as they have to.
std::vector<WarpgroupTiling> WarpgroupTilings(const Product& product,
                                              int units);

absl::StatusOr<KernelSource> WarpgroupProduct(const ProductCall& call,
                                              const Product& product,
                                              const WarpgroupTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_WARPGROUP_KERNEL_H_

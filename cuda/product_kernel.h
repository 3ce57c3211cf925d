// The source of kernels for products and convolutions.
//
// The fast kernel is for 16-bit floats: tiles of both operands travel to shared
// memory several steps ahead (cp.async), warps multiply them (mma.sync), and k
// may be split twice, over warps of a block and over blocks of a cluster, whose
// partial sums meet in shared memory. At batch 1 that is where the time is: a
// small product has too few tiles to fill the device, and a long k to walk
// along.
#ifndef ISOMER_CUDA_PRODUCT_KERNEL_H_
#define ISOMER_CUDA_PRODUCT_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// How a product is cut. `wm` x `wn` warps share a tile of tm x tn; `wk` such
// groups and `split` blocks share k, each warp in steps of bk.
struct Tiling {
  int tm = 64, tn = 64, bk = 32, wm = 2, wn = 2, wk = 1, stages = 4, split = 1;

  int threads() const { return 32 * wm * wn * wk; }
  // "64x64 k32 2x2x1 s4 z1".
  std::string ToString() const;
};

// Tilings that are worth trying for the product, the likeliest first; none if
// only the kernel for any type can compute it.
std::vector<Tiling> Tilings(const Product& product, int units);

absl::StatusOr<KernelSource> TiledProduct(const ProductCall& call,
                                          const Product& product,
                                          const Tiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PRODUCT_KERNEL_H_

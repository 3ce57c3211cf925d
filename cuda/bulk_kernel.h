// The source of kernels for products of 16-bit floats on Hopper whose tiles the
// copy engine brings (TMA): one warp asks for tiles, warpgroups multiply them
// where they lie in shared memory (wgmma). Operands are matrices, so
// convolutions are among them only where they have one tap; anything pointwise
// may follow.
#ifndef ISOMER_CUDA_BULK_KERNEL_H_
#define ISOMER_CUDA_BULK_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/product.h"

namespace isomer::cuda {

// How a product is cut. Warpgroups have 64 rows each of a tile of tm x tn;
// `split` blocks share k. Or so many blocks stay and go on from tile to tile,
// each with two warpgroups that take turns: one multiplies its tile while the
// other computes and stores the results of its own. Or two blocks, one below
// the other, bring half of the columns each for both.
struct BulkTiling {
  int tm = 128, tn = 128, stages = 4, split = 1, stay = 0;
  bool pair = false;
  int group = 8;  // row blocks whose columns are computed together

  // Times 64 rows, of a warpgroup.
  int halves() const { return stay > 0 ? tm / 64 : 1; }
  int threads() const { return (stay > 0 ? 256 : 2 * tm) + 32; }
  // "tma 128x128 s4 z1", "tma 128x128 s6 turns", "tma 128x256 s4 pair g16".
  std::string ToString() const;
};

// Tilings that are worth trying for the product on a device of `units` in whose
// cache so many bytes stay, the likeliest first; none if its operands do not
// lie as they have to.
std::vector<BulkTiling> BulkTilings(const Product& product, int units,
                                    int64_t cached_bytes);

absl::StatusOr<KernelSource> BulkProduct(const ProductCall& call,
                                         const Product& product,
                                         const BulkTiling& tiling);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_BULK_KERNEL_H_

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
// and results of one are computed while the next is multiplied: by one of two
// warpgroups that take turns, or aside, by warps that do nothing else. Of those
// two, one below the other, may bring half of the columns each for both.
struct BulkTiling {
  int tm = 128, tn = 128, stages = 4, split = 1, stay = 0;
  bool aside = false, pair = false;

  bool turns() const { return stay > 0 && !aside; }
  int warpgroups() const { return turns() ? 2 : tm / 64; }
  // Times 64 rows, of a warpgroup.
  int halves() const { return turns() ? tm / 64 : 1; }
  // Warps that do not multiply: one asks for tiles.
  int helpers() const { return aside ? 4 : 1; }
  // Row blocks, or pairs of them, whose columns are computed together.
  int group() const { return aside && !pair ? 16 : 8; }
  int threads() const { return 128 * warpgroups() + 32 * helpers(); }
  // "tma 128x128 s4 z1", "tma 128x128 s6 turns", "tma 128x256 s3 aside pair".
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

// What kernels that compute a product tile by tile share: helpers for copies to
// shared memory, and the way from partial sums in shared memory through the
// rest of the kernel to the results.
#ifndef ISOMER_CUDA_TILE_CODE_H_
#define ISOMER_CUDA_TILE_CODE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda/product.h"

namespace isomer::cuda {

// Copies of 16 bytes that run by themselves, and reads of other blocks' shared
// memory.
absl::string_view TileHelpers();

// Matrices of 16-bit floats from shared memory to the registers of a warp, and
// their products.
std::string WarpHelpers(DType dtype);

// Two floats as a pair of 16-bit floats.
std::string PairHelper(DType dtype);

// Shared memory in which what blocks give each other is counted.
inline constexpr int kBarBytes = 16;
// Bytes of shared memory that a block takes at most, of 227 KiB: of kernels of
// warps, and of warpgroups.
inline constexpr int kWarpShared = 220 * 1024, kWarpgroupShared = 226 * 1024;
inline constexpr int kRegisters = 65536;  // of a multiprocessor

// What products of warpgroups (wgmma) need around them.
absl::string_view WarpgroupHelpers();

// The function `name`(d, a, b) that multiplies 64 rows and 16 columns of a by
// 16 rows and n columns of b and adds the result to d, the registers of a
// warpgroup; b is the descriptor of a tile in shared memory, and a is one too
// or else four registers. With `start` it has a fourth parameter: 0 if d is
// to be set.
struct WarpgroupForm {
  bool a_registers = false, start = false;
  bool b_along_n = false;  // n is contiguous in b, not k
};
std::string WarpgroupMultiply(absl::string_view name, DType dtype, int n,
                              const WarpgroupForm& form);

// How many neighbouring columns one thread makes results of at a time, where
// `split` blocks share a tile.
int StoreWidth(const Product& product, int split);

// Defines a_copy8 and b_copy8, by which the operands of a product come to
// shared memory in tiles of `tm` rows: weights that come from memory in every
// run, and that one block of one kernel alone reads, do not stay in the cache,
// but for the first steps of each block, as many as are kept. It stands where
// the step kt, a block's `first` and EACH, the number of its steps, are known.
std::string CopyNames(const ProductCall& call, const Product& product, int tm);

// A product's kernel of so many threads, with this body and the constants that
// it needs; `blocks` as in KernelFrame. The grid is left to the caller.
KernelSource WarpKernel(const ProductCall& call, const Product& product,
                        absl::string_view constants, int threads,
                        absl::string_view body, int blocks = 0);

// Statements that add the partial sums of a tile up and store what the kernel
// makes of them. They stand where the constants M, N, TM, TN, WK, SPLIT, NT and
// WIDTH are known, WK tiles of rows of PITCH floats lie in `sums`, and the
// block is number `part` of SPLIT. If each thread computes results `once` at
// most, `reads` are statements that ask for what it computes with besides the
// sums, which may stand anywhere after iso_wait(), and have to stand somewhere.
// Of a `few` rows, FEW of them, all blocks have given their sums to the first:
// there lie SPLIT * WK tiles of them, and it alone stores; they are `once`
// then.
struct StoreForm {
  bool once = false, few = false;
};
struct StoreCode {
  std::string reads, store;
};
absl::StatusOr<StoreCode> StoreText(const ProductCall& call,
                                    const Product& product, int width,
                                    const StoreForm& form = {});

// How many of so many blocks a multiprocessor has at a time, of those that fit,
// and how often; `split` blocks are a cluster.
struct Occupancy {
  double busy = 1, waves = 1;
};
Occupancy OccupancyOf(int64_t blocks, int split, int fit, int units);

// Tilings with the times that they are guessed to take, the fastest first.
template <class Tiling>
using Guesses = std::vector<std::pair<double, Tiling>>;
template <class Tiling>
Guesses<Tiling> ByTime(Guesses<Tiling> found) {
  std::stable_sort(
      found.begin(), found.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

// The fastest of them, so many at most.
template <class Tiling>
std::vector<Tiling> Fastest(Guesses<Tiling> found, size_t most) {
  std::vector<Tiling> out;
  for (const auto& [time, t] : ByTime(std::move(found))) {
    if (out.size() < most) out.push_back(t);
  }
  return out;
}

// The likeliest: so many at most, none that takes so many times as long as the
// first, and two ways to split each shape, so that the guess decides little.
template <class Tiling>
std::vector<Tiling> Likeliest(Guesses<Tiling> found, size_t most = 6,
                              double times = 2.5) {
  found = ByTime(std::move(found));
  std::vector<Tiling> out;
  std::map<std::string, int> tried;
  for (const auto& [time, t] : found) {
    if (time > times * found[0].first || out.size() >= most) break;
    Tiling shape = t;
    shape.split = 1;
    if (++tried[shape.ToString()] <= 2) out.push_back(t);
  }
  return out;
}

// True if a convolution's windows reach outside of the image.
bool IsPadded(const WindowRun& window);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_TILE_CODE_H_

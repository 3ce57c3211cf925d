// Tiles lie in shared memory as those of warpgroup_kernel.cc do: in rows of 128
// bytes with the hardware's swizzle, along k or, where k is not contiguous in
// b, along 64 columns. A stage is full when all bytes that were asked for are
// there, and empty when every warp that multiplies it is done with it.
#include "cuda/bulk_kernel.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/element_code.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kStep = 64;               // of k
constexpr int kPitch = 8;               // floats after each row of sums
constexpr int kAheadBytes = 64 * 1024;  // of b, that a block asks for early

// Results are stored from the registers where no other block has a part of
// them, of four columns that lie side by side; aside, of eight.
constexpr int kDirectWidth = 4, kAsideWidth = 8;
bool IsDirect(const Product& p, const BulkTiling& t) {
  return t.split == 1 && p.n % kDirectWidth == 0 && kDirectWidth % p.parts == 0;
}

int SharedBytes(const Product& p, const BulkTiling& t) {
  const int pipeline = t.stages * 2 * kStep * (t.tm + t.tn);
  const int sums = IsDirect(p, t) ? 0 : 4 * t.tm * (t.tn + kPitch);
  const int aside = t.aside ? 2 * t.tm * (t.tn + kPitch) : 0;
  // To start at a multiple of 1024.
  return std::max(pipeline, sums) + aside + 1024;
}

// Or pairs of blocks.
int64_t Blocks(const Product& p, const BulkTiling& t) {
  const int64_t high = t.pair ? 2 * t.tm : t.tm;
  return CeilDiv(p.m, high) * CeilDiv(p.n, int64_t{t.tn});
}

// Blocks that a multiprocessor has room for.
int Fit(const Product& p, const BulkTiling& t) {
  const int registers = t.threads() * (t.halves() * t.tn / 2 + 40);
  return std::max(std::min({kWarpgroupShared / SharedBytes(p, t),
                            kRegisters / registers, 4}),
                  1);
}

constexpr char kHelpers[] = R"(
struct __align__(64) iso_map { iso_u64 at[16]; };
__device__ __forceinline__ void iso_barrier_start(iso_u32 at, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count)
               : "memory");
}
__device__ __forceinline__ void iso_barrier_expect(iso_u32 at, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   at), "r"(bytes) : "memory");
}
// If `yes`. Threads of a warp stay together, as multiplications want it.
__device__ __forceinline__ void iso_barrier_arrive(iso_u32 at, int yes) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\n"
      "@p mbarrier.arrive.shared::cta.b64 _, [%0];\n}"
      ::"r"(at), "r"(yes) : "memory");
}
// The same of block `rank` of the cluster.
__device__ __forceinline__ void iso_barrier_arrive_at(iso_u32 at, int rank,
                                                      int yes) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\n"
      "@p mbarrier.arrive.shared::cluster.b64 _, [%0];\n}"
      ::"r"(iso_at_peer(at, rank)), "r"(yes) : "memory");
}
__device__ __forceinline__ void iso_barrier_wait(iso_u32 at, int parity) {
  iso_u32 done = 0;
  while (!done) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done) : "r"(at), "r"(parity) : "memory");
  }
}
// Of so many threads some wait until the others have passed.
__device__ __forceinline__ void iso_await(int at, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(at), "r"(threads) : "memory");
}
__device__ __forceinline__ void iso_pass(int at, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(at), "r"(threads) : "memory");
}
// The tile at column x and row y of a matrix, to the cache; to shared memory.
__device__ __forceinline__ void iso_bring_ahead(const iso_map& map, int x,
                                                int y) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
      ::"l"(&map), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ void iso_bring(iso_u32 to, const iso_map& map, int x,
                                          int y, iso_u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
// To the same place of both blocks of a pair, each of which counts it.
__device__ __forceinline__ void iso_bring_both(iso_u32 to, const iso_map& map,
                                               int x, int y, iso_u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
      ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier),
      "h"((iso_u16)3) : "memory");
}
)";

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) iso_u64
      barriers[2 * STAGES + (HELPERS > 1 ? 1 + WARPS / 4 : 0)];
  const int tid = threadIdx.x, lane = tid % 32;
  const int warp = __shfl_sync(0xffffffffu, tid / 32, 0);
  const int zb = 0, part = PAIR ? 0 : blockIdx.z;
  const int rank = PAIR ? blockIdx.z : 0;  // in the pair
  enum {
    PAIR_ROWS = PAIR ? 2 * TM : TM,
    ROW_BLOCKS = (M + PAIR_ROWS - 1) / PAIR_ROWS,
    COLUMN_BLOCKS = (N + TN - 1) / TN,
    TILES = ROW_BLOCKS * COLUMN_BLOCKS,
    STEPS = (K + 63) / 64,
    EACH = (STEPS + SPLIT - 1) / SPLIT,
    TURN = 1,  // what one of two warpgroups awaits
    TAKERS = 32 * (HELPERS - 1)
  };
  // Tile i of this block, and how many it has.
  int m0, n0;
  auto go_to = [&](int i) {
    const int tile = blockIdx.x + i * gridDim.x;
    const int group = tile / (GROUP * COLUMN_BLOCKS) * GROUP;
    const int rows = ROW_BLOCKS - group < GROUP ? ROW_BLOCKS - group : GROUP;
    const int inside = tile % (GROUP * COLUMN_BLOCKS);
    m0 = (group + inside % rows) * PAIR_ROWS + rank * TM;
    n0 = inside / rows * TN;
  };
  go_to(0);
  const int tiles =
      STAY ? (TILES - 1 - (int)blockIdx.x) / (int)gridDim.x + 1 : 1;
  const int first = part * EACH;
  const int count = first + EACH < STEPS ? EACH : STEPS - first;
  const iso_u32 start = (iso_shared(memory) + 1023) & ~1023u;
  const iso_u32 a_stage = start, b_stage = start + STAGES * A_BYTES;
  // Sums that are given lie behind the stages.
  unsigned char* const given =
      memory + (b_stage - iso_shared(memory)) + STAGES * B_BYTES;
  const iso_u32 full = iso_shared(barriers), empty = full + 8 * STAGES;
  const iso_u32 filled = empty + 8 * STAGES, taken = filled + 8;
  if (tid == 0) {
    for (int s = 0; s < STAGES; ++s) {
      iso_barrier_start(full + 8 * s, 1);
      iso_barrier_start(empty + 8 * s, TURNS ? 4 : PAIR ? 2 * WARPS : WARPS);
    }
    if (HELPERS > 1) {
      iso_barrier_start(filled, 32 * WARPS);
      for (int g = 0; g < WARPS / 4; ++g) {
        iso_barrier_start(taken + 8 * g, TAKERS);
      }
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  // What the other block of a pair brings is counted here.
  if (PAIR) iso_cluster_barrier(); else __syncthreads();
  float d[HALVES][TN / 2];
  if (warp == WARPS) {
    if (lane == 0) {
      // Steps are counted over all tiles.
      auto step_of = [&](int n) {
        if (!STAY) return n;
        go_to(n / STEPS);
        return n % STEPS;
      };
      auto a_bring = [&](int slot, int n) {
        const int t = step_of(n);
        iso_bring(a_stage + slot * A_BYTES, map0, (first + t) * 64, m0,
                  full + 8 * slot);
      };
      // bring(where in a stage, x, y) for the tiles of a step of b.
      auto b_tiles = [&](int n, auto bring) {
        const int k = (first + step_of(n)) * 64;
        // This block's share of the columns.
        enum { OWN = PAIR ? TN / 2 : TN };
        const int from = rank * OWN;
        if (B_ALONG_N) {
#pragma unroll
          for (int i = 0; i < OWN; i += 64) {
            bring((from + i) * 128, n0 + from + i, k);
          }
        } else {
          bring(from * 128, k, n0 + from);
        }
      };
      auto b_bring = [&](int slot, int n) {
        b_tiles(n, [&](int at, int x, int y) {
          const iso_u32 to = b_stage + slot * B_BYTES + at;
          if (PAIR) {
            iso_bring_both(to, map1, x, y, full + 8 * slot);
          } else {
            iso_bring(to, map1, x, y, full + 8 * slot);
          }
        });
      };
      const int total = tiles * count;
      const int ahead = total < STAGES ? total : STAGES;
      for (int t = 0; t < ahead; ++t) {
        iso_barrier_expect(full + 8 * t, A_BYTES + B_BYTES);
        if (B_FIRST) b_bring(t, t);
      }
      // What there is no stage for yet.
      for (int t = ahead; t < total && t < ahead + AHEAD; ++t) {
        b_tiles(t, [&](int, int x, int y) { iso_bring_ahead(map1, x, y); });
      }
      iso_wait();
      for (int t = 0; t < ahead; ++t) {
        a_bring(t, t);
        if (!B_FIRST) b_bring(t, t);
      }
      int slot = 0, parity = 0;
      for (int t = STAGES; t < total; ++t) {
        iso_barrier_wait(empty + 8 * slot, parity);
        iso_barrier_expect(full + 8 * slot, A_BYTES + B_BYTES);
        a_bring(slot, t);
        b_bring(slot, t);
        if (++slot == STAGES) slot = 0, parity ^= 1;
      }
    }
    __syncwarp();
BESIDE
  } else {
    const int mine = TURNS ? warp / 4 : 0;
    // Where this warpgroup's part of stage 0 lies.
    const iso_u64 a_first =
        iso_tile(a_stage + (TURNS ? 0 : warp / 4 * 8192), false);
    const iso_u64 b_first = iso_tile(b_stage, B_ALONG_N);
    // Step n of all tiles is multiplied. Nothing waits for the last ones.
    auto done_with = [&](int slot, int n) {
      if (n + STAGES >= tiles * count) return;
      iso_barrier_arrive(empty + 8 * slot, lane == 0);
      if (PAIR) iso_barrier_arrive_at(empty + 8 * slot, 1 - rank, lane == 0);
    };
    if (TURNS && mine == 1) iso_pass(TURN, 256);
    for (int i = mine; i < tiles; i += TURNS ? 2 : 1) {
      if (STAY) go_to(i);
      int slot = i * count % STAGES, parity = i * count / STAGES % 2;
      int before = 0;
#pragma unroll
      for (int h = 0; h < HALVES; ++h) {
#pragma unroll
        for (int j = 0; j < TN / 2; ++j) d[h][j] = 0;
      }
      // The steps of the tile before are all awaited by then, so that a stage
      // cannot be full twice meanwhile.
      if (TURNS) iso_await(TURN + mine, 256);
      for (int t = 0; t < count; ++t) {
        iso_barrier_wait(full + 8 * slot, parity);
        __syncwarp();
        iso_multiply_fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int h = 0; h < HALVES; ++h) {
            iso_multiply(d[h], a_first + slot * (A_BYTES / 16) + h * 512 + k * 2,
                         b_first + slot * (B_BYTES / 16) +
                             k * (B_ALONG_N ? 128 : 2));
          }
        }
        iso_multiply_commit();
        iso_multiplied<1>();
        if (t > 0) done_with(before, i * count + t - 1);
        before = slot;
        if (++slot == STAGES) slot = 0, parity ^= 1;
      }
      if (TURNS && i + 1 < tiles) iso_pass(TURN + 1 - mine, 256);
      iso_multiplied<0>();
      if (STAY) done_with(before, (i + 1) * count - 1);
#pragma unroll
      for (int h = 0; h < HALVES; ++h) {
#pragma unroll
        for (int j = 0; j < TN / 2; ++j) {
          asm volatile("" : "+f"(d[h][j])::"memory");
        }
      }
IN_TURN
    }
  }
)";

// Through shared memory; what StoreText gives follows.
constexpr char kSums[] = R"(
  __syncthreads();
  float* sums = (float*)(memory + (start - iso_shared(memory)));
  if (warp < WARPS) {
#pragma unroll
    for (int j = 0; j < TN / 8; ++j) {
      float* at = sums + (warp * 16 + lane / 4) * PITCH + j * 8 + lane % 4 * 2;
      *(float2*)at = make_float2(d[0][j * 4], d[0][j * 4 + 1]);
      *(float2*)(at + 8 * PITCH) =
          make_float2(d[0][j * 4 + 2], d[0][j * 4 + 3]);
    }
  }
)";

// From the registers. Of every eight columns a thread has two; with its
// neighbour it exchanges them for four of one or the other of two eights.
// Several results are computed before any is stored, so that what they read is
// asked for together; past the end that is read which is there.
constexpr char kDirect[] = R"(
  enum {
    FULL = M % TM == 0 && N % TN == 0,
    TOGETHER = TN > 128 ? TN / 16 : TN / 8
  };
  const bool odd = lane % 2;
#pragma unroll
  for (int h = 0; h < HALVES; ++h) {
    const int row = m0 + h * 64 + (TURNS ? warp % 4 : warp) * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < TN / 8; i += TOGETHER) {
      float accs[TOGETHER][4];
#pragma unroll
      for (int u = 0; u < TOGETHER; ++u) {
        const int low = (i + u) / 2 * 8 + u % 2 * 2, high = low + 4;
        const float x =
            __shfl_xor_sync(0xffffffffu, odd ? d[h][low] : d[h][high], 1);
        const float y = __shfl_xor_sync(
            0xffffffffu, odd ? d[h][low + 1] : d[h][high + 1], 1);
        accs[u][0] = odd ? x : d[h][low];
        accs[u][1] = odd ? y : d[h][low + 1];
        accs[u][2] = odd ? d[h][high] : x;
        accs[u][3] = odd ? d[h][high + 1] : y;
      }
      const int column = n0 + i * 8 + odd * 8 + lane % 4 / 2 * 4;
      TYPE packs[TOGETHER];
#pragma unroll
      for (int u = 0; u < TOGETHER; ++u) {
        const int mm = FULL || row + u % 2 * 8 < M ? row + u % 2 * 8 : M - 1;
        const int nn = FULL || column + u / 2 * 16 < N ? column + u / 2 * 16
                                                       : N - 4;
        const int j = nn / 4;
        const float* acc = accs[u];
        TYPE& pack = packs[u];
COMPUTE
      }
#pragma unroll
      for (int u = 0; u < TOGETHER; ++u) {
        const int mm = row + u % 2 * 8, nn = column + u / 2 * 16, j = nn / 4;
        if (!FULL && (mm >= M || nn >= N)) continue;
        const TYPE& pack = packs[u];
SAVE
      }
    }
  }
)";

// To other warps, as the type that the product has, in rows.
constexpr char kGive[] = R"(
      if (i > 0) iso_barrier_wait(taken + 8 * (warp / 4), (i - 1) % 2);
      VALUE* const sums =
          (VALUE*)given + (warp * 16 + lane / 4) * PITCH + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < TN / 4; ++j) {
        const iso_pack<VALUE, 2> two = {{iso_store_as<VALUE>(d[0][2 * j]),
                                         iso_store_as<VALUE>(d[0][2 * j + 1])}};
        iso_store_pack<VALUE, 2>(sums + j % 2 * 8 * PITCH + j / 2 * 8, two);
      }
      iso_barrier_arrive(filled, 1);
)";

// What those do meanwhile: a warp has a row at a time, a thread eight columns.
constexpr char kTake[] = R"(
  } else if (warp > WARPS) {
    enum { TOGETHER = 4 };
    const VALUE* const sums = (const VALUE*)given + lane * 8;
    iso_wait();
    for (int i = 0; i < tiles; ++i) {
      go_to(i);
      const int column = n0 + lane * 8;
      iso_barrier_wait(filled, i % 2);
      for (int r = warp - WARPS - 1; r < TM; r += (HELPERS - 1) * TOGETHER) {
        TYPE packs[TOGETHER];
#pragma unroll
        for (int u = 0; u < TOGETHER; ++u) {
          const int line = r + u * (HELPERS - 1) < TM ? r + u * (HELPERS - 1)
                                                      : TM - 1;
          const int mm = m0 + line < M ? m0 + line : M - 1;
          const int nn = column < N ? column : N - 8, j = nn / 8;
          const iso_pack<VALUE, 8> eight =
              iso_load_pack<VALUE, 8>(sums + line * PITCH);
          float acc[8];
#pragma unroll
          for (int k = 0; k < 8; ++k) acc[k] = iso_value(eight.at[k]);
          TYPE& pack = packs[u];
COMPUTE
        }
#pragma unroll
        for (int u = 0; u < TOGETHER; ++u) {
          const int line = r + u * (HELPERS - 1), mm = m0 + line;
          const int nn = column, j = nn / 8;
          if (line >= TM || mm >= M || nn >= N) continue;
          const TYPE& pack = packs[u];
SAVE
        }
      }
      __syncwarp();
      if (i + 1 == tiles) break;
      for (int g = 0; g < WARPS / 4; ++g) iso_barrier_arrive(taken + 8 * g, 1);
    }
)";

// Microseconds, roughly, as in warpgroup_kernel.cc.
double Guess(const Product& p, const BulkTiling& t, int units) {
  const int64_t blocks = Blocks(p, t) * t.split;
  const double steps =
      std::ceil(static_cast<double>(CeilDiv(p.k, int64_t{kStep})) / t.split);
  const auto [busy, waves] = OccupancyOf(blocks, t.split, Fit(p, t), units);
  const double math = 2.0 * t.tm * t.tn * kStep / 6e6;
  const double bytes = 2.0 * (t.tm + t.tn) * kStep;
  const double step =
      std::max({math * busy, bytes * busy / 75e3, 0.7 / (t.stages - 1)});
  // While one block stores, another multiplies.
  const double results = 4.0 * t.tm * t.tn / 100e3;
  const double sharing = t.split > 1 ? 1 + t.split * (0.25 + results) : 0;
  if (t.turns()) return 1.2 + waves * steps * step + results;
  return waves * (1.2 + steps * step + results + sharing);
}

// How many steps of b a block brings to the cache before it may read a: where b
// comes from memory in every run, and few blocks read the same of it.
int AheadSteps(const ProductCall& call, const Product& p, const BulkTiling& t) {
  return HasColdB(call, p) && p.m <= 2 * t.tm ? kAheadBytes / (2 * kStep * t.tn)
                                              : 0;
}

// The matrix that the copy engine takes boxes of: `inner` contiguous elements
// of `outer` rows.
TensorMap MapOf(const ProductCall& call, const std::string& pointer,
                int64_t offset, int64_t columns, int64_t rows, int64_t step,
                int inner, int outer) {
  TensorMap map;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].place.pointer == pointer) {
      map.argument = static_cast<int>(i);
    }
  }
  map.offset_bytes = 2 * offset;
  map.size = {columns, rows};
  map.step_bytes = 2 * step;
  map.box = {inner, outer};
  return map;
}

}  // namespace

std::string BulkTiling::ToString() const {
  const std::string how = turns() ? "turns"
                          : pair  ? "aside pair"
                          : aside ? "aside"
                                  : absl::StrCat("z", split);
  return absl::StrCat("tma ", tm, "x", tn, " s", stages, " ", how);
}

std::vector<BulkTiling> BulkTilings(const Product& p, int units,
                                    int64_t cached_bytes) {
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16) return {};
  const std::optional<LibraryProduct> matrices = AsLibraryProduct(p);
  if (!matrices || !matrices->a_inner || p.batch != 1 || p.m * p.n * p.k == 0) {
    return {};
  }
  static constexpr BulkTiling kShapes[] = {
      {256, 128, 4}, {192, 192, 4}, {128, 256, 4}, {128, 192, 5}, {128, 128, 6},
      {128, 128, 3}, {128, 64, 4},  {64, 256, 5},  {64, 128, 4},  {64, 64, 6},
  };
  // Less than half of a tile is past the end.
  auto fills = [&](const BulkTiling& t) {
    return (t.tn <= 64 || t.tn < 2 * p.n) && (t.tm <= 64 || t.tm < 2 * p.m);
  };
  Guesses<BulkTiling> found;
  const int64_t steps = CeilDiv(p.k, int64_t{kStep});
  for (BulkTiling t : kShapes) {
    if (!fills(t)) continue;
    for (int split : {1, 2, 4, 8}) {
      t.split = split;
      // Each block has steps of its own.
      if (CeilDiv(steps, CeilDiv(steps, int64_t{split})) != split) continue;
      if (SharedBytes(p, t) > kWarpgroupShared) continue;
      found.push_back({Guess(p, t, units), t});
    }
  }
  // Where there are tiles enough that results of one can be computed while the
  // next is multiplied.
  const BulkTiling stay{128, 128, 6, 1, units};
  if (fills(stay) && IsDirect(p, stay) && Blocks(p, stay) > units) {
    found.push_back({Guess(p, stay, units), stay});
  }
  std::vector<BulkTiling> out = Likeliest(std::move(found));
  // Where operands do not stay in the cache, less is brought from memory if as
  // many rows as columns are computed at a time, and less from the cache by
  // pairs. What is at its limit of power is faster for it.
  BulkTiling wide{128, 256, 3, 1, units, true};
  if (p.n % kAsideWidth == 0 && kAsideWidth % p.parts == 0 &&
      Blocks(p, wide) > 2 * units && 2 * (p.m + p.n) * p.k > cached_bytes) {
    out.push_back(wide);
    wide.pair = true;
    out.push_back(wide);
  }
  return out;
}

absl::StatusOr<KernelSource> BulkProduct(const ProductCall& call,
                                         const Product& p,
                                         const BulkTiling& t) {
  const int width = t.aside          ? kAsideWidth
                    : IsDirect(p, t) ? kDirectWidth
                                     : StoreWidth(p, t.split);
  std::string in_turn, beside, store = "  iso_wait();\n";
  if (t.aside) {
    ASSIGN_OR_RETURN(const Epilogue e, EpilogueOf(call, p, width));
    const std::string value(StorageType(p.dtype));
    in_turn = absl::StrReplaceAll(kGive, {{"VALUE", value}});
    beside = absl::StrReplaceAll(kTake, {{"COMPUTE", e.compute},
                                         {"SAVE", e.store},
                                         {"TYPE", e.type},
                                         {"VALUE", value}});
    store.clear();
  } else if (IsDirect(p, t)) {
    ASSIGN_OR_RETURN(const Epilogue e, EpilogueOf(call, p, width));
    const std::string direct = absl::StrReplaceAll(
        kDirect, {{"COMPUTE", e.compute}, {"SAVE", e.store}, {"TYPE", e.type}});
    if (t.turns()) {
      in_turn = absl::StrCat(std::exchange(store, ""), direct);
    } else {
      absl::StrAppend(&store, "  if (warp == WARPS) return;\n", direct);
    }
  } else {
    ASSIGN_OR_RETURN(const StoreCode code, StoreText(call, p, width));
    absl::StrAppend(&store, kSums, code.store);
  }
  const LibraryProduct matrices = *AsLibraryProduct(p);
  const bool along_n = !matrices.b_inner;
  const std::string defines = absl::StrFormat(
      "enum { TM = %d, TN = %d, WK = 1, STAGES = %d, SPLIT = %d, NT = %d,\n"
      "       STAY = %d, TURNS = %d, PAIR = %d, HELPERS = %d,\n"
      "       WARPS = NT / 32 - HELPERS, HALVES = %d,\n"
      "       GROUP = %d, A_BYTES = TM * 128,\n"
      "       B_BYTES = TN * 128, PITCH = TN + %d, WIDTH = %d,\n"
      "       B_FIRST = %d, B_ALONG_N = %d, AHEAD = %d };\n"
      "enum : long long { M = %d, N = %d, K = %d };\n",
      t.tm, t.tn, t.stages, t.split, t.threads(), t.stay > 0 ? 1 : 0,
      t.turns() ? 1 : 0, t.pair ? 1 : 0, t.helpers(), t.halves(), t.group(),
      kPitch, width, ReadyOf(call, p).b ? 1 : 0, along_n ? 1 : 0,
      AheadSteps(call, p, t), p.m, p.n, p.k);
  KernelSource out;
  out.maps = {MapOf(call, p.a.pointer, matrices.a_offset, p.k, p.m,
                    matrices.a_step, kStep, t.tm),
              along_n
                  ? MapOf(call, p.b.pointer, matrices.b_offset, p.n, p.k,
                          matrices.b_step, kStep, kStep)
                  : MapOf(call, p.b.pointer, matrices.b_offset, p.k, p.n,
                          matrices.b_step, kStep, t.pair ? t.tn / 2 : t.tn)};
  out.text = KernelText(
      {.inputs = call.inputs,
       .outputs = call.outputs,
       .maps = static_cast<int>(out.maps.size()),
       .helpers = absl::StrCat(TileHelpers(), WarpgroupHelpers(), kHelpers,
                               WarpgroupMultiply("iso_multiply", p.dtype, t.tn,
                                                 {.b_along_n = along_n}),
                               defines),
       .threads = t.threads(),
       .blocks = Fit(p, t)},
      absl::StrCat(absl::StrReplaceAll(
                       kBody, {{"IN_TURN", in_turn}, {"BESIDE", beside}}),
                   store));
  const auto blocks = static_cast<int>(Blocks(p, t));
  // So many stay as fit.
  const int stay = t.pair ? std::max(t.stay / 2, 1) : t.stay;
  out.grid = {t.stay > 0 ? std::min(stay, blocks) : blocks, 1,
              t.pair ? 2 : t.split};
  out.block = t.threads();
  out.shared_bytes = SharedBytes(p, t);
  out.cluster = out.grid[2];
  return out;
}

}  // namespace isomer::cuda

// Tiles lie in shared memory in rows of 128 bytes whose pieces of 16 are
// permuted by the row (the hardware's 128-byte swizzle), so that neither copies
// nor multiplications meet in a bank. Rows are of 64 elements along k; where k
// is not contiguous in b, of 64 columns.
#include "cuda/warpgroup_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kStep = 64;  // of k, for one warpgroup
constexpr int kPitch = 8;  // floats after each row of sums
// So few steps have a stage each anyway; so many have none.
constexpr int kFewSteps = 4, kManySteps = 16;

// At least one step is multiplied, one is being read, one is on its way.
int SharedBytes(const WarpgroupTiling& t) {
  const int pipeline = t.stages * 2 * kStep * t.wk * (t.tm + t.tn);
  const int sums = 4 * t.wk * t.tm * (t.tn + kPitch);
  return std::max(pipeline, sums) + 1024;  // to start at a multiple of 1024
}

// Rows of operand x along k: `prepare` are statements that stand before the
// steps, `piece` those for the place `from` of the piece at kk of row r, and
// how many elements `there` are of it.
std::string RowLoader(const std::string& x, int rows,
                      const std::string& prepare, const std::string& piece) {
  return absl::StrReplaceAll(
      R"(
  enum { X_ROWS = OUTER * WK, X_TIMES = (X_ROWS * 8 + NT - 1) / NT };
PREPARE
  auto x_load = [&](int slot, int kt) {
#pragma unroll
    for (int i = 0; i < X_TIMES; ++i) {
      const int r = tid / 8 + i * (NT / 8);
      if (X_ROWS * 8 % NT != 0 && r >= X_ROWS) break;
      const int kk = kt * SLAB + (WK > 1 ? r / OUTER * 64 : 0) + tid % 8 * 8;
PIECE
      x_copy8(x_stage + slot * X_BYTES + r * 128 +
                  (((tid % 8) ^ (r & 7)) << 4),
              from, there);
    }
  };
)",
      {{"PREPARE", prepare},
       {"PIECE", piece},
       {"x_", absl::StrCat(x, "_")},
       {"X_", x == "a" ? "A_" : "B_"},
       {"OUTER", absl::StrCat(rows)}});
}

std::string InnerLoader(const std::string& x, const OperandRun& run,
                        int64_t size, int64_t k, int outer) {
  const std::string index = x == "a" ? "mm" : "nn";
  const std::string first = x == "a" ? "m0" : "n0";
  const std::string prepare = absl::StrReplaceAll(
      R"(  int x_from[X_TIMES];
#pragma unroll
  for (int i = 0; i < X_TIMES; ++i) {
    const int r = tid / 8 + i * (NT / 8);
    const int INDEX = FIRST + r % OUTER;
    x_from[i] = INDEX < SIZE && r < X_ROWS ? OFFSET : -1;
  })",
      {{"INDEX", index},
       {"FIRST", first},
       {"OUTER", absl::StrCat(outer)},
       {"SIZE", absl::StrCat(size)},
       {"OFFSET", run.offset},
       {"x_", absl::StrCat(x, "_")},
       {"X_", x == "a" ? "A_" : "B_"}});
  const std::string piece = absl::StrReplaceAll(
      R"(      const int there = x_from[i] >= 0 ? KSIZE - kk : 0;
      const void* from = POINTER + (there > 0 ? x_from[i] + kk : 0);)",
      {{"x_", absl::StrCat(x, "_")},
       {"KSIZE", absl::StrCat(k)},
       {"POINTER", run.pointer}});
  return RowLoader(x, outer, prepare, piece);
}

std::string WindowLoader(const Product& p, int outer) {
  const WindowRun& g = p.window;
  const bool taps = g.kernel[0] * g.kernel[1] > 1;
  const std::string prepare = absl::StrReplaceAll(
      R"(  int a_from[A_TIMES], a_y[A_TIMES], a_x[A_TIMES];
#pragma unroll
  for (int i = 0; i < A_TIMES; ++i) {
    const int r = tid / 8 + i * (NT / 8);
    const int mm = m0 + r % TM, place = mm % PLACES;
    const bool there = mm < SIZE && r < A_ROWS;
    // Far outside of the image where there is no such place.
    a_y[i] = there ? place / OUT_X * STRIDE_Y - PAD_Y : -(1 << 28);
    a_x[i] = place % OUT_X * STRIDE_X - PAD_X;
    a_from[i] = there ? BASE + mm / PLACES * STEP_N + zb * STEP_G +
                            a_y[i] * STEP_Y + a_x[i] * STEP_X
                      : 0;
  })",
      {{"TM", absl::StrCat(outer)},
       {"PLACES", absl::StrCat(g.out[0] * g.out[1])},
       {"SIZE", absl::StrCat(p.m)},
       {"BASE", absl::StrCat(g.offset)},
       {"STEP_N", absl::StrCat(g.step_n)},
       {"STEP_G", absl::StrCat(g.step_group)},
       {"OUT_X", absl::StrCat(g.out[1])},
       {"STRIDE_Y", absl::StrCat(g.stride[0])},
       {"STRIDE_X", absl::StrCat(g.stride[1])},
       {"PAD_Y", absl::StrCat(g.pad[0])},
       {"PAD_X", absl::StrCat(g.pad[1])},
       {"STEP_Y", absl::StrCat(g.step[0])},
       {"STEP_X", absl::StrCat(g.step[1])}});
  const std::string tap =
      taps ? absl::StrFormat(
                 "      const int tap = kk / %d, cc = kk %% %d, dy = tap / %d "
                 "* %d, dx = tap %% %d * %d;\n",
                 g.channels, g.channels, g.kernel[1], g.dilation[0],
                 g.kernel[1], g.dilation[1])
           : "      const int cc = kk, dy = 0, dx = 0;\n";
  const std::string inside = IsPadded(g)
                                 ? absl::StrFormat(
                                       "(unsigned)(a_y[i] + dy) < %du && "
                                       "(unsigned)(a_x[i] + dx) < %du",
                                       g.in[0], g.in[1])
                                 : "a_y[i] >= 0";
  const std::string piece = absl::StrFormat(
      "%s      const int there = kk < %d && %s ? 8 : 0;\n"
      "      const void* from = %s +\n"
      "          (there > 0 ? a_from[i] + (dy * %d + dx * %d + cc) : 0);",
      tap, p.k, inside, p.a.pointer, g.step[0], g.step[1]);
  return RowLoader("a", outer, prepare, piece);
}

// Rows of b along n, 64 of them for each step of k.
std::string ColumnLoader(const OperandRun& run, int64_t n, int64_t k) {
  return absl::StrReplaceAll(
      R"(
  enum { B_PIECES = SLAB * (TN / 8), B_TIMES = (B_PIECES + NT - 1) / NT };
  auto b_load = [&](int slot, int kt) {
#pragma unroll
    for (int i = 0; i < B_TIMES; ++i) {
      const int c = tid + i * NT;
      if (B_PIECES % NT != 0 && c >= B_PIECES) break;
      const int col = c % (TN / 8), r = c / (TN / 8);
      const int kk = kt * SLAB + r, at = n0 + col * 8;
      const int there = kk < KSIZE ? NSIZE - at : 0;
      b_copy8(b_stage + slot * B_BYTES + r / 64 * (TN * 128) +
                  col / 8 * 8192 + r % 64 * 128 +
                  (((col % 8) ^ (r & 7)) << 4),
              POINTER + (there > 0 ? OFFSET + at : 0), there);
    }
  };
)",
      {{"KSIZE", absl::StrCat(k)},
       {"NSIZE", absl::StrCat(n)},
       {"OFFSET", run.offset},
       {"POINTER", run.pointer}});
}

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32;
  const int warp = __shfl_sync(0xffffffffu, tid / 32, 0);
  const int wm = warp / 4 % WM, wk = warp / 4 / WM;
  const int m0 = blockIdx.x * TM, n0 = blockIdx.y * TN;
  const int zb = blockIdx.z / SPLIT, part = blockIdx.z % SPLIT;
  const iso_u32 start = (iso_shared(memory) + 1023) & ~1023u;
  const iso_u32 a_stage = start, b_stage = start + STAGES * A_BYTES;
  enum { STEPS = (K + SLAB - 1) / SLAB, EACH = (STEPS + SPLIT - 1) / SPLIT };
  const int first = part * EACH;
  const int count = first + EACH < STEPS ? EACH : STEPS - first;
LOADERS
  float d[ROWS / 64][TN / 2];
#pragma unroll
  for (int i = 0; i < ROWS / 64; ++i) {
#pragma unroll
    for (int j = 0; j < TN / 2; ++j) d[i][j] = 0;
  }
#pragma unroll
  for (int s = 0; s < STAGES - 2; ++s) {
    if (B_FIRST && s < count) b_load(s, first + s);
  }
  if (!ALL_READY) iso_wait();
#pragma unroll
  for (int s = 0; s < STAGES - 2; ++s) {
    if (s < count) {
      if (!B_FIRST) b_load(s, first + s);
      a_load(s, first + s);
    }
    iso_commit();
  }
  if (ALL_READY) iso_wait();
  // Where this warpgroup's part of stage 0 lies.
  const iso_u64 a_first =
      iso_tile(a_stage + wk * (TM * 128) + wm * (ROWS * 128), false);
  const iso_u64 b_first = iso_tile(b_stage + wk * (TN * 128), B_ALONG_N);
  int slot = 0, next = STAGES - 2;
  for (int t = 0; t < count; ++t) {
    iso_arrived<STAGES - 3>();
    iso_publish();
    __syncthreads();
    iso_multiply_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int i = 0; i < ROWS / 64; ++i) {
        iso_multiply(d[i], a_first + slot * (A_BYTES / 16) + i * 512 + k * 2,
                     b_first + slot * (B_BYTES / 16) +
                         k * (B_ALONG_N ? 128 : 2));
      }
    }
    iso_multiply_commit();
    // The slot of two steps ago: all have multiplied that.
    if (t + STAGES - 2 < count) {
      b_load(next, first + t + STAGES - 2);
      a_load(next, first + t + STAGES - 2);
    }
    iso_commit();
    iso_multiplied<1>();
    slot = slot + 1 == STAGES ? 0 : slot + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
  iso_multiplied<0>();
  iso_arrived<0>();
#pragma unroll
  for (int i = 0; i < ROWS / 64; ++i) {
#pragma unroll
    for (int j = 0; j < TN / 2; ++j) asm volatile("" : "+f"(d[i][j])::"memory");
  }
  __syncthreads();
  float* sums = (float*)(memory + (start - iso_shared(memory)));
#pragma unroll
  for (int i = 0; i < ROWS / 64; ++i) {
#pragma unroll
    for (int j = 0; j < TN / 8; ++j) {
      float* at = sums + (wk * TM + wm * ROWS + i * 64 + warp % 4 * 16 +
                          lane / 4) * PITCH + j * 8 + lane % 4 * 2;
      *(float2*)at = make_float2(d[i][j * 4], d[i][j * 4 + 1]);
      *(float2*)(at + 8 * PITCH) =
          make_float2(d[i][j * 4 + 2], d[i][j * 4 + 3]);
    }
  }
STORE
)";

// Microseconds, roughly: as often as blocks have to wait for a place, a block's
// way along k and to the results.
double Guess(const Product& p, const WarpgroupTiling& t, int units) {
  const int64_t blocks = CeilDiv(p.m, int64_t{t.tm}) *
                         CeilDiv(p.n, int64_t{t.tn}) * p.batch * t.split;
  const double steps = std::ceil(
      static_cast<double>(CeilDiv(p.k, int64_t{kStep * t.wk})) / t.split);
  const int fit = std::min(
      {kWarpgroupShared / SharedBytes(t), kRegisters / (t.threads() * 168), 3});
  const auto [busy, waves] = OccupancyOf(blocks, t.split, fit, units);
  const double math = 2.0 * t.tm * t.tn * kStep * t.wk / 5.5e6;
  const double bytes = 2.0 * (t.tm + t.tn) * kStep * t.wk;
  const double step =
      std::max({math * busy, bytes * busy / 45e3, 0.7 / (t.stages - 2)});
  const double results = 4.0 * t.wk * t.tm * t.tn * busy / 200e3;
  const double sharing =
      t.split > 1 ? 1 + t.split * (0.25 + results / busy) : 0;
  return waves * (1.2 + steps * step + results) + sharing;
}

}  // namespace

std::string WarpgroupTiling::ToString() const {
  return absl::StrFormat("wg %dx%d %dx%d s%d z%d", tm, tn, wm, wk, stages,
                         split);
}

std::vector<WarpgroupTiling> WarpgroupTilings(const Product& p, int units) {
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16) return {};
  if (p.a.run != Run::kInner && p.a.run != Run::kWindow) return {};
  if (p.b.run == Run::kNone || p.depthwise || p.m * p.n * p.k == 0) return {};
  // A stage for every step of a block: all are asked for before any is
  // multiplied.
  constexpr int kAll = 0;
  static constexpr WarpgroupTiling kShapes[] = {
      {256, 128, 2, 1, 4}, {128, 256, 2, 1, 4},  {128, 192, 2, 1, 4},
      {128, 128, 2, 1, 3}, {128, 128, 2, 1, 6},  {128, 96, 2, 1, 4},
      {256, 64, 2, 1, 4},  {128, 64, 2, 1, 4},   {128, 32, 2, 1, 4},
      {64, 128, 1, 1, 4},  {64, 128, 1, 2, 4},   {64, 64, 1, 1, 6},
      {64, 64, 1, 2, 4},   {64, 64, 1, 4, 3},    {64, 32, 1, 2, 4},
      {64, 32, 1, 4, 3},   {64, 16, 1, 4, 4},    {64, 96, 1, 2, 4},
      {64, 192, 1, 1, 4},  {64, 64, 1, 1, kAll}, {64, 32, 1, 1, kAll},
  };
  Guesses<WarpgroupTiling> found;
  for (const WarpgroupTiling& shape : kShapes) {
    WarpgroupTiling t = shape;
    if (p.b.run == Run::kOuter && t.tn % kStep != 0) continue;
    if (t.tn > 64 && t.tn >= 2 * p.n) continue;
    if (t.tm > 64 && t.tm >= 2 * p.m) continue;
    for (int split : {1, 2, 4, 8}) {
      t.split = split;
      const int64_t steps = CeilDiv(p.k, int64_t{kStep * t.wk});
      if (t.wk > 1 && p.k <= kStep * t.wk / 2) continue;
      // Each block has steps of its own.
      const int64_t each = CeilDiv(steps, int64_t{split});
      if (CeilDiv(steps, each) != split) continue;
      if (shape.stages == kAll) {
        if (each <= kFewSteps || each > kManySteps) continue;
        t.stages = static_cast<int>(each) + 2;
      }
      if (SharedBytes(t) > kWarpgroupShared) continue;
      found.push_back({Guess(p, t, units), t});
    }
  }
  return Likeliest(std::move(found));
}

absl::StatusOr<KernelSource> WarpgroupProduct(const ProductCall& call,
                                              const Product& p,
                                              const WarpgroupTiling& t) {
  const int width = StoreWidth(p, t.split);
  const bool along_n = p.b.run == Run::kOuter;
  const Ready ready = ReadyOf(call, p);
  ASSIGN_OR_RETURN(const StoreCode store, StoreText(call, p, width));
  std::string loaders = p.a.run == Run::kWindow
                            ? WindowLoader(p, t.tm)
                            : InnerLoader("a", p.a, p.m, p.k, t.tm);
  loaders += p.b.run == Run::kInner ? InnerLoader("b", p.b, p.n, p.k, t.tn)
                                    : ColumnLoader(p.b, p.n, p.k);
  const std::string text = absl::StrReplaceAll(
      kBody, {{"LOADERS", loaders}, {"STORE", store.store}});
  const std::string defines = absl::StrFormat(
      "enum { TM = %d, TN = %d, WM = %d, WK = %d, STAGES = %d, SPLIT = %d,\n"
      "       NT = %d, ROWS = TM / WM, SLAB = 64 * WK, A_BYTES = TM * SLAB * "
      "2,\n"
      "       B_BYTES = TN * SLAB * 2, PITCH = TN + %d, WIDTH = %d,\n"
      "       B_FIRST = %d, ALL_READY = %d, B_ALONG_N = %d };\n"
      "enum : long long { M = %d, N = %d, K = %d };\n",
      t.tm, t.tn, t.wm, t.wk, t.stages, t.split, t.threads(), kPitch, width,
      ready.b && !ready.a, ready.a && ready.b, along_n ? 1 : 0, p.m, p.n, p.k);
  KernelSource out;
  out.text = KernelText(
      {.inputs = call.inputs,
       .outputs = call.outputs,
       .helpers = absl::StrCat(TileHelpers(), WarpgroupHelpers(),
                               WarpgroupMultiply("iso_multiply", p.dtype, t.tn,
                                                 {.b_along_n = along_n}),
                               CopyNames(call, p, t.tm), defines),
       .threads = t.threads(),
       .blocks = 1},
      text);
  out.grid = {static_cast<int>(CeilDiv(p.m, int64_t{t.tm})),
              static_cast<int>(CeilDiv(p.n, int64_t{t.tn})),
              static_cast<int>(p.batch) * t.split};
  out.block = t.threads();
  out.shared_bytes = SharedBytes(t);
  out.cluster = t.split;
  out.apart = true;
  return out;
}

}  // namespace isomer::cuda

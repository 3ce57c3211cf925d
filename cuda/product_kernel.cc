// Source text, with sizes as constants.
#include "cuda/product_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kPad = 8;  // elements after each row, against bank conflicts
constexpr size_t kMostTilings = 8;

int StageElements(const Product& p, const Tiling& t, int operand) {
  const int outer = operand == 0 ? t.tm : t.tn, inner = t.bk * t.wk;
  const Run run = operand == 0 ? p.a.run : p.b.run;
  return run == Run::kOuter ? inner * (outer + kPad) : outer * (inner + kPad);
}

int PipelineBytes(const Product& p, const Tiling& t) {
  return 2 * t.stages * (StageElements(p, t, 0) + StageElements(p, t, 1));
}

// Rows so few that one block of a cluster adds the sums of all of them up.
bool HasFewRows(const Product& p, const Tiling& t) {
  return t.split > 1 && p.m <= 8 &&
         p.m * t.tn <= StoreWidth(p, t.split) * t.threads();
}

// Where sums that are given are counted: behind them.
int BarAt(const Product& p, const Tiling& t) {
  return PipelineBytes(p, t) +
         4 * t.split * t.wk * static_cast<int>(p.m) * (t.tn + 8);
}

int SharedBytes(const Product& p, const Tiling& t) {
  const int pipeline = PipelineBytes(p, t), width = t.tn + 8;
  // It is given them while it still multiplies.
  if (HasFewRows(p, t)) return BarAt(p, t) + kBarBytes;
  return std::max(pipeline, 4 * t.wk * t.tm * width);
}

// Copies of step kt of operand X to stage `slot`.
std::string InnerLoader(const std::string& x, const OperandRun& run,
                        const std::string& index, const std::string& first,
                        int64_t size, int64_t k, int outer) {
  return absl::StrReplaceAll(
      R"(
  enum { X_CHUNKS = X_OUTER * (SLAB / 8), X_TIMES = (X_CHUNKS + NT - 1) / NT };
  int x_from[X_TIMES];
#pragma unroll
  for (int i = 0; i < X_TIMES; ++i) {
    const int c = tid + i * NT;
    const int INDEX = FIRST + c / (SLAB / 8);
    x_from[i] = INDEX < SIZE && c < X_CHUNKS
        ? OFFSET + c % (SLAB / 8) * 8 : -1;
  }
  auto x_load = [&](int slot, int kt) {
#pragma unroll
    for (int i = 0; i < X_TIMES; ++i) {
      const int c = tid + i * NT;
      if (X_CHUNKS % NT != 0 && c >= X_CHUNKS) break;
      const int there =
          x_from[i] >= 0 ? KSIZE - (kt * SLAB + c % (SLAB / 8) * 8) : 0;
      x_copy8(x_stage + 2 * (slot * X_STAGE + c / (SLAB / 8) * (SLAB + PAD) +
                             c % (SLAB / 8) * 8),
              POINTER + (there > 0 ? x_from[i] + kt * SLAB : 0), there);
    }
  };
)",
      {{"x_", absl::StrCat(x, "_")},
       {"X_", absl::StrCat(x == "a" ? "A_" : "B_")},
       {"X_OUTER", absl::StrCat(outer)},
       {"INDEX", index},
       {"FIRST", first},
       {"KSIZE", absl::StrCat(k)},
       {"SIZE", absl::StrCat(size)},
       {"OFFSET", run.offset},
       {"POINTER", run.pointer}});
}

std::string OuterLoader(const std::string& x, const OperandRun& run,
                        const std::string& first, int64_t size, int64_t k,
                        int outer) {
  return absl::StrReplaceAll(
      R"(
  enum { X_CHUNKS = SLAB * (X_OUTER / 8), X_TIMES = (X_CHUNKS + NT - 1) / NT };
  auto x_load = [&](int slot, int kt) {
#pragma unroll
    for (int i = 0; i < X_TIMES; ++i) {
      const int c = tid + i * NT;
      if (X_CHUNKS % NT != 0 && c >= X_CHUNKS) break;
      const int kk = kt * SLAB + c / (X_OUTER / 8);
      const int at = FIRST + c % (X_OUTER / 8) * 8;
      const int there = kk < KSIZE ? SIZE - at : 0;
      x_copy8(x_stage + 2 * (slot * X_STAGE +
                             c / (X_OUTER / 8) * (X_OUTER + PAD) +
                             c % (X_OUTER / 8) * 8),
              POINTER + (there > 0 ? OFFSET + at : 0), there);
    }
  };
)",
      {{"x_", absl::StrCat(x, "_")},
       {"X_", absl::StrCat(x == "a" ? "A_" : "B_")},
       {"X_OUTER", absl::StrCat(outer)},
       {"FIRST", first},
       {"KSIZE", absl::StrCat(k)},
       {"SIZE", absl::StrCat(size)},
       {"OFFSET", run.offset},
       {"POINTER", run.pointer}});
}

std::string WindowLoader(const Product& p, int outer) {
  const WindowRun& g = p.window;
  const bool taps = g.kernel[0] * g.kernel[1] > 1;
  const std::string tap =
      taps ? absl::StrFormat(
                 "const int tap = kk / %d, cc = kk %% %d, y = a_y[i] + tap / "
                 "%d * %d, x = a_x[i] + tap %% %d * %d;\n",
                 g.channels, g.channels, g.kernel[1], g.dilation[0],
                 g.kernel[1], g.dilation[1])
           : "const int cc = kk, y = a_y[i], x = a_x[i];\n";
  const std::string inside =
      IsPadded(g) ? absl::StrFormat("(unsigned)y < %du && (unsigned)x < %du",
                                    g.in[0], g.in[1])
                  : "true";
  return absl::StrReplaceAll(
      R"(
  enum { A_CHUNKS = TM * (SLAB / 8), A_TIMES = (A_CHUNKS + NT - 1) / NT };
  int a_from[A_TIMES], a_y[A_TIMES], a_x[A_TIMES];
#pragma unroll
  for (int i = 0; i < A_TIMES; ++i) {
    const int c = tid + i * NT;
    const int mm = m0 + c / (SLAB / 8);
    const int place = mm % PLACES;
    a_from[i] = mm < SIZE && c < A_CHUNKS
        ? BASE + mm / PLACES * STEP_N + zb * STEP_G : -1;
    a_y[i] = place / OUT_X * STRIDE_Y - PAD_Y;
    a_x[i] = place % OUT_X * STRIDE_X - PAD_X;
  }
  auto a_load = [&](int slot, int kt) {
#pragma unroll
    for (int i = 0; i < A_TIMES; ++i) {
      const int c = tid + i * NT;
      if (A_CHUNKS % NT != 0 && c >= A_CHUNKS) break;
      const int kk = kt * SLAB + c % (SLAB / 8) * 8;
      TAP
      const bool there = a_from[i] >= 0 && kk < KSIZE && INSIDE;
      a_copy8(a_stage + 2 * (slot * A_STAGE + c / (SLAB / 8) * (SLAB + PAD) +
                             c % (SLAB / 8) * 8),
              POINTER + (there ? a_from[i] + y * STEP_Y + x * STEP_X + cc : 0),
              there ? 8 : 0);
    }
  };
)",
      {{"PLACES", absl::StrCat(g.out[0] * g.out[1])},
       {"KSIZE", absl::StrCat(p.k)},
       {"SIZE", absl::StrCat(p.m)},
       {"TM", absl::StrCat(outer)},
       {"BASE", absl::StrCat(g.offset)},
       {"STEP_N", absl::StrCat(g.step_n)},
       {"STEP_G", absl::StrCat(g.step_group)},
       {"OUT_X", absl::StrCat(g.out[1])},
       {"STRIDE_Y", absl::StrCat(g.stride[0])},
       {"STRIDE_X", absl::StrCat(g.stride[1])},
       {"PAD_Y", absl::StrCat(g.pad[0])},
       {"PAD_X", absl::StrCat(g.pad[1])},
       {"STEP_Y", absl::StrCat(g.step[0])},
       {"STEP_X", absl::StrCat(g.step[1])},
       {"TAP", tap},
       {"INSIDE", inside},
       {"POINTER", p.a.pointer}});
}

// Fragments of one step of k from shared memory.
std::string Fragments(const Product& p) {
  const bool a_outer = p.a.run == Run::kOuter, b_outer = p.b.run == Run::kOuter;
  const char* a = a_outer ? R"(
        iso_matrix4_t(fa[i], a_now + 2 * ((k0 + (lane & 7) + (lane >> 4) * 8) *
            (TM + PAD) + wm * WTM + i * 16 + ((lane >> 3) & 1) * 8));)"
                          : R"(
        iso_matrix4(fa[i], a_now + 2 * ((wm * WTM + i * 16 + (lane & 15)) *
            (SLAB + PAD) + k0 + (lane >> 4) * 8));)";
  const char* b = b_outer ? R"(
        iso_matrix4_t(fb[j], b_now + 2 * ((k0 + (lane & 15)) * (TN + PAD) +
            wn * WTN + j * 16 + (lane >> 4) * 8));)"
                          : R"(
        iso_matrix4(fb[j], b_now + 2 * ((wn * WTN + j * 16 + (lane & 7) +
            (lane >> 4) * 8) * (SLAB + PAD) + k0 + ((lane >> 3) & 1) * 8));)";
  return absl::StrCat("      for (int i = 0; i < WTM / 16; ++i) {", a,
                      "\n      }\n#pragma unroll\n"
                      "      for (int j = 0; j < WTN / 16; ++j) {",
                      b, "\n      }\n");
}

constexpr char kFastBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int wk = warp / (WM * WN), wm = warp / WN % WM, wn = warp % WN;
  const int m0 = blockIdx.x * TM, n0 = blockIdx.y * TN;
  const int zb = blockIdx.z / SPLIT, part = blockIdx.z % SPLIT;
  const iso_u32 a_stage = iso_shared(memory);
  const iso_u32 b_stage = a_stage + 2 * STAGES * A_STAGE;
  enum { STEPS = (K + SLAB - 1) / SLAB, EACH = (STEPS + SPLIT - 1) / SPLIT };
  const int first = part * EACH;
  const int count = first + EACH < STEPS ? EACH : STEPS - first;
LOADERS
  float c[WTM / 16][WTN / 8][4] = {};
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (B_FIRST && s < count) b_load(s, first + s);
  }
  // Sums are given to blocks that have started.
  const iso_u32 bar = a_stage + BAR_AT;
  if (FEW > 0) {
    if (tid == 0 && part == 0) iso_expect(bar, 4 * SPLIT * WK * FEW * TN);
    iso_cluster_arrive();
  }
  if (!ALL_READY) iso_wait();
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < count) {
      if (!B_FIRST) b_load(s, first + s);
      a_load(s, first + s);
    }
    iso_commit();
  }
  if (ALL_READY) iso_wait();
READS
  int slot = 0, next = STAGES - 1;
  for (int t = 0; t < count; ++t) {
    iso_arrived<STAGES - 2>();
    __syncthreads();
    if (t + STAGES - 1 < count) {
      b_load(next, first + t + STAGES - 1);
      a_load(next, first + t + STAGES - 1);
    }
    iso_commit();
    const iso_u32 a_now = a_stage + 2 * slot * A_STAGE;
    const iso_u32 b_now = b_stage + 2 * slot * B_STAGE;
#pragma unroll
    for (int kb = 0; kb < BK; kb += 16) {
      const int k0 = wk * BK + kb;
      iso_u32 fa[WTM / 16][4], fb[WTN / 16][4];
#pragma unroll
FRAGMENTS
#pragma unroll
      for (int i = 0; i < WTM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WTN / 8; ++j) {
          iso_mma(c[i][j], fa[i], fb[j / 2] + j % 2 * 2);
        }
      }
    }
    slot = slot + 1 == STAGES ? 0 : slot + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
  iso_arrived<0>();
  __syncthreads();
SUMS
STORE
)";

// All of a block's sums, and those of few rows, for the first block.
constexpr char kOwnSums[] = R"(
  float* sums = (float*)memory;
#pragma unroll
  for (int i = 0; i < WTM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WTN / 8; ++j) {
      float* at = sums + (wk * TM + wm * WTM + i * 16 + lane / 4) * PITCH +
                  wn * WTN + j * 8 + lane % 4 * 2;
      *(float2*)at = make_float2(c[i][j][0], c[i][j][1]);
      *(float2*)(at + 8 * PITCH) = make_float2(c[i][j][2], c[i][j][3]);
    }
  }
)";
constexpr char kGivenSums[] = R"(
  float* sums = (float*)(memory + GIVEN_AT);
  iso_cluster_wait();
  if (wm == 0 && lane / 4 < FEW) {
#pragma unroll
    for (int j = 0; j < WTN / 8; ++j) {
      float* at = sums + ((part * WK + wk) * FEW + lane / 4) * PITCH +
                  wn * WTN + j * 8 + lane % 4 * 2;
      iso_give2<SPLIT>(at, 0, c[0][j][0], c[0][j][1], bar);
    }
  }
)";

}  // namespace

std::string Tiling::ToString() const {
  return absl::StrFormat("%dx%d k%d %dx%dx%d s%d z%d", tm, tn, bk, wm, wn, wk,
                         stages, split);
}

std::vector<Tiling> Tilings(const Product& p, int units) {
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16) return {};
  if (p.a.run == Run::kNone || p.b.run == Run::kNone || p.depthwise) return {};
  if (p.m * p.n * p.k == 0) return {};
  static constexpr Tiling kShapes[] = {
      {128, 128, 32, 2, 4, 1, 4}, {128, 128, 64, 2, 4, 1, 3},
      {128, 64, 32, 4, 2, 1, 4},  {64, 128, 32, 2, 4, 1, 4},
      {64, 64, 32, 2, 2, 1, 4},   {64, 64, 32, 2, 2, 2, 4},
      {64, 64, 32, 2, 2, 4, 3},   {64, 32, 32, 2, 1, 4, 4},
      {64, 32, 32, 2, 1, 8, 3},   {32, 64, 32, 1, 2, 4, 4},
      {32, 64, 32, 1, 2, 8, 3},   {32, 32, 32, 1, 1, 4, 4},
      {32, 32, 32, 1, 1, 8, 3},   {16, 64, 32, 1, 2, 4, 4},
      {16, 64, 32, 1, 2, 8, 3},   {16, 32, 32, 1, 1, 8, 3},
      {16, 32, 32, 1, 1, 16, 3},  {16, 128, 32, 1, 4, 2, 4},
      {16, 16, 64, 1, 1, 8, 2},   {64, 16, 32, 2, 1, 8, 3},
      {16, 64, 32, 1, 2, 4, 8},   {16, 32, 32, 1, 1, 8, 6},
      {16, 64, 32, 1, 2, 4, 6},
  };
  Guesses<Tiling> found;
  for (Tiling t : kShapes) {
    for (int split : {1, 2, 4, 8}) {
      t.split = split;
      const int64_t steps = CeilDiv(p.k, int64_t{t.bk * t.wk});
      if (split > 1 && steps < 2 * split) continue;
      if (t.wk > 1 && p.k <= t.bk * t.wk / 2) continue;
      if (t.tn == 16 && t.wn * 16 > t.tn) continue;
      const int shared = SharedBytes(p, t);
      if (shared > kWarpShared) continue;
      const int64_t blocks = CeilDiv(p.m, int64_t{t.tm}) *
                             CeilDiv(p.n, int64_t{t.tn}) * p.batch * split;
      // Microseconds, roughly: a block's way along k and to its results, as
      // often as blocks have to wait for a place. The numbers were fitted to
      // what was the fastest of 200 products, which is among the first eight
      // for 94 of 100 of them.
      const int fit = std::max(
          1, std::min({kWarpShared / shared, 2048 / t.threads() / 2, 4}));
      const double waves =
          std::ceil(static_cast<double>(blocks) / (units * fit));
      const double bytes = 2.0 * (t.tm + t.tn) * t.bk * t.wk;
      const double math = 2.0 * t.tm * t.tn * t.bk * t.wk / 1.57e6;
      const double busy =
          std::min<double>(fit, std::ceil(static_cast<double>(blocks) / units));
      const double step = std::max({bytes * busy / 59e3, math * busy, 0.0023});
      const double results = 1.49e-5 * t.tm * t.tn * t.wk * busy;
      const double each = std::ceil(static_cast<double>(steps) / split);
      const double time = waves * (0.033 + each * step + results) +
                          (split > 1 ? 0.86 + 0.3 * split : 0) + 0.0037 * t.wk;
      found.push_back({time, t});
    }
  }
  return Likeliest(std::move(found), kMostTilings,
                   std::numeric_limits<double>::infinity());
}

absl::StatusOr<KernelSource> TiledProduct(const ProductCall& call,
                                          const Product& p, const Tiling& t) {
  const int width = StoreWidth(p, t.split);
  const bool few = HasFewRows(p, t);
  const bool once = few || t.tm * t.tn / width <= t.threads() * t.split;
  ASSIGN_OR_RETURN(const StoreCode store,
                   StoreText(call, p, width, {once, few}));
  const int slab = t.bk * t.wk;
  const Ready ready = ReadyOf(call, p);
  std::string loaders;
  if (p.a.run == Run::kWindow) {
    loaders = WindowLoader(p, t.tm);
  } else if (p.a.run == Run::kInner) {
    loaders = InnerLoader("a", p.a, "mm", "m0", p.m, p.k, t.tm);
  } else {
    loaders = OuterLoader("a", p.a, "m0", p.m, p.k, t.tm);
  }
  loaders += p.b.run == Run::kInner
                 ? InnerLoader("b", p.b, "nn", "n0", p.n, p.k, t.tn)
                 : OuterLoader("b", p.b, "n0", p.n, p.k, t.tn);
  std::string text =
      absl::StrReplaceAll(kFastBody, {{"LOADERS", loaders},
                                      {"READS", store.reads},
                                      {"FRAGMENTS", Fragments(p)},
                                      {"SUMS", few ? kGivenSums : kOwnSums},
                                      {"STORE", store.store}});
  std::string defines = absl::StrFormat(
      "enum { TM = %d, TN = %d, BK = %d, WM = %d, WN = %d, WK = %d,\n"
      "       STAGES = %d, SPLIT = %d, SLAB = %d, PAD = %d, NT = %d,\n"
      "       WTM = TM / WM, WTN = TN / WN, A_STAGE = %d, B_STAGE = %d,\n"
      "       WIDTH = %d, B_FIRST = %d, ALL_READY = %d, FEW = %d,\n"
      "       GIVEN_AT = %d, BAR_AT = %d, PITCH = TN + 8 };\n"
      "enum : long long { M = %d, N = %d, K = %d };\n",
      t.tm, t.tn, t.bk, t.wm, t.wn, t.wk, t.stages, t.split, slab, kPad,
      t.threads(), StageElements(p, t, 0), StageElements(p, t, 1), width,
      ready.b && !ready.a, ready.a && ready.b, few ? p.m : 0,
      PipelineBytes(p, t), few ? BarAt(p, t) : 0, p.m, p.n, p.k);
  KernelSource out =
      WarpKernel(call, p, absl::StrCat(CopyNames(call, p, t.tm), defines),
                 t.threads(), text);
  out.grid = {static_cast<int>(CeilDiv(p.m, int64_t{t.tm})),
              static_cast<int>(CeilDiv(p.n, int64_t{t.tn})),
              static_cast<int>(p.batch) * t.split};
  out.shared_bytes = SharedBytes(p, t);
  out.cluster = t.split;
  out.apart = true;
  return out;
}

}  // namespace isomer::cuda

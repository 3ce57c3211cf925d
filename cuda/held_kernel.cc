// Source text, with sizes as constants.
#include "cuda/held_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "graph/move_bytes.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kPanel = 16;    // rows and columns of what a thread reads of
constexpr int kPad = 8;       // elements after each row, against bank conflicts
constexpr int kPitch = 4;     // floats after each row of sums
constexpr int kMaxRows = 16;  // of a multiplication
constexpr int kMaxRegisters = 64;  // of each thread, for b
constexpr size_t kMostTilings = 3;

bool IsFloats(const Product& p) { return p.dtype == DType::kF32; }

// Multiplications of a warp along k; those of a thread, of f32.
int64_t Depth(const Product& p, const HeldTiling& t) {
  return IsFloats(p) ? CeilDiv(p.k, int64_t{t.threads() / (t.tn / 4)})
                     : p.k / (16 * t.wk);
}

// Registers of a thread for b.
int64_t Held(const Product& p, const HeldTiling& t) {
  return Depth(p, t) * (IsFloats(p) ? 4 : t.tn / 4);
}

int64_t ColumnBytes(const Product& p, const HeldTiling& t) {
  return t.panels || IsFloats(p) ? 0 : 2 * p.k * (t.tn + kPad);
}

int64_t BlockBytes(const Product& p, const HeldTiling& t) {
  return ColumnBytes(p, t) + 4 * t.wk * p.m * (t.tn + kPitch);
}

bool Fits(const Product& p, const HeldTiling& t, int units) {
  return (IsFloats(p) || p.k % (16 * t.wk) == 0) &&
         Held(p, t) <= kMaxRegisters && p.m * t.tn <= t.threads() &&
         BlockBytes(p, t) <= kWarpShared &&
         CeilDiv(p.n, int64_t{t.tn}) <= 2 * units;
}

// Blocks that a multiprocessor has room for if their threads keep all of b. The
// compiler is told: left alone it takes fewer registers for some products, and
// asks for b in several turns.
int Fit(const Product& p, const HeldTiling& t) {
  const int64_t rows = IsFloats(p) ? Depth(p, t) * p.m : 0;
  const int64_t registers = t.threads() * (Held(p, t) + rows + 40);
  return static_cast<int>(std::max<int64_t>(kRegisters / registers, 1));
}

// True if the columns of b lie side by side, and nothing else with them.
bool IsDense(const Product& p) {
  return p.b.steps && (*p.b.steps)[1] == 1 && (*p.b.steps)[2] == p.n &&
         (*p.b.steps)[3] == 0;
}

// Loads that may come by the way for what is never written, ld.global.nc, would
// be put off until the kernel before has ended.
constexpr char kHelpers[] = R"(
__device__ __forceinline__ void iso_hold(iso_u32* b, const void* from) {
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
               : "l"(from) : "memory");
}
)";

// Columns come to registers by way of shared memory.
constexpr char kColumns[] = R"(
  iso_u32 b[DEPTH][TN / 16][4];
  const iso_u32 columns = iso_shared(memory);
#pragma unroll 8
  for (int i = tid; i < K * (TN / 8); i += NT) {
    const int kk = i / (TN / 8), at = n0 + i % (TN / 8) * 8, there = N - at;
    iso_copy8(columns + 2 * (kk * (TN + PAD) + i % (TN / 8) * 8), B_ADDRESS,
              there);
  }
  iso_commit();
  iso_arrived<0>();
  __syncthreads();
#pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
    for (int i = 0; i < TN / 16; ++i) {
      iso_matrix4_t(b[d][i], columns + 2 * (((warp * DEPTH + d) * 16 +
          (lane & 7) + (lane >> 4) * 8) * (TN + PAD) + i * 16 +
          (lane >> 3 & 1) * 8));
    }
  }
)";

// Each thread reads what it multiplies.
constexpr char kPanels[] = R"(
  iso_u32 b[DEPTH][TN / 16][4];
  const uint4* panel = (const uint4*)B_POINTER +
      (n0 / 16 * (K / 16) + warp * DEPTH) * 32 + lane;
#pragma unroll
  for (int i = 0; i < TN / 16; ++i) {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      if (N % TN != 0 && n0 + i * 16 >= N) {
        b[d][i][0] = b[d][i][1] = b[d][i][2] = b[d][i][3] = 0;
        continue;
      }
      iso_hold(b[d][i], panel + (i * (K / 16) + d) * 32);
    }
  }
)";

// Columns are the rows of what is multiplied, 16 at a time, by 8 of the
// product's rows: there are few of these.
constexpr char kMultiply[] = R"(
  iso_u32 a[DEPTH][EIGHTS][2];
  float c[TN / 16][EIGHTS][4] = {};
  auto load = [&] {
#pragma unroll
    for (int e = 0; e < EIGHTS; ++e) {
      const int mm = e * 8 + lane / 4;
      const TYPE* from = A_POINTER + (mm < M ? A_OFFSET : 0) +
                         warp * DEPTH * 16 + lane % 4 * 2;
#pragma unroll
      for (int d = 0; d < DEPTH; ++d) {
        a[d][e][0] = mm < M ? *(const iso_u32*)(from + d * 16) : 0;
        a[d][e][1] = mm < M ? *(const iso_u32*)(from + d * 16 + 8) : 0;
      }
    }
  };
  auto multiply = [&] {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
      for (int i = 0; i < TN / 16; ++i) {
#pragma unroll
        for (int e = 0; e < EIGHTS; ++e) iso_mma(c[i][e], b[d][i], a[d][e]);
      }
    }
  };
)";

constexpr char kGive[] = R"(
#pragma unroll
  for (int e = 0; e < EIGHTS; ++e) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int row = e * 8 + lane % 4 * 2 + u;
      if (row >= M) continue;
      float* at = sums + (warp * M + row) * PITCH + lane / 4;
#pragma unroll
      for (int i = 0; i < TN / 16; ++i) {
        at[i * 16] = c[i][e][u];
        at[i * 16 + 8] = c[i][e][2 + u];
      }
    }
  }
)";

// Of f32 a thread holds four columns, of every so many rows of b.
constexpr char kFloats[] = R"(
  enum { QUADS = TN / 4, ROWS = NT / QUADS };
  const int at = n0 + tid % QUADS * 4;
  iso_u32 b[DEPTH][4];
#pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
    const int kk = tid / QUADS + d * ROWS;
    if (kk < K && at < N) {
      iso_hold(b[d], B_POINTER + (size_t)kk * N + at);
    } else {
      b[d][0] = b[d][1] = b[d][2] = b[d][3] = 0;
    }
  }
  float a[DEPTH][M], c[M][4] = {};
  auto load = [&] {
#pragma unroll
    for (int mm = 0; mm < M; ++mm) {
      const float* from = A_POINTER + A_OFFSET;
#pragma unroll
      for (int d = 0; d < DEPTH; ++d) {
        const int kk = tid / QUADS + d * ROWS;
        a[d][mm] = kk < K ? from[kk] : 0;
      }
    }
  };
  auto multiply = [&] {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
      for (int mm = 0; mm < M; ++mm) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          c[mm][i] += a[d][mm] * __uint_as_float(b[d][i]);
        }
      }
    }
  };
)";

// Lanes of the same columns add up theirs.
constexpr char kGiveFloats[] = R"(
#pragma unroll
  for (int row = 0; row < M; ++row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int other = QUADS; other < 32; other *= 2) {
        c[row][i] += __shfl_xor_sync(0xffffffffu, c[row][i], other);
      }
      if (lane < QUADS) sums[(warp * M + row) * PITCH + lane * 4 + i] = c[row][i];
    }
  }
)";

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int n0 = blockIdx.y * TN, zb = 0;
HOLD
  if (A_READY) {
    load();
    multiply();
  }
  iso_wait();
  if (!A_READY) load();
  // The columns that this thread makes results of.
  const int column = tid % TN, mm = tid / TN;
  const int nn = n0 + column / WIDTH * WIDTH, j = nn / WIDTH;
  const bool own = tid < M * TN && column % WIDTH == 0 && nn < N;
READS
  // Once more: the compiler moves nothing across it, so all is asked for before
  // multiplications wait for what comes first.
  iso_release();
  if (!A_READY) multiply();
  float* sums = (float*)(memory + COLUMN_BYTES);
GIVE
  __syncthreads();
  if (warp * 32 >= M * TN) return;
  const int place = tid < M * TN ? tid / TN * PITCH + column : 0;
  float four[4] = {};
#pragma unroll
  for (int w = 0; w < WK; ++w) four[w % 4] += sums[w * M * PITCH + place];
  const float sum = (four[0] + four[1]) + (four[2] + four[3]);
  float acc[WIDTH];
#pragma unroll
  for (int u = 0; u < WIDTH; ++u) {
    acc[u] = __shfl_sync(0xffffffffu, sum, lane / WIDTH * WIDTH + u);
  }
  if (!own) return;
  PACK pack;
COMPUTE
STORE
)";

}  // namespace

std::string HeldTiling::ToString() const {
  return absl::StrFormat("held %d k%d%s", tn, wk, panels ? " panels" : "");
}

std::vector<HeldTiling> HeldTilings(const ProductCall& call, const Product& p,
                                    int units) {
  const bool floats = IsFloats(p);
  if (!floats && p.dtype != DType::kF16 && p.dtype != DType::kBF16) return {};
  if (p.convolution || p.batch != 1 || p.m * p.n * p.k == 0 ||
      p.m > (floats ? kHeldFloatRows : kMaxRows) || !ReadyOf(call, p).b ||
      p.a.run != Run::kInner || !p.a.if_rest.empty() ||
      p.b.run != Run::kOuter || (floats && !IsDense(p))) {
    return {};
  }
  std::vector<HeldTiling> out;
  for (bool panels : {false, true}) {
    if (panels && (floats || p.n % kPanel != 0 || !IsDense(p))) continue;
    Guesses<HeldTiling> found;
    for (int tn : {8, 16, 32, 64}) {
      // Matrices have 16.
      if (tn < 16 && !floats) continue;
      for (int wk : {8, 16}) {
        const HeldTiling t{tn, wk, panels};
        if (!Fits(p, t, units)) continue;
        // Microseconds, roughly: columns come, then a warp goes along k.
        const double waves = static_cast<double>(
            CeilDiv(CeilDiv(p.n, int64_t{tn}), int64_t{units}));
        const double columns =
            static_cast<double>(ByteSize(p.dtype) * p.k * tn) / 50e3;
        const double along = 0.02 * static_cast<double>(Depth(p, t));
        found.push_back({waves * (columns + along), t});
      }
    }
    for (const HeldTiling& t : Fastest(std::move(found), kMostTilings)) {
      out.push_back(t);
    }
  }
  return out;
}

SharedBytes InPanels(const SharedBytes& b, DType dtype, int64_t k, int64_t n) {
  // A thread of a warp is one of 8 columns and one of 4 pairs of rows, twice
  // each way.
  const int64_t rows = k / kPanel, columns = n / kPanel;
  return ir::WithSteps(b, {dtype, {rows, 2, 4, 2, columns, 2, 8}},
                       {256, 4, 8, 1, 256 * rows, 2, 32});
}

absl::StatusOr<KernelSource> HeldProduct(const ProductCall& call,
                                         const Product& p,
                                         const HeldTiling& t) {
  const int stored = StoreWidth(p, 1);
  const int width = p.parts == 1 && IsFloats(p) ? std::min(stored, 4) : stored;
  ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(call, p, width, "own"));
  const std::string hold =
      IsFloats(p) ? kFloats
                  : absl::StrCat(t.panels ? kPanels : kColumns, kMultiply);
  const std::string body = absl::StrReplaceAll(
      kBody, {{"HOLD", hold}, {"GIVE", IsFloats(p) ? kGiveFloats : kGive}});
  const std::string text =
      absl::StrReplaceAll(body, {{"B_ADDRESS", AddressText(p.b)},
                                 {"B_POINTER", p.b.pointer},
                                 {"A_POINTER", p.a.pointer},
                                 {"A_OFFSET", p.a.offset},
                                 {"TYPE", StorageType(p.dtype)},
                                 {"READS", epilogue.reads},
                                 {"PACK", epilogue.type},
                                 {"COMPUTE", epilogue.compute},
                                 {"STORE", epilogue.store}});
  const std::string defines = absl::StrFormat(
      "%senum { TN = %d, WK = %d, NT = %d, DEPTH = %d, WIDTH = %d, PAD = %d,\n"
      "       PITCH = TN + %d, COLUMN_BYTES = %d, A_READY = %d, EIGHTS = %d "
      "};\n"
      "enum : long long { M = %d, N = %d, K = %d };\n",
      kHelpers, t.tn, t.wk, t.threads(), Depth(p, t), width, kPad, kPitch,
      ColumnBytes(p, t), ReadyOf(call, p).a, CeilDiv(p.m, int64_t{8}), p.m, p.n,
      p.k);
  KernelSource out = WarpKernel(call, p, defines, t.threads(), text, Fit(p, t));
  out.grid[1] = static_cast<int>(CeilDiv(p.n, int64_t{t.tn}));
  out.shared_bytes = static_cast<int>(BlockBytes(p, t));
  return out;
}

}  // namespace isomer::cuda

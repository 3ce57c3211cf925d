// Source text, with sizes as constants.
#include "cuda/held_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kPad = 8;       // elements after each row, against bank conflicts
constexpr int kPitch = 4;     // floats after each row of sums
constexpr int kMaxRows = 16;  // of a multiplication
constexpr int kMaxRegisters = 64;  // of each thread, for b
constexpr size_t kMostTilings = 3;

// Multiplications of a warp along k.
int64_t Depth(const Product& p, const HeldTiling& t) {
  return p.k / (16 * t.wk);
}

int64_t ColumnBytes(const Product& p, const HeldTiling& t) {
  return 2 * p.k * (t.tn + kPad);
}

int64_t SharedBytes(const Product& p, const HeldTiling& t) {
  return ColumnBytes(p, t) + 4 * t.wk * p.m * (t.tn + kPitch);
}

bool Fits(const Product& p, const HeldTiling& t, int units) {
  return p.k % (16 * t.wk) == 0 && Depth(p, t) * t.tn / 4 <= kMaxRegisters &&
         p.m * t.tn <= t.threads() && SharedBytes(p, t) <= kWarpShared &&
         CeilDiv(p.n, int64_t{t.tn}) <= 2 * units;
}

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int n0 = blockIdx.y * TN, zb = 0;
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
  iso_u32 b[DEPTH][TN / 16][4];
#pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
    for (int i = 0; i < TN / 16; ++i) {
      iso_matrix4_t(b[d][i], columns + 2 * (((warp * DEPTH + d) * 16 +
          (lane & 15)) * (TN + PAD) + i * 16 + (lane >> 4) * 8));
    }
  }
  iso_u32 a[DEPTH][4];
  float c[TN / 8][4] = {};
  auto load = [&] {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int mm = lane / 4 + half * 8;
      const TYPE* from = A_POINTER + (mm < M ? A_OFFSET : 0) +
                         warp * DEPTH * 16 + lane % 4 * 2;
#pragma unroll
      for (int d = 0; d < DEPTH; ++d) {
        a[d][half] = mm < M ? *(const iso_u32*)(from + d * 16) : 0;
        a[d][half + 2] = mm < M ? *(const iso_u32*)(from + d * 16 + 8) : 0;
      }
    }
  };
  auto multiply = [&] {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
      for (int i = 0; i < TN / 8; ++i) {
        iso_mma(c[i], a[d], b[d][i / 2] + i % 2 * 2);
      }
    }
  };
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
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + half * 8;
    if (row >= M) continue;
#pragma unroll
    for (int i = 0; i < TN / 8; ++i) {
      *(float2*)(sums + (warp * M + row) * PITCH + i * 8 + lane % 4 * 2) =
          make_float2(c[i][half * 2], c[i][half * 2 + 1]);
    }
  }
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
  return absl::StrFormat("held %d k%d", tn, wk);
}

std::vector<HeldTiling> HeldTilings(const ProductCall& call, const Product& p,
                                    int units) {
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16) return {};
  if (p.convolution || p.batch != 1 || p.m > kMaxRows || p.m * p.n * p.k == 0 ||
      !ReadyOf(call, p).b || p.a.run != Run::kInner || !p.a.if_rest.empty() ||
      p.b.run != Run::kOuter) {
    return {};
  }
  Guesses<HeldTiling> found;
  for (int tn : {16, 32, 64}) {
    for (int wk : {8, 16}) {
      const HeldTiling t{tn, wk};
      if (!Fits(p, t, units)) continue;
      // Microseconds, roughly: columns come, then a warp goes along k.
      const double waves = static_cast<double>(
          CeilDiv(CeilDiv(p.n, int64_t{tn}), int64_t{units}));
      const double columns = static_cast<double>(ColumnBytes(p, t)) / 59e3;
      const double along = 0.02 * static_cast<double>(Depth(p, t));
      found.push_back({waves * (columns + along), t});
    }
  }
  return Fastest(std::move(found), kMostTilings);
}

absl::StatusOr<KernelSource> HeldProduct(const ProductCall& call,
                                         const Product& p,
                                         const HeldTiling& t) {
  const int width = StoreWidth(p, 1);
  ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(call, p, width, "own"));
  const std::string text =
      absl::StrReplaceAll(kBody, {{"B_ADDRESS", AddressText(p.b)},
                                  {"A_POINTER", p.a.pointer},
                                  {"A_OFFSET", p.a.offset},
                                  {"TYPE", StorageType(p.dtype)},
                                  {"READS", epilogue.reads},
                                  {"PACK", epilogue.type},
                                  {"COMPUTE", epilogue.compute},
                                  {"STORE", epilogue.store}});
  const std::string defines = absl::StrFormat(
      "enum { TN = %d, WK = %d, NT = %d, DEPTH = %d, WIDTH = %d, PAD = %d,\n"
      "       PITCH = TN + %d, COLUMN_BYTES = %d, A_READY = %d };\n"
      "enum : long long { M = %d, N = %d, K = %d };\n",
      t.tn, t.wk, t.threads(), Depth(p, t), width, kPad, kPitch,
      ColumnBytes(p, t), ReadyOf(call, p).a, p.m, p.n, p.k);
  KernelSource out = WarpKernel(call, p, defines, t.threads(), text);
  out.grid[1] = static_cast<int>(CeilDiv(p.n, int64_t{t.tn}));
  out.shared_bytes = static_cast<int>(SharedBytes(p, t));
  return out;
}

}  // namespace isomer::cuda

// Eight threads read 64 neighbouring columns of a row of the matrix, the next
// eight those of the next row.
#include "cuda/row_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/preamble.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kColumns = 64;  // of a block
constexpr int kUnroll = 8;    // loads that a thread has under way
constexpr int kPitch = 8;     // floats after each row of sums
constexpr size_t kMostTilings = 4;
constexpr int kThreadsPerUnit = 1024;  // that keep memory busy

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  iso_release();
  const int tid = threadIdx.x, m0 = 0, n0 = blockIdx.x * TN;
  const int zb = 0, part = blockIdx.z, mm = 0;
  const int nn = n0 + tid % 8 * 8;
  const int first = part * EACH + tid / 8;
  const int stop = (part + 1) * EACH < K ? (part + 1) * EACH : K;
  iso_pack<TYPE, 8> w[UNROLL];
  auto load = [&](int from) {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int kk = from + u * ROWS;
      if (kk < stop && nn < N) {
        w[u] = iso_load_pack<TYPE, 8>(B_POINTER + B_OFFSET + nn);
      }
    }
  };
  if (B_FIRST) load(first);
  iso_wait();
  float sum[8] = {};
  for (int k = first; k < stop; k += UNROLL * ROWS) {
    if (!B_FIRST || k != first) load(k);
    float x[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int kk = k + u * ROWS;
      x[u] = kk < stop ? iso_value(A_POINTER[A_OFFSET + kk]) : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (k + u * ROWS >= stop || nn >= N) continue;
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[j] += x[u] * iso_value(w[u].at[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], 8);
    sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], 16);
  }
  float* sums = (float*)memory;
  if (tid % 32 < 8) {
    float* at = sums + tid / 32 * PITCH + tid % 8 * 8;
#pragma unroll
    for (int j = 0; j < 8; ++j) at[j] = sum[j];
  }
STORE
)";

}  // namespace

std::string RowTiling::ToString() const {
  return absl::StrFormat("row %d z%d", threads, split);
}

std::vector<RowTiling> RowTilings(const Product& p, int units) {
  const bool fits = p.m == 1 && p.batch == 1 && !p.convolution &&
                    (p.dtype == DType::kF16 || p.dtype == DType::kBF16) &&
                    p.a.run == Run::kInner && p.b.run == Run::kOuter &&
                    p.n % 8 == 0 && p.k > 0;
  if (!fits) return {};
  std::vector<std::pair<double, RowTiling>> found;
  for (int threads : {256, 512}) {
    for (int split : {1, 2, 4, 8}) {
      // Each thread has something to do.
      if (p.k < int64_t{threads} / 8 * split) continue;
      const double busy =
          static_cast<double>(CeilDiv(p.n, int64_t{kColumns}) * split) *
          threads / (units * kThreadsPerUnit);
      found.push_back({std::abs(std::log(busy)), {threads, split}});
    }
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RowTiling> out;
  for (const auto& [distance, t] : found) {
    if (out.size() < kMostTilings) out.push_back(t);
  }
  return out;
}

absl::StatusOr<KernelSource> RowProduct(const ProductCall& call,
                                        const Product& p, const RowTiling& t) {
  const int width = StoreWidth(p, t.split), warps = t.threads / 32;
  ASSIGN_OR_RETURN(const std::string store, StoreText(call, p, width));
  const std::string text =
      absl::StrReplaceAll(kBody, {{"STORE", store},
                                  {"TYPE", StorageType(p.dtype)},
                                  {"A_POINTER", p.a.pointer},
                                  {"A_OFFSET", p.a.offset},
                                  {"B_POINTER", p.b.pointer},
                                  {"B_OFFSET", p.b.offset}});
  const int rows = t.threads / 8;
  const std::string defines = absl::StrFormat(
      "enum { TM = 1, TN = %d, WK = %d, NT = %d, SPLIT = %d, ROWS = %d,\n"
      "       EACH = %d, UNROLL = %d, PITCH = TN + %d, WIDTH = %d,\n"
      "       B_FIRST = %d };\n"
      "enum : long long { M = 1, N = %d, K = %d };\n",
      kColumns, warps, t.threads, t.split, rows,
      CeilDiv(CeilDiv(p.k, int64_t{t.split}), int64_t{rows}) * rows, kUnroll,
      kPitch, width, call.constant_b ? 1 : 0, p.n, p.k);
  KernelSource out;
  out.text =
      absl::StrCat("#define ISO_LANES 1\n", Preamble(), TileHelpers(), defines,
                   "extern \"C\" __global__ void __launch_bounds__(", t.threads,
                   ") ", kEntry, "(", Parameters(call.inputs, {call.output}),
                   ") {\n", text, "}\n");
  out.grid = {static_cast<int>(CeilDiv(p.n, int64_t{kColumns})), 1, t.split};
  out.block = t.threads;
  out.shared_bytes = 4 * warps * (kColumns + kPitch);
  out.cluster = t.split;
  return out;
}

}  // namespace isomer::cuda

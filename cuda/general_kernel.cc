// Source text, with sizes as constants.
#include "cuda/general_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kStep = 16;   // of k, at a time
constexpr int kPitch = 8;   // floats after each row of sums
constexpr int kLanes = 16;  // threads along rows and along columns
constexpr int kWidth = 4;   // results that are stored together at most
constexpr size_t kMostTilings = 6;
constexpr int kFill = 3;  // blocks, as several streams measure

constexpr char kBody[] = R"(
  __shared__ __align__(16) TYPE as[STEP][TM + 4], bs[STEP][TN + 4];
  enum { RT = TM / LANES, CT = TN / LANES };  // results of a thread
  enum { STEPS = (K + STEP - 1) / STEP, EACH = (STEPS + SPLIT - 1) / SPLIT };
  const int tid = threadIdx.x, zb = blockIdx.z / SPLIT;
  const int part = blockIdx.z % SPLIT;
  const int m0 = blockIdx.x * TM, n0 = blockIdx.y * TN;
  const int r0 = tid / LANES * RT, c0 = tid % LANES * CT;
  const int first = part * EACH;
  const int end = first + EACH < STEPS ? first + EACH : STEPS;
  TYPE xa[RT], xb[CT];
  // Neighbouring threads read what lies side by side where that is known.
  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < RT; ++i) {
      const int e = tid + i * NT;
      const int mm = m0 + (A_K ? e / STEP : e % TM);
      const int kk = k0 + (A_K ? e % STEP : e / TM);
      xa[i] = 0;
      if (mm < M && kk < K) {
        A_STATEMENTS
        xa[i] = A_VALUE;
      }
    }
#pragma unroll
    for (int i = 0; i < CT; ++i) {
      const int e = tid + i * NT;
      const int nn = n0 + (B_K ? e / STEP : e % TN);
      const int kk = k0 + (B_K ? e % STEP : e / TN);
      xb[i] = 0;
      if (nn < N && kk < K) {
        B_STATEMENTS
        xb[i] = B_VALUE;
      }
    }
  };
  TYPE c[RT][CT] = {};
  iso_wait();
  if (first < end) fetch(first * STEP);
  for (int s = first; s < end; ++s) {
#pragma unroll
    for (int i = 0; i < RT; ++i) {
      const int e = tid + i * NT;
      as[A_K ? e % STEP : e / TM][A_K ? e / STEP : e % TM] = xa[i];
    }
#pragma unroll
    for (int i = 0; i < CT; ++i) {
      const int e = tid + i * NT;
      bs[B_K ? e % STEP : e / TN][B_K ? e / STEP : e % TN] = xb[i];
    }
    __syncthreads();
    if (s + 1 < end) fetch((s + 1) * STEP);
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
      TYPE ra[RT], rb[CT];
#pragma unroll
      for (int i = 0; i < RT; ++i) ra[i] = as[k][r0 + i];
#pragma unroll
      for (int j = 0; j < CT; ++j) rb[j] = bs[k][c0 + j];
#pragma unroll
      for (int i = 0; i < RT; ++i) {
#pragma unroll
        for (int j = 0; j < CT; ++j) c[i][j] += ra[i] * rb[j];
      }
    }
    __syncthreads();
  }
  // Blocks of the next kernel that were set up before would crowd where there
  // is place at the moment, and compete with those that still compute.
  iso_release();
END
)";

// Every thread stores what it has.
constexpr char kAlone[] = R"(
#pragma unroll
  for (int i = 0; i < RT; ++i) {
#pragma unroll
    for (int jj = 0; jj < CT; ++jj) {
      const int mm = m0 + r0 + i, j = n0 + c0 + jj;
      if (mm >= M || j >= N) continue;
      const TYPE acc[1] = {c[i][jj]};
EPILOGUE
    }
  }
)";

// Sums of all blocks are added up.
constexpr char kTogether[] = R"(
  __shared__ __align__(16) float sums[TM * PITCH];
#pragma unroll
  for (int i = 0; i < RT; ++i) {
#pragma unroll
    for (int j = 0; j < CT; ++j) {
      sums[(r0 + i) * PITCH + c0 + j] = c[i][j];
    }
  }
EPILOGUE
)";

// Every thread computes all columns of its result.
absl::StatusOr<KernelSource> GeneralParts(const ProductCall& call,
                                          const Product& p) {
  constexpr int kBlock = 128;
  ASSIGN_OR_RETURN(const std::string epilogue, EpilogueText(call, p, p.parts));
  ASSIGN_OR_RETURN(const ElementText a, OperandText(call, p, 0));
  ASSIGN_OR_RETURN(const ElementText b, OperandText(call, p, 1));
  const int64_t size = p.n / p.parts, count = p.m * size;
  const std::string text = absl::StrReplaceAll(
      R"(
  const int linear = blockIdx.x * BLOCK + threadIdx.x;
  iso_wait();
  if (linear >= COUNT) return;
  const int j = linear % SIZE, mm = linear / SIZE, zb = 0;
  float acc[PARTS] = {};
  for (int kk = 0; kk < DEPTH; ++kk) {
    A_STATEMENTS
    const float x = A_VALUE;
#pragma unroll
    for (int i = 0; i < PARTS; ++i) {
      const int nn = j * PARTS + i;
      B_STATEMENTS
      acc[i] += x * B_VALUE;
    }
  }
EPILOGUE
)",
      {{"BLOCK", absl::StrCat(kBlock)},
       {"COUNT", absl::StrCat(count)},
       {"SIZE", absl::StrCat(size)},
       {"DEPTH", absl::StrCat(p.k)},
       {"PARTS", absl::StrCat(p.parts)},
       {"A_STATEMENTS", a.statements},
       {"A_VALUE", a.value},
       {"B_STATEMENTS", b.statements},
       {"B_VALUE", b.value},
       {"EPILOGUE", epilogue}});
  return KernelOfThreads(call, text, count, kBlock);
}

int64_t Blocks(const Product& p, const GeneralTiling& t) {
  return CeilDiv(p.m, int64_t{t.tm}) * CeilDiv(p.n, int64_t{t.tn}) * p.batch *
         t.split;
}

// Microseconds, roughly: the steps of a block, of which each waits for what it
// reads, and others run meanwhile.
double Guess(const Product& p, const GeneralTiling& t, int units) {
  constexpr int kFit = 6;
  const Occupancy o = OccupancyOf(Blocks(p, t), t.split, kFit, units);
  const auto steps =
      static_cast<double>(CeilDiv(CeilDiv(p.k, int64_t{kStep}), t.split));
  const double cycles = 500 + o.busy * (t.tm * t.tn / 8 + (t.tm + t.tn) * 4);
  return o.waves * (steps * cycles + (t.split > 1 ? 2000 : 0)) / 1800;
}

}  // namespace

std::string GeneralTiling::ToString() const {
  return absl::StrFormat("general %dx%d z%d", tm, tn, split);
}

std::vector<GeneralTiling> GeneralTilings(const Product& p, int units) {
  if (p.parts > 1) return {{}};
  const bool floats = ComputeType(p.dtype) == "float";
  Guesses<GeneralTiling> found;
  for (int tm : {16, 32, 64}) {
    for (int tn : {16, 32, 64}) {
      for (int split : {1, 2, 4, 8}) {
        if (split > 1 && (!floats || p.k < 2 * kStep * split)) continue;
        const GeneralTiling t{tm, tn, split};
        found.push_back({Guess(p, t, units), t});
      }
    }
  }
  return Likeliest(std::move(found), kMostTilings);
}

absl::StatusOr<KernelSource> GeneralProduct(const ProductCall& call,
                                            const Product& p,
                                            const GeneralTiling& t) {
  if (p.parts > 1) return GeneralParts(call, p);
  ASSIGN_OR_RETURN(const ElementText a, OperandText(call, p, 0));
  ASSIGN_OR_RETURN(const ElementText b, OperandText(call, p, 1));
  const int width = t.split > 1 ? std::min(StoreWidth(p, t.split), kWidth) : 1;
  std::string end, epilogue;
  if (t.split > 1) {
    ASSIGN_OR_RETURN(const StoreCode store, StoreText(call, p, width));
    end = kTogether;
    epilogue = store.store;
  } else {
    ASSIGN_OR_RETURN(epilogue, EpilogueText(call, p, 1));
    end = kAlone;
  }
  const bool a_along_k =
      p.convolution ? p.a.run == Run::kWindow : p.a.run != Run::kOuter;
  const std::string body = absl::StrReplaceAll(kBody, {{"END", end}});
  const std::string text =
      absl::StrReplaceAll(body, {{"TYPE", ComputeType(p.dtype)},
                                 {"A_STATEMENTS", a.statements},
                                 {"A_VALUE", a.value},
                                 {"B_STATEMENTS", b.statements},
                                 {"B_VALUE", b.value},
                                 {"A_K", a_along_k ? "1" : "0"},
                                 {"B_K", p.b.run == Run::kInner ? "1" : "0"},
                                 {"EPILOGUE", epilogue}});
  KernelSource out;
  out.text =
      KernelText({.inputs = call.inputs,
                  .outputs = call.outputs,
                  .helpers = absl::StrFormat(
                      "%senum { TM = %d, TN = %d, WK = 1, SPLIT = %d, NT = %d, "
                      "STEP = %d,\n"
                      "       LANES = %d, PITCH = TN + %d, WIDTH = %d };\n"
                      "enum : long long { M = %d, N = %d, K = %d };\n",
                      t.split > 1 ? TileHelpers() : "", t.tm, t.tn, t.split,
                      kThreads, kStep, kLanes, kPitch, width, p.m, p.n, p.k),
                  .threads = kThreads,
                  .releases = true},
                 text);
  out.grid = {static_cast<int>(CeilDiv(p.m, int64_t{t.tm})),
              static_cast<int>(CeilDiv(p.n, int64_t{t.tn})),
              static_cast<int>(p.batch) * t.split};
  out.block = kThreads;
  out.cluster = t.split;
  out.fill = kFill;
  // Its blocks would crowd where the kernel before ends first.
  out.early = false;
  return out;
}

}  // namespace isomer::cuda

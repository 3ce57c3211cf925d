// Products are those of warps (mma.sync): scores of 16 queries stay in the
// registers in which they are then multiplied by values.
#include "cuda/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/attention_warpgroup.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kPad = 8;  // elements after each row, against bank conflicts
constexpr int64_t kMaxHead = 256;
constexpr size_t kMostTilings = 14;

// Slabs of keys and values that a block has at a time.
int SlotsOf(const Attention& a, const AttentionTiling& t) {
  const int64_t turns = CeilDiv(a.scores.n, int64_t{t.bn} * t.wk);
  return static_cast<int>(
      std::min<int64_t>(t.stages, CeilDiv(turns, int64_t{t.split})));
}

// Queries, keys and values of the loop.
int LoopBytes(const Attention& a, const AttentionTiling& t) {
  const auto head = static_cast<int>(a.scores.k + kPad);
  const auto width = static_cast<int>(a.values.n + kPad);
  const int slab = t.bn * t.wk;
  const int keys = a.scores.b.run == Run::kInner
                       ? slab * head
                       : static_cast<int>(a.scores.k) * (slab + kPad);
  return 2 * (16 * t.wm * head + SlotsOf(a, t) * (keys + slab * width));
}

// Rows of a block that are queries.
int64_t RowsOf(const Attention& a, const AttentionTiling& t) {
  return std::min(int64_t{16} * t.wm, a.shared * a.scores.m);
}

int SharedBytes(const Attention& a, const AttentionTiling& t) {
  if (t.warpgroups) return WarpgroupSharedBytes(a, t);
  const int64_t rows = RowsOf(a, t);
  const int64_t own = CeilDiv(rows * (a.values.n / 8), int64_t{t.split});
  const auto given =
      static_cast<int>(4 * t.split * t.wk * (8 * own + 2 * rows));
  // Blocks of a cluster give when others still read what they loaded.
  const int loop = LoopBytes(a, t);
  return t.split > 1 ? loop + given + kBarBytes : std::max(loop, given);
}

constexpr char kBody[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int wk = warp / WM, wm = warp % WM;
  const int m0 = blockIdx.x * (16 * WM), z0 = blockIdx.y * SHARED;
  enum { TURNS = (KEYS + SLAB - 1) / SLAB, EACH = (TURNS + SPLIT - 1) / SPLIT };
  const int part = blockIdx.z, first = part * EACH;
  const int count = first + EACH < TURNS ? EACH : TURNS - first;
  const iso_u32 q_stage = iso_shared(memory);
  const iso_u32 k_stage = q_stage + 2 * 16 * WM * HP;
  const iso_u32 v_stage = k_stage + 2 * SLOTS * K_STAGE;
  // Every group's sums go to the block that adds them up, and what its rows
  // were shifted by to all of them; all of these have started then.
  enum {
    GROUPS = SPLIT * WK,
    CHUNKS = ROWS * (WIDTH / 8),
    OWN = (CHUNKS + SPLIT - 1) / SPLIT
  };
  float* sums = (float*)(memory + GIVEN_AT);
  float* tops = sums + GROUPS * OWN * 8;
  float* totals = tops + GROUPS * ROWS;
  const iso_u32 bar = iso_shared(totals + GROUPS * ROWS);
  if (SPLIT > 1) {
    const int left = CHUNKS - part * OWN;
    const int own = left < 0 ? 0 : left < OWN ? left : OWN;
    if (tid == 0) iso_expect(bar, GROUPS * (own * 32 + ROWS * 8));
    iso_cluster_arrive();
  }
  // What is there before the network runs, what is not, or both; `rest` if
  // some of it is not.
  bool rest = false;
  auto load = [&](int slot, int t, bool early, bool late) {
    const int zb = z0;
LOAD_KEYS
    // One stage: values arrive while scores are computed.
    if (STAGES == 1) iso_commit();
    for (int c = tid; c < SLAB * (WIDTH / 8); c += NT) {
      const int kk = t * SLAB + c / (WIDTH / 8), at = c % (WIDTH / 8) * 8;
      const int there = kk < KEYS ? 8 : 0;
      const bool is_rest = there > 0 && (V_REST);
      rest |= is_rest;
      if (!(is_rest ? late : early)) continue;
      iso_copy8(v_stage + 2 * ((slot * SLAB + c / (WIDTH / 8)) * VP + at),
                V_FROM, there);
    }
  };
  // Where there are few queries, a thread has none of rows 8 to 15.
  enum { FIRST = STAGES == 1 ? 1 : STAGES - 1, HALVES = ROWS > 8 ? 2 : 1 };
#pragma unroll
  for (int s = 0; s < FIRST; ++s) {
    if (EARLY && s < count) load(s, first + s, true, false);
  }
  iso_wait();
  for (int c = tid; c < 16 * WM * (HEAD / 8); c += NT) {
    const int row = m0 + c / (HEAD / 8), at = c % (HEAD / 8) * 8;
    const int zb = z0 + row / QUERIES, mm = row % QUERIES;
    const int there = row < SHARED * QUERIES ? 8 : 0;
    iso_copy8(q_stage + 2 * (c / (HEAD / 8) * HP + at),
              Q_FROM, there);
  }
  if (EARLY) iso_commit();
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < count && (!EARLY || rest)) load(s, first + s, !EARLY, true);
    iso_commit();
  }
  iso_u32 fq[HEAD / 16][4];
  float o[WIDTH / 8][4] = {};
  float top[2] = {-ISO_INF, -ISO_INF}, total[2] = {0, 0};
  for (int t = 0; t < count; ++t) {
    const int next = t + STAGES - 1;
    const bool all = !EARLY || next >= FIRST;
    if (next < count && (all || rest)) {
      load(next % STAGES, first + next, all, true);
    }
    iso_commit();
    iso_arrived<STAGES == 1 ? 1 : STAGES - 1>();
    __syncthreads();
    if (t == 0) {
#pragma unroll
      for (int i = 0; i < HEAD / 16; ++i) {
        iso_matrix4(fq[i], q_stage + 2 * ((wm * 16 + (lane & 15)) * HP +
                                          i * 16 + (lane >> 4) * 8));
      }
    }
    const iso_u32 k_now = k_stage + 2 * (t % STAGES) * K_STAGE;
    const iso_u32 v_now = v_stage + 2 * (t % STAGES * SLAB + wk * BN) * VP;
    float s[BN / 8][4] = {};
#pragma unroll
    for (int i = 0; i < HEAD / 16; ++i) {
#pragma unroll
      for (int j = 0; j < BN / 16; ++j) {
        iso_u32 f[4];
FRAGMENT
        iso_mma(s[j * 2], fq[i], f);
        iso_mma(s[j * 2 + 1], fq[i], f + 2);
      }
    }
    float most[2] = {top[0], top[1]};
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 2 * HALVES; ++e) {
        const int row = m0 + wm * 16 + lane / 4 + e / 2 * 8;
        const int zb = z0 + row / QUERIES, mm = row % QUERIES;
        const int nn =
            (first + t) * SLAB + wk * BN + j * 8 + lane % 4 * 2 + e % 2;
        float score = -ISO_INF;
        if (nn < KEYS && row < SHARED * QUERIES) {
          const float acc[1] = {s[j][e]};
SCORE
        }
        s[j][e] = score;
        most[e / 2] = iso_max(most[e / 2], score);
      }
    }
RESCALE
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 2 * HALVES; ++e) {
        s[j][e] = exp2f(s[j][e] * LOG2E - shift[e / 2]);
        part[e / 2] += s[j][e];
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) total[h] = total[h] * again[h] + part[h];
#pragma unroll
    for (int j = 0; j < WIDTH / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 2 * HALVES; ++e) o[j][e] *= again[e / 2];
    }
    if (STAGES == 1) {
      iso_arrived<0>();
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < BN / 16; ++i) {
      const iso_u32 fp[4] = {iso_pair(s[i * 2][0], s[i * 2][1]),
                             iso_pair(s[i * 2][2], s[i * 2][3]),
                             iso_pair(s[i * 2 + 1][0], s[i * 2 + 1][1]),
                             iso_pair(s[i * 2 + 1][2], s[i * 2 + 1][3])};
#pragma unroll
      for (int j = 0; j < WIDTH / 16; ++j) {
        iso_u32 f[4];
        iso_matrix4_t(f, v_now + 2 * ((i * 16 + (lane & 15)) * VP + j * 16 +
                                      (lane >> 4) * 8));
        iso_mma(o[j * 2], fp, f);
        iso_mma(o[j * 2 + 1], fp, f + 2);
      }
    }
    __syncthreads();
  }
  iso_arrived<0>();
  const int group = part * WK + wk;
  if (SPLIT > 1) iso_cluster_wait();
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
    const int row = wm * 16 + lane / 4 + h * 8;
    if (h >= HALVES || row >= ROWS) continue;
    if (lane % 4 == 0) {
#pragma unroll
      for (int r = 0; r < SPLIT; ++r) {
        iso_give1<SPLIT>(tops + group * ROWS + row, r, top[h], bar);
        iso_give1<SPLIT>(totals + group * ROWS + row, r, total[h], bar);
      }
    }
#pragma unroll
    for (int j = 0; j < WIDTH / 8; ++j) {
      const int chunk = row * (WIDTH / 8) + j;
      iso_give2<SPLIT>(
          sums + (group * OWN + chunk % OWN) * 8 + lane % 4 * 2, chunk / OWN,
          o[j][h * 2], o[j][h * 2 + 1], bar);
    }
  }
  if (SPLIT > 1) iso_given(bar); else __syncthreads();
  for (int own = tid; own < OWN; own += NT) {
    const int chunk = part * OWN + own;
    const int row = chunk / (WIDTH / 8), j = chunk % (WIDTH / 8);
    const int zb = z0 + (m0 + row) / QUERIES, mm = (m0 + row) % QUERIES;
    if (chunk >= CHUNKS || m0 + row >= SHARED * QUERIES) continue;
    float most = -ISO_INF, whole = 0, acc[8] = {};
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
      most = iso_max(most, tops[g * ROWS + row]);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
      const float weight =
          GROUPS == 1 ? 1.0f : exp2f((tops[g * ROWS + row] - most) * LOG2E);
      whole += weight * totals[g * ROWS + row];
      const float4* x = (const float4*)(sums + (g * OWN + own) * 8);
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        acc[u * 4] += weight * x[u].x;
        acc[u * 4 + 1] += weight * x[u].y;
        acc[u * 4 + 2] += weight * x[u].z;
        acc[u * 4 + 3] += weight * x[u].w;
      }
    }
    const bool none = GUARDED && !(whole > 0.0f);
    const float part_of = 1.0f / whole;
#pragma unroll
    for (int u = 0; u < 8; ++u) acc[u] = none ? 0.0f : acc[u] * part_of;
EPILOGUE
  }
)";

// From the greatest score so far to what sums are scaled and scores shifted by.
constexpr char kRescale[] = R"(    float again[2], shift[2], part[2] = {0, 0};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      most[h] = iso_max(most[h], __shfl_xor_sync(0xffffffffu, most[h], 1));
      most[h] = iso_max(most[h], __shfl_xor_sync(0xffffffffu, most[h], 2));
      // Where no score counts yet, nothing is shifted.
      shift[h] = most[h] == -ISO_INF ? 0 : most[h] * LOG2E;
      again[h] = EXP2(top[h] * LOG2E - shift[h]);
      top[h] = most[h];
    })";

// Keys whose elements are contiguous, and keys of which each element is
// contiguous along the keys.
constexpr char kLoadRows[] = R"(
    for (int c = tid; c < SLAB * (HEAD / 8); c += NT) {
      const int nn = t * SLAB + c / (HEAD / 8), at = c % (HEAD / 8) * 8;
      const int there = nn < KEYS ? 8 : 0;
      const bool is_rest = there > 0 && (K_REST);
      rest |= is_rest;
      if (!(is_rest ? late : early)) continue;
      iso_copy8(k_stage + 2 * (slot * K_STAGE + c / (HEAD / 8) * HP + at),
                K_FROM, there);
    })";
constexpr char kLoadColumns[] = R"(
    for (int c = tid; c < HEAD * (SLAB / 8); c += NT) {
      const int kk = c / (SLAB / 8), at = t * SLAB + c % (SLAB / 8) * 8;
      const int there = KEYS - at;
      const bool is_rest = there > 0 && (K_REST);
      rest |= is_rest;
      if (!(is_rest ? late : early)) continue;
      iso_copy8(k_stage + 2 * (slot * K_STAGE + kk * (SLAB + PAD) +
                               c % (SLAB / 8) * 8),
                K_FROM, there);
    })";
constexpr char kRowFragment[] =
    R"(        iso_matrix4(f, k_now + 2 * ((wk * BN + j * 16 + (lane & 7) +
            (lane >> 4) * 8) * HP + i * 16 + ((lane >> 3) & 1) * 8));)";
constexpr char kColumnFragment[] =
    R"(        iso_matrix4_t(f, k_now + 2 * ((i * 16 + (lane & 15)) *
            (SLAB + PAD) + wk * BN + j * 16 + (lane >> 4) * 8));)";

absl::StatusOr<KernelSource> WarpAttention(const AttentionCall& call,
                                           const Attention& a,
                                           const AttentionTiling& t) {
  const bool rows = a.scores.b.run == Run::kInner;
  const bool early =
      ReadyOf(call.scores, a.scores).b && ReadyOf(call.values, a.values).b;
  const std::string body = absl::StrReplaceAll(
      kBody, {{"LOAD_KEYS", rows ? kLoadRows : kLoadColumns},
              {"FRAGMENT", rows ? kRowFragment : kColumnFragment}});
  ASSIGN_OR_RETURN(const std::string text, FilledIn(body, "exp2f", call, a));
  const std::string defines = absl::StrFormat(
      "#define LOG2E 1.4426950408889634f\n"
      "enum { WM = %d, WK = %d, BN = %d, STAGES = %d, SLAB = BN * WK,\n"
      "       NT = %d, HEAD = %d, WIDTH = %d, HP = HEAD + %d, VP = WIDTH + "
      "%d,\n"
      "       QUERIES = %d, KEYS = %d, SHARED = %d, PAD = %d,\n"
      "       K_STAGE = %s, GUARDED = %d, SPLIT = %d, EARLY = %d,\n"
      "       ROWS = %d, GIVEN_AT = %d, SLOTS = %d };\n",
      t.wm, t.wk, t.bn, t.stages, t.threads(), a.scores.k, a.values.n, kPad,
      kPad, a.scores.m, a.scores.n, a.shared, kPad,
      rows ? "SLAB * HP" : "HEAD * (SLAB + PAD)", call.guarded ? 1 : 0, t.split,
      early ? 1 : 0, RowsOf(a, t), t.split > 1 ? LoopBytes(a, t) : 0,
      SlotsOf(a, t));
  KernelSource out;
  out.text = KernelText(
      {.inputs = AttentionInputs(call),
       .outputs = call.values.outputs,
       .helpers = absl::StrCat(TileHelpers(), WarpHelpers(a.scores.dtype),
                               PairHelper(a.scores.dtype), defines),
       .threads = t.threads()},
      text);
  return out;
}

}  // namespace

absl::StatusOr<std::string> FilledIn(absl::string_view text,
                                     absl::string_view exp2,
                                     const AttentionCall& call,
                                     const Attention& a) {
  ASSIGN_OR_RETURN(const std::string epilogue,
                   EpilogueText(call.values, a.values, 8));
  const std::string score =
      absl::StrCat(a.score.statements, "score = ", a.score.value, ";");
  auto rest = [](const OperandRun& run) {
    return run.if_rest.empty() ? "false" : run.if_rest;
  };
  return absl::StrReplaceAll(
      text, {{"RESCALE", absl::StrReplaceAll(kRescale, {{"EXP2", exp2}})},
             {"SCORE", score},
             {"EPILOGUE", epilogue},
             {"Q_FROM", AddressText(a.scores.a)},
             {"K_FROM", AddressText(a.scores.b)},
             {"V_FROM", AddressText(a.values.b)},
             {"K_REST", rest(a.scores.b)},
             {"V_REST", rest(a.values.b)}});
}

std::string AttentionTiling::ToString() const {
  if (warpgroups) {
    return absl::StrFormat("attention wg %d k%d s%d", wm / 4, bn, stages);
  }
  return absl::StrCat(
      absl::StrFormat("attention %dx%d k%d s%d", wm, wk, bn, stages),
      split > 1 ? absl::StrCat(" z", split) : "");
}

absl::StatusOr<std::optional<Attention>> AnalyzeAttention(
    const AttentionCall& call) {
  Attention out;
  ASSIGN_OR_RETURN(out.scores, Analyze(call.scores));
  ASSIGN_OR_RETURN(out.values, Analyze(call.values));
  const Product &s = out.scores, &v = out.values;
  const bool fits = !s.convolution && !v.convolution && s.dtype == v.dtype &&
                    (s.dtype == DType::kF16 || s.dtype == DType::kBF16) &&
                    s.batch == v.batch && s.m == v.m && s.n == v.k &&
                    s.k % 16 == 0 && v.n % 16 == 0 && s.k <= kMaxHead &&
                    v.n <= kMaxHead && s.batch < 65536 &&
                    s.a.run == Run::kInner && s.b.run != Run::kNone &&
                    v.b.run == Run::kOuter && s.m * s.n > 0;
  if (!fits || v.a.pointer != "scores" || !v.a.steps) return std::nullopt;
  const auto& steps = *v.a.steps;
  auto is = [](int64_t step, int64_t want, int64_t extent) {
    return step == want || extent == 1;
  };
  if (!is(steps[0], s.m * s.n, s.batch) || !is(steps[1], s.n, s.m) ||
      !is(steps[2], 1, s.n) || steps[3] != 0) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(auto score, ResultText(call.scores, s));
  if (!score) return std::nullopt;
  out.score = *std::move(score);
  out.shared = std::min(s.b.shared, v.b.shared);
  return out;
}

std::vector<AttentionTiling> AttentionTilings(const Attention& a, int units) {
  static constexpr AttentionTiling kTilings[] = {
      {8, 1, 64, 2},        {4, 1, 64, 2},        {4, 2, 32, 2},
      {2, 2, 64, 2},        {2, 4, 32, 2},        {1, 4, 32, 2},
      {1, 8, 32, 1},        {1, 8, 16, 2},        {1, 8, 16, 3},
      {1, 4, 32, 3},        {4, 1, 64, 2, true},  {8, 1, 64, 2, true},
      {4, 1, 64, 3, true},  {8, 1, 64, 3, true},  {12, 1, 64, 2, true},
      {12, 1, 64, 3, true}, {8, 1, 128, 2, true}, {4, 1, 128, 2, true},
      {1, 4, 16, 1},        {1, 2, 32, 1},        {4, 1, 128, 1},
      {2, 1, 128, 1},       {2, 2, 64, 1},        {1, 4, 32, 1},
      {8, 1, 128, 1},
  };
  Guesses<AttentionTiling> found;
  for (AttentionTiling t : kTilings) {
    if (t.warpgroups && !FitsWarpgroups(a)) continue;
    const int shared = SharedBytes(a, t);
    if (shared > kWarpShared) continue;
    const int64_t rows = a.shared * a.scores.m;
    if (t.wm > 1 && 16 * t.wm >= 2 * rows) continue;
    const double blocks = std::ceil(static_cast<double>(rows) / (16 * t.wm)) *
                          static_cast<double>(a.scores.batch / a.shared);
    const int fit = std::max(
        1, std::min({kWarpShared / shared, 2048 / t.threads() / 2, 8}));
    const int64_t turns = CeilDiv(a.scores.n, int64_t{t.bn} * t.wk);
    const double busy = std::min<double>(fit, std::ceil(blocks / units));
    const double turn = 0.4 + busy * t.wm * t.wk * t.bn *
                                  static_cast<double>(a.scores.k + a.values.n) *
                                  16 * 2 / (t.warpgroups ? 5e6 : 2.5e6);
    for (int split : {1, 2, 4, 8}) {
      t.split = split;
      if (SharedBytes(a, t) > kWarpShared) continue;
      // Keys are shared where blocks are few, and each has some.
      if (split > 1 &&
          (t.warpgroups || blocks * split > units ||
           CeilDiv(turns, CeilDiv(turns, int64_t{split})) != split)) {
        continue;
      }
      const auto each = static_cast<double>(CeilDiv(turns, int64_t{split}));
      found.push_back(
          {std::ceil(blocks * split / (units * busy)) * (1.5 + each * turn) +
               (split > 1 ? 0.5 : 0),
           t});
    }
  }
  return Fastest(std::move(found), kMostTilings);
}

std::vector<Operand> AttentionInputs(const AttentionCall& call) {
  std::vector<Operand> inputs = call.scores.inputs;
  for (const Operand& o : call.values.inputs) {
    if (o.place.pointer != "scores") inputs.push_back(o);
  }
  return inputs;
}

absl::StatusOr<KernelSource> AttentionKernel(const AttentionCall& call,
                                             const Attention& a,
                                             const AttentionTiling& t) {
  ASSIGN_OR_RETURN(KernelSource out, t.warpgroups
                                         ? WarpgroupAttention(call, a, t)
                                         : WarpAttention(call, a, t));
  out.grid = {
      static_cast<int>(CeilDiv(a.shared * a.scores.m, int64_t{t.rows()})),
      static_cast<int>(a.scores.batch / a.shared), t.split};
  out.cluster = t.split;
  out.block = t.threads();
  out.shared_bytes = SharedBytes(a, t);
  return out;
}

}  // namespace isomer::cuda

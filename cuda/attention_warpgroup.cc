// Products are those of warpgroups (wgmma): queries and keys are multiplied
// where they lie in shared memory, the scores of 64 queries stay in the
// registers in which they are then multiplied by values. Tiles lie as in
// warpgroup_kernel.cc.
#include "cuda/attention_warpgroup.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cuda/tile_code.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kPitch = 8;  // floats after each row of sums

// Up to the first turn. A turn is BN keys.
constexpr char kStart[] = R"(
  extern __shared__ __align__(128) unsigned char memory[];
  const int tid = threadIdx.x, lane = tid % 32;
  const int warp = __shfl_sync(0xffffffffu, tid / 32, 0);
  const int m0 = blockIdx.x * ROWS, z0 = blockIdx.y * SHARED;
  const iso_u32 start = (iso_shared(memory) + 1023) & ~1023u;
  const iso_u32 q_stage = start, k_stage = start + ROWS * HEAD * 2;
  const iso_u32 v_stage = k_stage + STAGES * K_BYTES;
  auto load = [&](int slot, int t) {
    const int zb = z0;
#pragma unroll
    for (int c = tid; c < BN * (HEAD / 8); c += NT) {
      const int r = c / (HEAD / 8), piece = c % (HEAD / 8), at = piece * 8;
      const int nn = t * BN + r, there = nn < KEYS ? 8 : 0;
      iso_copy8(k_stage + slot * K_BYTES + piece / 8 * (BN * 128) + r * 128 +
                    (((piece % 8) ^ (r & 7)) << 4),
                K_FROM, there);
    }
#pragma unroll
    for (int c = tid; c < BN * (WIDTH / 8); c += NT) {
      const int r = c / (WIDTH / 8), piece = c % (WIDTH / 8), at = piece * 8;
      const int kk = t * BN + r, there = kk < KEYS ? 8 : 0;
      iso_copy8(v_stage + slot * V_BYTES + r / 64 * (WIDTH * 128) +
                    piece / 8 * 8192 + r % 64 * 128 +
                    (((piece % 8) ^ (r & 7)) << 4),
                V_FROM, there);
    }
  };
  iso_wait();
  for (int c = tid; c < ROWS * (HEAD / 8); c += NT) {
    const int r = c / (HEAD / 8), piece = c % (HEAD / 8), at = piece * 8;
    const int row = m0 + r, zb = z0 + row / QUERIES, mm = row % QUERIES;
    const int there = row < SHARED * QUERIES ? 8 : 0;
    iso_copy8(q_stage + piece / 8 * (ROWS * 128) + r * 128 +
                  (((piece % 8) ^ (r & 7)) << 4),
              Q_FROM, there);
  }
  enum { TURNS = (KEYS + BN - 1) / BN };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < TURNS) load(s, s);
    iso_commit();
  }
  const iso_u64 q_first = iso_tile(q_stage + warp / 4 * 8192, false);
  const iso_u64 k_first = iso_tile(k_stage, false);
  const iso_u64 v_first = iso_tile(v_stage, true);
  float o[WIDTH / 2];
#pragma unroll
  for (int j = 0; j < WIDTH / 2; ++j) o[j] = 0;
  float top[2] = {-ISO_INF, -ISO_INF}, total[2] = {0, 0};
  // What a warpgroup multiplies in slot `slot`.
  auto scores = [&](float* s, int slot) {
    iso_multiply_fence();
#pragma unroll
    for (int i = 0; i < HEAD / 16; ++i) {
      iso_scores(s, q_first + i / 4 * (ROWS * 8) + i % 4 * 2,
                 k_first + slot * (K_BYTES / 16) + i / 4 * (BN * 8) + i % 4 * 2,
                 i > 0);
    }
    iso_multiply_commit();
  };
  auto values = [&](const iso_u32* p, int slot) {
    iso_multiply_fence();
#pragma unroll
    for (int i = 0; i < BN / 16; ++i) {
      iso_values(o, p + i * 4,
                 v_first + slot * (V_BYTES / 16) + i / 4 * (WIDTH * 8) +
                     i % 4 * 128);
    }
    iso_multiply_commit();
  };
)";

// One turn after the other.
constexpr char kTurns[] = R"(
  int slot = 0, next = STAGES - 1;
  for (int t = 0; t < TURNS; ++t) {
    iso_arrived<STAGES - 2>();
    iso_publish();
    __syncthreads();
    // All are done with the slot of the turn before.
    if (t + STAGES - 1 < TURNS) load(next, t + STAGES - 1);
    iso_commit();
    float s[BN / 2];
    scores(s, slot);
    iso_multiplied<0>();
#pragma unroll
    for (int j = 0; j < BN / 2; ++j) asm volatile("" : "+f"(s[j])::"memory");
WEIGH_VALUES
    slot = slot + 1 == STAGES ? 0 : slot + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
)";

// The scores of the next turn are multiplied while weights are made of those of
// this one; three slots at least.
constexpr char kOverlappedTurns[] = R"(
  int slot = 0, next = STAGES - 1;
  float s[BN / 2], later[BN / 2];
  iso_arrived<STAGES - 2>();
  iso_publish();
  __syncthreads();
  scores(s, 0);
  iso_multiplied<0>();
#pragma unroll
  for (int j = 0; j < BN / 2; ++j) asm volatile("" : "+f"(s[j])::"memory");
  for (int t = 0; t < TURNS; ++t) {
    const int after = slot + 1 == STAGES ? 0 : slot + 1;
    if (t + 1 < TURNS) {
      iso_arrived<STAGES - 3>();
      iso_publish();
      __syncthreads();
      // All are done with the slot of the turn before.
      if (t + STAGES - 1 < TURNS) load(next, t + STAGES - 1);
      iso_commit();
      scores(later, after);
    }
WEIGH_VALUES
#pragma unroll
    for (int j = 0; j < BN / 2; ++j) {
      asm volatile("" : "+f"(later[j])::"memory");
      s[j] = later[j];
    }
    slot = after;
    next = next + 1 == STAGES ? 0 : next + 1;
  }
)";

// From scores `s` to weights `p`, and the values weighed with them.
constexpr char kWeighValues[] = R"(
    float most[2] = {top[0], top[1]};
    const int left = KEYS - t * BN - lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        // What is computed for rows that are not there is never stored.
        const int row = iso_min_int(
            m0 + warp * 16 + lane / 4 + e / 2 * 8, SHARED * QUERIES - 1);
        const int zb = z0 + row / QUERIES, mm = row % QUERIES;
        const int nn = t * BN + j * 8 + lane % 4 * 2 + e % 2;
        float score = -ISO_INF;
        if (KEYS % BN == 0 || j * 8 + e % 2 < left) {
          const float acc[1] = {s[j * 4 + e]};
SCORE
        }
        s[j * 4 + e] = score;
        most[e / 2] = iso_max(most[e / 2], score);
      }
    }
RESCALE
    iso_u32 p[BN / 4];
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float x = iso_exp2(s[j * 4 + h * 2] * LOG2E - shift[h]);
        const float y = iso_exp2(s[j * 4 + h * 2 + 1] * LOG2E - shift[h]);
        part[h] += x + y;
        p[j * 2 + h] = iso_pair(x, y);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) total[h] = total[h] * again[h] + part[h];
#pragma unroll
    for (int j = 0; j < WIDTH / 2; ++j) o[j] *= again[j / 2 % 2];

    values(p, slot);
    iso_multiplied<0>();
#pragma unroll
    for (int j = 0; j < WIDTH / 2; ++j) {
      asm volatile("" : "+f"(o[j])::"memory");
    })";

constexpr char kEnd[] = R"(
  iso_arrived<0>();
  __syncthreads();
  float* sums = (float*)(memory + (start - iso_shared(memory)));
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
    float* row = sums + (warp * 16 + lane / 4 + h * 8) * PITCH;
    const bool none = GUARDED && !(total[h] > 0.0f);
#pragma unroll
    for (int j = 0; j < WIDTH / 8; ++j) {
      *(float2*)(row + j * 8 + lane % 4 * 2) =
          make_float2(none ? 0.0f : o[j * 4 + h * 2] / total[h],
                      none ? 0.0f : o[j * 4 + h * 2 + 1] / total[h]);
    }
  }
  // Each warp stores the rows that it has computed.
  __syncwarp();
  for (int q = lane; q < 16 * (WIDTH / 8); q += 32) {
    const int row = warp * 16 + q / (WIDTH / 8), j = q % (WIDTH / 8);
    const int zb = z0 + (m0 + row) / QUERIES, mm = (m0 + row) % QUERIES;
    if (m0 + row >= SHARED * QUERIES) continue;
    float acc[8];
#pragma unroll
    for (int u = 0; u < 8; u += 4) {
      const float4 x = *(const float4*)(sums + row * PITCH + j * 8 + u);
      acc[u] = x.x;
      acc[u + 1] = x.y;
      acc[u + 2] = x.z;
      acc[u + 3] = x.w;
    }
EPILOGUE
  }
)";

// How many blocks a multiprocessor should have registers for.
int BlocksAtATime(const Attention& a, const AttentionTiling& t) {
  const auto width = static_cast<int>(a.values.n);
  const int scores = t.bn / 2 * (t.stages > 2 ? 2 : 1);
  const int registers = scores + t.bn / 4 + width / 2 + 48;
  return std::max(1, std::min(kRegisters / (t.threads() * registers),
                              kWarpgroupShared / WarpgroupSharedBytes(a, t)));
}

}  // namespace

bool FitsWarpgroups(const Attention& a) {
  return a.scores.b.run == Run::kInner && a.scores.k % 64 == 0 &&
         a.values.n % 64 == 0;
}

int WarpgroupSharedBytes(const Attention& a, const AttentionTiling& t) {
  const auto head = static_cast<int>(a.scores.k);
  const auto width = static_cast<int>(a.values.n);
  const int loop = 2 * (t.rows() * head + t.stages * t.bn * (head + width));
  return std::max(loop, 4 * t.rows() * (width + kPitch)) + 1024;
}

absl::StatusOr<KernelSource> WarpgroupAttention(const AttentionCall& call,
                                                const Attention& a,
                                                const AttentionTiling& t) {
  const std::string turns =
      absl::StrReplaceAll(t.stages > 2 ? kOverlappedTurns : kTurns,
                          {{"WEIGH_VALUES", kWeighValues}});
  ASSIGN_OR_RETURN(
      const std::string text,
      FilledIn(absl::StrCat(kStart, turns, kEnd), "iso_exp2", call, a));
  const std::string defines = absl::StrFormat(
      "#define LOG2E 1.4426950408889634f\n"
      "enum { ROWS = %d, BN = %d, STAGES = %d, NT = %d, HEAD = %d,\n"
      "       WIDTH = %d, QUERIES = %d, KEYS = %d, SHARED = %d,\n"
      "       PITCH = WIDTH + %d, K_BYTES = BN * HEAD * 2,\n"
      "       V_BYTES = BN * WIDTH * 2, GUARDED = %d };\n",
      t.rows(), t.bn, t.stages, t.threads(), a.scores.k, a.values.n, a.scores.m,
      a.scores.n, a.shared, kPitch, call.guarded ? 1 : 0);
  const DType dtype = a.scores.dtype;
  KernelSource out;
  out.text = KernelText(
      {.inputs = AttentionInputs(call),
       .outputs = call.values.outputs,
       .helpers = absl::StrCat(
           TileHelpers(), WarpgroupHelpers(), PairHelper(dtype),
           WarpgroupMultiply("iso_scores", dtype, t.bn,
                             {.start = true, .b_along_n = false}),
           WarpgroupMultiply("iso_values", dtype, static_cast<int>(a.values.n),
                             {.a_registers = true, .b_along_n = true}),
           defines),
       .threads = t.threads(),
       .blocks = BlocksAtATime(a, t)},
      text);
  return out;
}

}  // namespace isomer::cuda

// Source text; sums of other blocks are read where they lie.
#include "cuda/tile_code.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr char kHelpers[] = R"(
__device__ __forceinline__ iso_u32 iso_shared(const void* p) {
  return (iso_u32)__cvta_generic_to_shared(p);
}
// Of 8 elements `count` are there, the others become zeros.
__device__ __forceinline__ int iso_bytes_there(int count) {
  return count >= 8 ? 16 : count > 0 ? 2 * count : 0;
}
__device__ __forceinline__ void iso_copy8(iso_u32 to, const void* from,
                                          int count) {
  const int bytes = iso_bytes_there(count);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(from), "r"(bytes) : "memory");
}
// The same of what leaves the cache last, if it is to be kept, and first if not.
__device__ __forceinline__ void iso_copy8_kept(bool kept, iso_u32 to,
                                               const void* from, int count) {
  const int bytes = iso_bytes_there(count);
  iso_u64 first, last;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, "
               "%3;" ::"r"(to), "l"(from), "r"(bytes),
               "l"(kept ? last : first) : "memory");
}
__device__ __forceinline__ void iso_copy8_once(iso_u32 to, const void* from,
                                               int count) {
  iso_copy8_kept(false, to, from, count);
}
__device__ __forceinline__ void iso_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int n>
__device__ __forceinline__ void iso_arrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
// Threads of a warp may come to these one by one.
__device__ __forceinline__ void iso_cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
__device__ __forceinline__ void iso_cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ void iso_cluster_barrier() {
  iso_cluster_arrive();
  iso_cluster_wait();
}
// Where block `rank` of the cluster has what lies at `at` here.
__device__ __forceinline__ iso_u32 iso_at_peer(iso_u32 at, int rank) {
  iso_u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there) : "r"(at), "r"(rank));
  return there;
}
__device__ __forceinline__ float4 iso_peer4(iso_u32 at, int rank) {
  float4 x;
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(iso_at_peer(at, rank)));
  return x;
}
__device__ __forceinline__ float iso_peer1(iso_u32 at, int rank) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(x) : "r"(iso_at_peer(at, rank)));
  return x;
}
// What other blocks give to this one is counted in bytes, by what lies at `bar`
// in each of them: so many are expected, and have come. It is made by one
// thread before the blocks meet.
__device__ __forceinline__ void iso_expect(iso_u32 bar, int bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void iso_given(iso_u32 bar) {
  iso_u32 done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
  }
}
// Stored for one of so many blocks.
template <int blocks>
__device__ __forceinline__ void iso_give1(float* at, int rank, float x,
                                          iso_u32 bar) {
  if (blocks == 1) {
    *at = x;
  } else {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], "
        "%1, [%2];" ::"r"(iso_at_peer(iso_shared(at), rank)),
        "f"(x), "r"(iso_at_peer(bar, rank)) : "memory");
  }
}
template <int blocks>
__device__ __forceinline__ void iso_give2(float* at, int rank, float x,
                                          float y, iso_u32 bar) {
  if (blocks == 1) {
    *(float2*)at = make_float2(x, y);
  } else {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 "
        "[%0], {%1, %2}, [%3];" ::"r"(iso_at_peer(iso_shared(at), rank)),
        "f"(x), "f"(y), "r"(iso_at_peer(bar, rank)) : "memory");
  }
}
)";

constexpr char kWarpHelpers[] = R"(
__device__ __forceinline__ void iso_matrix4(iso_u32* r, iso_u32 at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ __forceinline__ void iso_matrix4_t(iso_u32* r, iso_u32 at) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ __forceinline__ void iso_mma(float* c, const iso_u32* a,
                                        const iso_u32* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
)";

constexpr char kWarpgroupHelpers[] = R"(
__device__ __forceinline__ void iso_multiply_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void iso_multiply_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int n>
__device__ __forceinline__ void iso_multiplied() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}
// Where tiles start, as multiplications want it: within the block's own memory,
// in rows of 128 bytes along k, or along 64 columns, which are 8192 bytes apart.
__device__ __forceinline__ iso_u64 iso_tile(iso_u32 at, bool columns) {
  return (iso_u64)1 << 62 | (iso_u64)64 << 32 |
         (iso_u64)(columns ? 512 : 1) << 16 | (iso_u64)(at >> 4 & 16383);
}
// What this thread copied is there for multiplications after a barrier.
__device__ __forceinline__ void iso_publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
)";

// Chunks of results, WIDTH side by side, and how many a block computes. They
// are of HIGH rows, and sums of GROUPS tiles in each of so many BLOCKS.
constexpr char kChunks[] = R"(
  enum { CHUNKS = HIGH * TN / WIDTH, OWN = (CHUNKS + BLOCKS - 1) / BLOCKS };
)";
constexpr char kOfAll[] = R"(
  enum { HIGH = TM, GROUPS = WK, BLOCKS = SPLIT };
)";
constexpr char kOfFew[] = R"(
  enum { HIGH = FEW, GROUPS = SPLIT * WK, BLOCKS = 1 };
)";

// The only one that this thread computes, if it does.
constexpr char kOnly[] = R"(
  const int chunk = part * OWN + tid;
  const int mm = m0 + chunk / (TN / WIDTH);
  const int nn = n0 + chunk % (TN / WIDTH) * WIDTH, j = nn / WIDTH;
  const bool own = tid < OWN && chunk < CHUNKS && mm < M && nn < N;
)";

constexpr char kStoreOwn[] = R"(
  if (own) {
    const int row = mm - m0, col = nn - n0;
ADD
    TYPE pack;
COMPUTE
STORE
  }
)";

// Where every thread has as many, and few are past the end, several are
// computed before any is stored, so that what they read is asked for together.
// Those past the end are then computed of what is there.
constexpr char kStoreAll[] = R"(
  enum {
    WIDE = (N + TN - 1) / TN * TN,
    MOST = M * N * 4 >= (M + TM - 1) / TM * TM * WIDE * 3,
    EACH_OWN = OWN / NT,
    TOGETHER = !MOST || OWN % NT || CHUNKS % BLOCKS ? 1
               : EACH_OWN % 4 == 0                  ? 4
               : EACH_OWN % 2 == 0                  ? 2
                                                    : 1
  };
  const int last = (part + 1) * OWN < CHUNKS ? (part + 1) * OWN : CHUNKS;
  for (int q = part * OWN + tid; q < last; q += NT * TOGETHER) {
    TYPE packs[TOGETHER];
#pragma unroll
    for (int u = 0; u < TOGETHER; ++u) {
      const int chunk = q + u * NT, row = chunk / (TN / WIDTH);
      const int col = chunk % (TN / WIDTH) * WIDTH;
      const bool there = m0 + row < M && n0 + col < N;
      if (TOGETHER == 1 && !there) continue;
      const int mm = m0 + row < M ? m0 + row : M - 1;
      const int nn = n0 + col < N ? n0 + col : N - WIDTH, j = nn / WIDTH;
      TYPE& pack = packs[u];
ADD
COMPUTE
    }
#pragma unroll
    for (int u = 0; u < TOGETHER; ++u) {
      const int chunk = q + u * NT, mm = m0 + chunk / (TN / WIDTH);
      const int nn = n0 + chunk % (TN / WIDTH) * WIDTH, j = nn / WIDTH;
      if (mm >= M || nn >= N) continue;
      const TYPE& pack = packs[u];
STORE
    }
  }
)";

// All blocks add up, each what it computes.
constexpr char kShare[] = R"(
  if (SPLIT > 1) iso_cluster_barrier(); else __syncthreads();
)";
constexpr char kShared[] = R"(
  if (SPLIT > 1) iso_cluster_barrier();
)";
// The first block has been given all.
constexpr char kGiven[] = R"(
  if (part != 0) return;
  iso_given(bar);
)";

constexpr char kAdd[] = R"(
    float acc[WIDTH] = {};
#pragma unroll
    for (int w = 0; w < GROUPS; ++w) {
      const float* at = sums + (w * HIGH + row) * PITCH + col;
      if (BLOCKS > 1) {
        const iso_u32 own_sums = iso_shared(at);
#pragma unroll
        for (int r = 0; r < BLOCKS; ++r) {
ADD_PEER
        }
      } else {
ADD_OWN
      }
    }
)";

// Adds sums to acc, four at a time: `four` is the format of four of them with
// the place of the first, `one` that of a single one.
std::string AddSums(int width, const std::string& four,
                    const std::string& one) {
  std::string text;
  for (int u = 0; u < width; u += width < 4 ? 1 : 4) {
    if (width < 4) {
      absl::StrAppend(
          &text, "acc[", u,
          "] += ", absl::StrReplaceAll(one, {{"AT", absl::StrCat(u)}}), ";\n");
      continue;
    }
    absl::StrAppend(&text, "{ const float4 x = ",
                    absl::StrReplaceAll(four, {{"AT", absl::StrCat(u)}}),
                    "; acc[", u, "] += x.x; acc[", u + 1, "] += x.y; acc[",
                    u + 2, "] += x.z; acc[", u + 3, "] += x.w; }\n");
  }
  return text;
}

}  // namespace

absl::string_view TileHelpers() { return kHelpers; }

std::string WarpHelpers(DType dtype) {
  return absl::StrReplaceAll(kWarpHelpers,
                             {{"TYPE", dtype == DType::kF16 ? "f16" : "bf16"}});
}

std::string PairHelper(DType dtype) {
  return absl::StrCat(
      "__device__ __forceinline__ iso_u32 iso_pair(float x, float y) {\n"
      "  iso_u32 r;\n  asm(\"cvt.rn.",
      dtype == DType::kF16 ? "f16x2" : "bf16x2",
      ".f32 %0, %1, %2;\" : \"=r\"(r) : \"f\"(y), \"f\"(x));\n  return "
      "r;\n}\n");
}

absl::string_view WarpgroupHelpers() { return kWarpgroupHelpers; }

std::string WarpgroupMultiply(absl::string_view name, DType dtype, int n,
                              const WarpgroupForm& form) {
  const char* type = dtype == DType::kF16 ? "f16" : "bf16";
  const int count = n / 2;
  std::string text =
      absl::StrCat("__device__ __forceinline__ void ", name, "(float* d, ",
                   form.a_registers ? "const iso_u32* a" : "iso_u64 a",
                   ", iso_u64 b", form.start ? ", int more" : "",
                   ") {\n  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, ");
  // The operands: d, then a, then b, then what p is.
  const int a_count = form.a_registers ? 4 : 1;
  absl::StrAppend(&text,
                  form.start ? absl::StrCat("%", count + a_count + 1) : "1",
                  ", 0;\\nwgmma.mma_async.sync.aligned.m64n", n, "k16.f32.",
                  type, ".", type, " {");
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, i > 0 ? "," : "", "%", i);
  }
  absl::StrAppend(&text, "}, ", form.a_registers ? "{" : "");
  for (int i = 0; i < a_count; ++i) {
    absl::StrAppend(&text, i > 0 ? "," : "", "%", count + i);
  }
  absl::StrAppend(&text, form.a_registers ? "}" : "", ", %", count + a_count,
                  ", p, 1, 1, ", form.a_registers ? "" : "0, ",
                  form.b_along_n ? 1 : 0, ";\\n}\\n\"\n      : ");
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", "\"+f\"(d[", i, "])");
  }
  absl::StrAppend(&text, "\n      : ");
  if (form.a_registers) {
    for (int i = 0; i < a_count; ++i) {
      absl::StrAppend(&text, "\"r\"(a[", i, "]), ");
    }
  } else {
    absl::StrAppend(&text, "\"l\"(a), ");
  }
  return absl::StrCat(text, "\"l\"(b)", form.start ? ", \"r\"(more)" : "",
                      ");\n}\n");
}

int StoreWidth(const Product& p, int split) {
  if (p.parts > 1) return p.parts;
  int width = 8;
  while (width > 1 && p.n % width != 0) width /= 2;
  // Peers are read four elements at a time.
  if (split > 1 && width < 4) width = 1;
  return width;
}

std::string CopyNames(const ProductCall& call, const Product& p, int tm) {
  constexpr int kShares = 1024;
  const bool once = HasColdB(call, p) && p.m <= tm;
  const int kept = static_cast<int>(kShares * KeptOfB(call, p));
  const std::string names = "#define a_copy8 iso_copy8\n#define b_copy8";
  if (once && kept > 0) {
    return absl::StrCat(names,
                        "(to, from, there) iso_copy8_kept((kt - first) * ",
                        kShares, " < EACH * ", kept, ", to, from, there)\n");
  }
  return absl::StrCat(names, " iso_copy8", once ? "_once\n" : "\n");
}

KernelSource WarpKernel(const ProductCall& call, const Product& p,
                        absl::string_view constants, int threads,
                        absl::string_view body, int blocks) {
  KernelSource out;
  out.text = KernelText(
      {.inputs = call.inputs,
       .outputs = call.outputs,
       .helpers = absl::StrCat(TileHelpers(), WarpHelpers(p.dtype), constants),
       .threads = threads,
       .blocks = blocks},
      body);
  out.block = threads;
  return out;
}

absl::StatusOr<StoreCode> StoreText(const ProductCall& call, const Product& p,
                                    int width, const StoreForm& form) {
  const bool once = form.once;
  ASSIGN_OR_RETURN(const Epilogue epilogue,
                   EpilogueOf(call, p, width, once ? "own" : ""));
  const std::string add = absl::StrReplaceAll(
      kAdd, {{"ADD_OWN", AddSums(width, "*(const float4*)(at + AT)", "at[AT]")},
             {"ADD_PEER", AddSums(width, "iso_peer4(own_sums + 4 * AT, r)",
                                  "iso_peer1(own_sums + 4 * AT, r)")}});
  StoreCode out;
  const std::string chunks = absl::StrCat(form.few ? kOfFew : kOfAll, kChunks);
  if (once) out.reads = absl::StrCat(chunks, kOnly, epilogue.reads);
  out.store = absl::StrCat(form.few ? kGiven : kShare, once ? "" : chunks,
                           absl::StrReplaceAll(once ? kStoreOwn : kStoreAll,
                                               {{"ADD", add},
                                                {"TYPE", epilogue.type},
                                                {"COMPUTE", epilogue.compute},
                                                {"STORE", epilogue.store}}),
                           form.few ? "" : kShared);
  return out;
}

Occupancy OccupancyOf(int64_t blocks, int split, int fit, int units) {
  // Clusters do not fill all multiprocessors.
  const double usable = units * (split >= 8 ? 0.85 : split >= 4 ? 0.91 : 1);
  const auto count = static_cast<double>(blocks);
  Occupancy out;
  out.busy = std::min<double>(std::max(fit, 1), std::ceil(count / usable));
  out.waves = std::ceil(count / (usable * out.busy));
  return out;
}

bool IsPadded(const WindowRun& g) {
  for (int s = 0; s < 2; ++s) {
    const int64_t last = (g.out[s] - 1) * g.stride[s] - g.pad[s] +
                         (g.kernel[s] - 1) * g.dilation[s];
    if (g.pad[s] != 0 || last >= g.in[s]) return true;
  }
  return false;
}

}  // namespace isomer::cuda

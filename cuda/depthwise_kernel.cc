// All that a thread reads of an image is asked for before it is multiplied, and
// the filters before that.
#include "cuda/depthwise_kernel.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Told that four blocks fit on a multiprocessor, the compiler keeps registers
// for all that is on its way; else it asks for four of nine taps at a time.
constexpr int kChannels = 8, kBlock = 128, kBlocks = 4;
// Filters of so many taps are read at once, others row by row.
constexpr int64_t kFewTaps = 9;
// With so many threads a multiprocessor has enough to do.
constexpr int64_t kBusyThreads = 1024;

constexpr char kBody[] = R"(
  const int linear = blockIdx.x * BLOCK + threadIdx.x;
  const int j = linear % CHUNKS, part = linear / CHUNKS, zb = 0;
  const int row = part / PARTS, first = part % PARTS * WIDTH;
  const int y0 = row % OUT_Y * STRIDE_Y - PAD_Y, x0 = first * STRIDE_X - PAD_X;
  const TYPE* filter = FILTER + F_BASE + j * 8;
AHEAD
  iso_wait();
  if (linear >= COUNT) return;
  const TYPE* image = IMAGE + BASE + row / OUT_Y * STEP_N + j * 8;
  float sums[WIDTH][8] = {};
#pragma unroll
  for (int from = 0; from < KERNEL_Y; from += ROWS) {
BEHIND
    iso_pack<TYPE, 8> a[ROWS][COLUMNS];
#pragma unroll
    for (int ky = 0; ky < ROWS; ++ky) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const int y = y0 + (from + ky) * DILATION_Y, x = x0 + c * APART;
        a[ky][c] = iso_load_pack_if<TYPE, 8>(
            (unsigned)y < IN_Yu && (unsigned)x < IN_Xu,
            image + y * STEP_Y + x * STEP_X);
      }
    }
#pragma unroll
    for (int ky = 0; ky < ROWS; ++ky) {
#pragma unroll
      for (int kx = 0; kx < KERNEL_X; ++kx) {
#pragma unroll
        for (int u = 0; u < 8; ++u) {
          const float w = iso_value(b[ky][kx].at[u]);
#pragma unroll
          for (int o = 0; o < WIDTH; ++o) {
            sums[o][u] += iso_value(a[ky][o * NEXT + kx].at[u]) * w;
          }
        }
      }
    }
  }
#pragma unroll
  for (int o = 0; o < WIDTH; ++o) {
    if (PAST) continue;
    const int mm = row * OUT_X + first + o;
    float acc[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) acc[u] = sums[o][u];
EPILOGUE
  }
)";

constexpr char kFilters[] = R"(
  iso_pack<TYPE, 8> b[ROWS][KERNEL_X];
#pragma unroll
  for (int ky = 0; ky < ROWS; ++ky) {
#pragma unroll
    for (int kx = 0; kx < KERNEL_X; ++kx) {
      b[ky][kx] = iso_load_pack<TYPE, 8>(filter + (FROM + ky) * F_STEP_Y +
                                         kx * F_STEP_X);
    }
  }
)";

int64_t Threads(const Product& p, int width) {
  return p.m / p.window.out[1] * CeilDiv(p.window.out[1], int64_t{width}) *
         (p.n / kChannels);
}

}  // namespace

std::vector<int> DepthwiseWidths(const Product& p, int units) {
  if (!p.depthwise) return {};
  const WindowRun& g = p.window;
  std::vector<int> widths = {1};
  for (int width : {2, 4}) {
    if (g.dilation[1] == 1 && g.out[1] >= width) widths.push_back(width);
  }
  const int wide = widths.back();
  if (Threads(p, wide) >= units * kBusyThreads) {
    std::swap(widths.front(), widths.back());
  }
  return widths;
}

absl::StatusOr<KernelSource> DepthwiseKernel(const ProductCall& call,
                                             const Product& p, int width) {
  ASSIGN_OR_RETURN(const std::string epilogue,
                   EpilogueText(call, p, kChannels));
  const WindowRun& g = p.window;
  const bool few = g.kernel[0] * g.kernel[1] <= kFewTaps;
  const bool ahead = few && ReadyOf(call, p).b;
  const int64_t count = Threads(p, width);
  const std::string filters =
      absl::StrReplaceAll(kFilters, {{"FROM", ahead ? "0" : "from"}});
  // Of several places the windows overlap.
  const int64_t next = width > 1 ? g.stride[1] : 0;
  const std::string body = absl::StrReplaceAll(
      kBody, {{"AHEAD", ahead ? filters : ""},
              {"BEHIND", ahead ? "" : filters},
              {"PAST", g.out[1] % width == 0
                           ? "false"
                           : absl::StrCat("first + o >= ", g.out[1])}});
  const std::string text = absl::StrReplaceAll(
      body, {{"BLOCK", absl::StrCat(kBlock)},
             {"COUNT", absl::StrCat(count)},
             {"CHUNKS", absl::StrCat(p.n / kChannels)},
             {"PARTS", absl::StrCat(CeilDiv(g.out[1], int64_t{width}))},
             {"WIDTH", absl::StrCat(width)},
             {"ROWS", absl::StrCat(few ? g.kernel[0] : 1)},
             {"COLUMNS", absl::StrCat((width - 1) * next + g.kernel[1])},
             {"NEXT", absl::StrCat(next)},
             {"APART", absl::StrCat(width > 1 ? 1 : g.dilation[1])},
             {"OUT_Y", absl::StrCat(g.out[0])},
             {"OUT_X", absl::StrCat(g.out[1])},
             {"STRIDE_Y", absl::StrCat(g.stride[0])},
             {"STRIDE_X", absl::StrCat(g.stride[1])},
             {"PAD_Y", absl::StrCat(g.pad[0])},
             {"PAD_X", absl::StrCat(g.pad[1])},
             {"KERNEL_Y", absl::StrCat(g.kernel[0])},
             {"KERNEL_X", absl::StrCat(g.kernel[1])},
             {"DILATION_Y", absl::StrCat(g.dilation[0])},
             {"IN_Y", absl::StrCat(g.in[0])},
             {"IN_X", absl::StrCat(g.in[1])},
             {"STEP_N", absl::StrCat(g.step_n)},
             {"STEP_Y", absl::StrCat(g.step[0])},
             {"STEP_X", absl::StrCat(g.step[1])},
             {"F_STEP_Y", absl::StrCat(g.filter_step[0])},
             {"F_STEP_X", absl::StrCat(g.filter_step[1])},
             {"F_BASE", absl::StrCat(g.filter_offset)},
             {"BASE", absl::StrCat(g.offset)},
             {"IMAGE", p.a.pointer},
             {"FILTER", p.b.pointer},
             {"TYPE", StorageType(p.dtype)},
             {"EPILOGUE", epilogue}});
  return KernelOfThreads(call, text, count, kBlock, kBlocks);
}

}  // namespace isomer::cuda

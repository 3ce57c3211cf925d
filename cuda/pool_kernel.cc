// A window is walked along as a convolution's is; what stands before the
// pooling is computed for each of its elements. There are no branches, so that
// all elements are asked for at once: past the image its border is read, and
// does not count; where zeros do not either, nothing is read there.
#include "cuda/pool_kernel.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Told that four blocks fit on a multiprocessor, the compiler keeps registers
// for all that is on its way.
constexpr int kWidth = 8, kBlock = 128, kBlocks = 4;
constexpr int64_t kMaxTaps = 64;  // that are written out

constexpr char kBody[] = R"(
  const int linear = blockIdx.x * BLOCK + threadIdx.x;
  iso_wait();
  if (linear >= COUNT) return;
  const int j = linear % CHUNKS, mm = linear / CHUNKS, zb = 0;
  const int place = mm % PLACES, nb = mm / PLACES;
  const int y0 = place / OUT_X * STRIDE_Y - PAD_Y;
  const int x0 = place % OUT_X * STRIDE_X - PAD_X;
  float acc[8];
#pragma unroll
  for (int u = 0; u < 8; ++u) acc[u] = START;
  int inside = 0;
#pragma unroll
  for (int ky = 0; ky < KERNEL_Y; ++ky) {
#pragma unroll
    for (int kx = 0; kx < KERNEL_X; ++kx) {
      const int yy = y0 + ky * DILATION_Y, xx = x0 + kx * DILATION_X;
WHERE
      inside += in;
ELEMENTS
    }
  }
MEAN
EPILOGUE
)";

// The element that is read, and whether it is one of the image.
constexpr char kBorder[] = R"(
      const int y = iso_min_int(iso_max_int(yy, 0), IN_Y - 1);
      const int x = iso_min_int(iso_max_int(xx, 0), IN_X - 1);
      const bool in = y == yy && x == xx;)";
constexpr char kNoBorder[] = R"(
      const int y = yy, x = xx;
      const bool in = (unsigned)y < IN_Yu && (unsigned)x < IN_Xu;)";

constexpr char kMean[] = R"(#pragma unroll
  for (int u = 0; u < 8; ++u) acc[u] *= each;)";

// What is done with elements past the image.
enum class Past {
  kZero,      // they are zeros
  kLeaveOut,  // its border is read, and left out
  kCount,     // its border is read, and may count
};

// Statements that take eight neighbouring elements of the operand at (nb, y, x)
// into acc.
absl::StatusOr<std::string> ElementsText(const ProductCall& call, Value operand,
                                         bool mean, Past past) {
  const std::vector<int64_t>& in = call.graph->type(operand).shape;
  ElementCode code(*call.graph);
  for (const Operand& o : call.inputs) code.Bind(o.value, o.place);
  code.SetVector(kWidth);
  const DimExpr nb = code.NewIndex("nb", in[0]);
  const DimExpr j = code.NewIndex("j", in[1] / kWidth);
  const DimExpr y = code.NewIndex("y", in[2]), x = code.NewIndex("x", in[3]);
  if (past == Past::kZero) code.ReadOnlyIf("in");
  std::string taken;
  for (int u = 0; u < kWidth; ++u) {
    ASSIGN_OR_RETURN(
        const std::string value,
        code.At(operand, {nb, j * DimExpr(kWidth) + DimExpr(u), y, x}));
    const std::string counted =
        past == Past::kLeaveOut
            ? absl::StrCat("in ? ", value, mean ? " : 0" : " : -ISO_INF")
            : value;
    absl::StrAppend(&taken, "acc[", u, "] = ",
                    mean ? absl::StrCat("acc[", u, "] + (", counted, ")")
                         : absl::StrCat("iso_max(acc[", u, "], ", counted, ")"),
                    ";\n");
  }
  return absl::StrCat(code.Close(), taken);
}

}  // namespace

absl::StatusOr<std::optional<KernelSource>> PoolKernel(
    const ProductCall& call) {
  const ir::Node& core = call.graph->node(call.core.node);
  const Value operand = core.inputs[0];
  const std::vector<int64_t> in = call.graph->type(operand).shape;
  const std::vector<int64_t> out = call.graph->type(call.core).shape;
  const DType dtype = call.graph->type(call.core).dtype;
  const bool mean = core.Is("avg_pool");
  if (in.size() != 4 || in[1] % kWidth != 0 ||
      (dtype != DType::kF16 && dtype != DType::kBF16)) {
    return std::nullopt;
  }
  for (const Operand& o : call.inputs) {
    if (IsFloat(o.place.dtype) && ByteSize(o.place.dtype) != 2) {
      return std::nullopt;
    }
  }
  const auto& kernel = core.attrs->Ints("kernel");
  const auto& stride = core.attrs->Ints("stride");
  const auto& pad = core.attrs->Ints("pad");
  const auto& dilation = core.attrs->Ints("dilation");
  const bool padding = mean && core.attrs->Int("count_include_pad") == 1;
  if (kernel[0] * kernel[1] > kMaxTaps ||
      (padding && core.attrs->Int("ceil_mode") == 1)) {
    return std::nullopt;
  }
  // Places are rows, channels are columns, as a convolution has them.
  Product p;
  p.dtype = dtype;
  p.convolution = true;
  p.m = out[0] * out[2] * out[3];
  p.n = out[1];
  // A zero is no different where nothing is computed before a sum, nor is an
  // element of the window for the largest one.
  bool counts = !mean;
  for (int d = 0; d < 2; ++d) {
    counts = counts && dilation[d] == 1 && pad[d] < kernel[d] &&
             (out[d + 2] - 1) * stride[d] - pad[d] < in[d + 2];
  }
  const bool plain = absl::c_any_of(
      call.inputs, [&](const Operand& o) { return o.value == operand; });
  const Past past = counts          ? Past::kCount
                    : mean && plain ? Past::kZero
                                    : Past::kLeaveOut;
  ASSIGN_OR_RETURN(const std::string elements,
                   ElementsText(call, operand, mean, past));
  ASSIGN_OR_RETURN(const std::string epilogue, EpilogueText(call, p, kWidth));
  const std::string divisor =
      padding ? absl::StrCat(kernel[0] * kernel[1]) : "inside";
  const int64_t count = p.m * p.n / kWidth;
  const std::string body = absl::StrReplaceAll(
      kBody, {{"WHERE", past == Past::kZero ? kNoBorder : kBorder},
              {"MEAN", mean ? absl::StrCat("  const float each = 1.0f / ",
                                           divisor, ";\n", kMean)
                            : ""}});
  const std::string text =
      absl::StrReplaceAll(body, {{"BLOCK", absl::StrCat(kBlock)},
                                 {"COUNT", absl::StrCat(count)},
                                 {"CHUNKS", absl::StrCat(p.n / kWidth)},
                                 {"PLACES", absl::StrCat(out[2] * out[3])},
                                 {"OUT_X", absl::StrCat(out[3])},
                                 {"STRIDE_Y", absl::StrCat(stride[0])},
                                 {"STRIDE_X", absl::StrCat(stride[1])},
                                 {"PAD_Y", absl::StrCat(pad[0])},
                                 {"PAD_X", absl::StrCat(pad[1])},
                                 {"KERNEL_Y", absl::StrCat(kernel[0])},
                                 {"KERNEL_X", absl::StrCat(kernel[1])},
                                 {"DILATION_Y", absl::StrCat(dilation[0])},
                                 {"DILATION_X", absl::StrCat(dilation[1])},
                                 {"IN_Y", absl::StrCat(in[2])},
                                 {"IN_X", absl::StrCat(in[3])},
                                 {"START", mean ? "0" : "-ISO_INF"},
                                 {"ELEMENTS", elements},
                                 {"EPILOGUE", epilogue}});
  return KernelOfThreads(call, text, count, kBlock, kBlocks);
}

}  // namespace isomer::cuda

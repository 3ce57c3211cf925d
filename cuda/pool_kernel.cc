// A window is walked along as a convolution's is; what stands before the
// pooling is computed for each of its elements. There are no branches, so that
// all elements are asked for at once: past the image its border is read, and
// does not count.
#include "cuda/pool_kernel.h"

#include <string>
#include <vector>

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
      const int y = iso_min_int(iso_max_int(yy, 0), IN_Y - 1);
      const int x = iso_min_int(iso_max_int(xx, 0), IN_X - 1);
      const bool in = y == yy && x == xx;
      inside += in;
ELEMENTS
    }
  }
MEAN
EPILOGUE
)";

// Statements that take eight neighbouring elements of the operand at (nb, y, x)
// into acc. `counts`: a border that is read past the image may count.
absl::StatusOr<std::string> ElementsText(const ProductCall& call, Value operand,
                                         bool mean, bool counts) {
  const std::vector<int64_t>& in = call.graph->type(operand).shape;
  ElementCode code(*call.graph);
  for (const Operand& o : call.inputs) code.Bind(o.value, o.place);
  code.SetVector(kWidth);
  const DimExpr nb = code.NewIndex("nb", in[0]);
  const DimExpr j = code.NewIndex("j", in[1] / kWidth);
  const DimExpr y = code.NewIndex("y", in[2]), x = code.NewIndex("x", in[3]);
  std::string taken;
  for (int u = 0; u < kWidth; ++u) {
    ASSIGN_OR_RETURN(
        const std::string value,
        code.At(operand, {nb, j * DimExpr(kWidth) + DimExpr(u), y, x}));
    absl::StrAppend(&taken, "acc[", u, "] = ",
                    mean ? absl::StrCat("acc[", u, "] + (in ? ", value, " : 0)")
                    : counts
                        ? absl::StrCat("iso_max(acc[", u, "], ", value, ")")
                        : absl::StrCat("iso_max(acc[", u, "], in ? ", value,
                                       " : -ISO_INF)"),
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
  // Of the largest element it may, where it is in the window anyway.
  bool counts = !mean;
  for (int d = 0; d < 2; ++d) {
    counts = counts && dilation[d] == 1 && pad[d] < kernel[d] &&
             (out[d + 2] - 1) * stride[d] - pad[d] < in[d + 2];
  }
  ASSIGN_OR_RETURN(const std::string elements,
                   ElementsText(call, operand, mean, counts));
  ASSIGN_OR_RETURN(const std::string epilogue, EpilogueText(call, p, kWidth));
  const std::string divisor =
      padding ? absl::StrCat(kernel[0] * kernel[1]) : "inside";
  const int64_t count = p.m * p.n / kWidth;
  const std::string text = absl::StrReplaceAll(
      kBody,
      {{"BLOCK", absl::StrCat(kBlock)},
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
       {"MEAN", mean ? absl::StrCat("#pragma unroll\n  for (int u = 0; u < 8; "
                                    "++u) acc[u] /= (float)",
                                    divisor, ";")
                     : ""},
       {"EPILOGUE", epilogue}});
  return KernelOfThreads(call, text, count, kBlock, kBlocks);
}

}  // namespace isomer::cuda

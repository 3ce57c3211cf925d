// Each thread has pieces of eight neighbours; sums meet in shuffles.
#include "cuda/norm_kernel.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

constexpr int kWidth = 8;
constexpr int64_t kMaxPieces = 4;  // of a thread
constexpr int kMaxLanes = 512;

constexpr char kBody[] = R"(
  const int row = blockIdx.x * ROWS + threadIdx.x / LANES;
  const int lane = threadIdx.x % LANES;
  iso_wait();
  if (row >= COUNT) return;
INDICES
  float x[PIECES][8], sum = 0;
#pragma unroll
  for (int t = 0; t < PIECES; ++t) {
    const int j = t * LANES + lane;
    if (j < CHUNKS) {
ELEMENTS
    } else {
#pragma unroll
      for (int u = 0; u < 8; ++u) x[t][u] = 0;
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) sum += x[t][u];
  }
  const float mean = CENTRED ? iso_share_sum<LANES>(sum) / LENGTH : 0;
  float squares = 0;
#pragma unroll
  for (int t = 0; t < PIECES; ++t) {
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const float d = t * LANES + lane < CHUNKS ? x[t][u] - mean : 0;
      squares += d * d;
    }
  }
  const float scale =
      rsqrtf(iso_share_sum<LANES>(squares) / LENGTH + EPSILON);
#pragma unroll
  for (int t = 0; t < PIECES; ++t) {
    const int j = t * LANES + lane;
    if (j < CHUNKS) {
      float acc[8];
#pragma unroll
      for (int u = 0; u < 8; ++u) acc[u] = (x[t][u] - mean) * scale;
RESULTS
    }
  }
)";

// Code over the indices i0, ... of a row and pieces j of its elements.
struct RowCode {
  ElementCode code;
  std::vector<DimExpr> index;  // of element 0 of a piece
  RowCode(const ProductCall& call, const std::vector<int64_t>& shape)
      : code(*call.graph) {
    for (const Operand& o : call.inputs) code.Bind(o.value, o.place);
    code.SetVector(kWidth);
    for (size_t d = 0; d + 1 < shape.size(); ++d) {
      index.push_back(code.NewIndex(absl::StrCat("i", d), shape[d]));
    }
    index.push_back(code.NewIndex("j", shape.back() / kWidth) *
                    DimExpr(kWidth));
  }
  std::vector<DimExpr> At(int u) const {
    std::vector<DimExpr> at = index;
    at.back() += DimExpr(u);
    return at;
  }
};

absl::StatusOr<std::string> ElementsText(const ProductCall& call,
                                         const std::vector<int64_t>& shape) {
  RowCode row(call, shape);
  const Value operand = call.graph->node(call.core.node).inputs[0];
  std::string taken;
  for (int u = 0; u < kWidth; ++u) {
    ASSIGN_OR_RETURN(const std::string value, row.code.At(operand, row.At(u)));
    absl::StrAppend(&taken, "x[t][", u, "] = ", value, ";\n");
  }
  return absl::StrCat(row.code.Close(), taken);
}

// Scaled, moved, through what comes after the norm, and stored.
absl::StatusOr<std::string> ResultsText(const ProductCall& call,
                                        const std::vector<int64_t>& shape) {
  RowCode row(call, shape);
  const ir::Node& core = call.graph->node(call.core.node);
  std::vector<std::string> values;
  std::vector<DimExpr> offsets;
  for (int u = 0; u < kWidth; ++u) {
    const std::vector<DimExpr> at = row.At(u);
    std::string normed = absl::StrCat("acc[", u, "]");
    const char* const operators[] = {"", " * ", " + "};
    for (size_t k = 1; k < core.inputs.size(); ++k) {
      ASSIGN_OR_RETURN(const std::string factor,
                       row.code.At(core.inputs[k], {at.back()}));
      absl::StrAppend(&normed, operators[k], factor);
    }
    row.code.BindElement(call.core, at, absl::StrCat("(", normed, ")"));
    ASSIGN_OR_RETURN(std::string value, row.code.At(call.output.value, at));
    values.push_back(std::move(value));
    offsets.push_back(row.code.Offset(call.output.place, at));
  }
  std::string text = row.code.Close();
  return absl::StrCat(
      text, StoreElements(call.output.place, values, offsets, row.code));
}

// "const int i0 = row / 3, i1 = row % 3;"
std::string IndicesText(const std::vector<int64_t>& shape) {
  std::string text;
  int64_t below = 1;
  for (size_t d = shape.size() - 1; d-- > 0;) {
    absl::StrAppendFormat(&text, "  const int i%d = row / %d %% %d;\n", d,
                          below, shape[d]);
    below *= shape[d];
  }
  return text;
}

}  // namespace

absl::StatusOr<std::optional<KernelSource>> NormKernel(
    const ProductCall& call) {
  const ir::Node& core = call.graph->node(call.core.node);
  const std::vector<int64_t> shape = call.graph->type(call.core).shape;
  const int64_t length = shape.back();
  for (const Operand& o : call.inputs) {
    if (IsFloat(o.place.dtype) && ByteSize(o.place.dtype) != 2) {
      return std::nullopt;
    }
  }
  if (core.attrs->Int("axis") + 1 != static_cast<int64_t>(shape.size()) ||
      length % kWidth != 0 || ByteSize(call.output.place.dtype) != 2 ||
      call.graph->type(call.output.value).shape != shape) {
    return std::nullopt;
  }
  const int64_t chunks = length / kWidth, rows = NumElements(shape) / length;
  int lanes = 32;
  while (lanes < kMaxLanes && lanes * kMaxPieces < chunks) lanes *= 2;
  if (lanes * kMaxPieces < chunks) return std::nullopt;
  const int per_block = lanes == 32 && rows >= 132 * 8 ? 4 : 1;
  ASSIGN_OR_RETURN(const std::string elements, ElementsText(call, shape));
  ASSIGN_OR_RETURN(const std::string results, ResultsText(call, shape));
  const std::string text = absl::StrReplaceAll(
      kBody,
      {{"ROWS", absl::StrCat(per_block)},
       {"LANES", absl::StrCat(lanes)},
       {"COUNT", absl::StrCat(rows)},
       {"PIECES", absl::StrCat(CeilDiv(chunks, int64_t{lanes}))},
       {"CHUNKS", absl::StrCat(chunks)},
       {"CENTRED", core.Is("layer_norm") ? "true" : "false"},
       {"LENGTH", absl::StrCat(length, ".0f")},
       {"EPSILON", absl::StrFormat("%.9ef", core.attrs->Float("epsilon"))},
       {"INDICES", IndicesText(shape)},
       {"ELEMENTS", elements},
       {"RESULTS", results}});
  KernelSource source;
  source.block = lanes * per_block;
  source.text = KernelText({.inputs = call.inputs,
                            .outputs = {call.output},
                            .threads = source.block,
                            .lanes = lanes},
                           text);
  source.grid[0] = static_cast<int>(CeilDiv(rows, int64_t{per_block}));
  return source;
}

}  // namespace isomer::cuda

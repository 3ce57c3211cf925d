// Each thread has pieces of eight neighbours; sums meet in shuffles.
#include "cuda/norm_kernel.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
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
FACTORS
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

struct Call {
  const ir::Graph& graph;
  Value core;
  const std::vector<Operand>& inputs;
  const std::vector<Operand>& outputs;
  const NormRegisters& registers;

  const ir::Node& norm() const { return graph.node(core.node); }
  const std::vector<int64_t>& shape() const {
    return graph.type(outputs[0].value).shape;
  }
};

// Code over the indices i0, ... of a row of results and pieces j of it.
class RowCode {
 public:
  explicit RowCode(const Call& call) : call_(call), code_(call.graph) {
    for (const Operand& o : call.inputs) code_.Bind(o.value, o.place);
    code_.SetVector(kWidth);
    const std::vector<int64_t>& shape = call.shape();
    for (size_t d = 0; d + 1 < shape.size(); ++d) {
      index_.push_back(code_.NewIndex(absl::StrCat("i", d), shape[d]));
    }
    index_.push_back(code_.NewIndex("j", shape.back() / kWidth) *
                     DimExpr(kWidth));
  }

  ElementCode& code() { return code_; }
  // The index of element u of a piece of a result.
  std::vector<DimExpr> At(int u) const {
    std::vector<DimExpr> at = index_;
    at.back() += DimExpr(u);
    return at;
  }
  // And of the element of the norm that it is made of; nothing if that is not
  // as far into its row.
  absl::StatusOr<std::optional<std::vector<DimExpr>>> NormAt(int u) const {
    const std::vector<DimExpr> at = At(u);
    if (call_.graph.type(call_.core).shape == call_.shape()) return at;
    RowCode views(call_);
    views.code_.Bind(call_.core, {});
    ASSIGN_OR_RETURN(const auto source,
                     views.code_.SourceOf(call_.outputs[0].value, at));
    if (!source || source->value != call_.core ||
        source->index.back() != at.back()) {
      return std::nullopt;
    }
    return source->index;
  }

 private:
  const Call& call_;
  ElementCode code_;
  std::vector<DimExpr> index_;  // of element 0 of a piece
};

absl::StatusOr<std::optional<std::string>> ElementsText(const Call& call) {
  RowCode row(call);
  std::string taken;
  for (int u = 0; u < kWidth; ++u) {
    ASSIGN_OR_RETURN(const auto at, row.NormAt(u));
    if (!at) return std::nullopt;
    ASSIGN_OR_RETURN(const std::string value,
                     row.code().At(call.norm().inputs[0], *at));
    absl::StrAppend(&taken, "x[t][", u, "] = ", value, ";\n");
  }
  return absl::StrCat(row.code().Close(), taken);
}

// What rows are scaled or moved by, where it is kept in pieces.
const Operand* FactorInPieces(const Call& call, size_t k) {
  if (call.registers.factors_as_floats) return nullptr;
  for (const Operand& o : call.inputs) {
    if (o.value != call.norm().inputs[k]) continue;
    const bool pieces = o.place.stride == std::vector<int64_t>{1} &&
                        o.place.offset % kWidth == 0;
    return pieces ? &o : nullptr;
  }
  return nullptr;
}

// Element u of a piece of it.
std::string FactorText(const Call& call, size_t k, int u) {
  const std::string piece = absl::StrCat("f", k, "[t]");
  return FactorInPieces(call, k) != nullptr
             ? absl::StrCat("iso_value(", piece, ".at[", u, "])")
             : absl::StrCat(piece, "[", u, "]");
}

// Reads what rows are scaled and moved by to f1 and f2: before the kernel waits
// for the one before if it may, and in any case before rows are summed up.
absl::StatusOr<std::string> FactorsText(const Call& call) {
  RowCode row(call);
  const ir::Node& norm = call.norm();
  std::string arrays, taken, wait = "iso_wait();\n";
  bool there = true;
  for (size_t k = 1; k < norm.inputs.size(); ++k) {
    there = there && absl::c_any_of(call.inputs, [&](const Operand& o) {
              return o.value == norm.inputs[k] && o.there;
            });
    if (const Operand* o = FactorInPieces(call, k)) {
      const std::string type =
          absl::StrCat("<", StorageType(o->place.dtype), ", ", kWidth, ">");
      absl::StrAppend(&arrays, "  iso_pack", type, " f", k, "[PIECES];\n");
      absl::StrAppend(
          &taken, "f", k, "[t] = iso_load_pack", type, "(", o->place.pointer,
          " + ",
          row.code().Text(row.code().Offset(o->place, {row.At(0).back()})),
          ");\n");
      continue;
    }
    absl::StrAppend(&arrays, "  float f", k, "[PIECES][8];\n");
    for (int u = 0; u < kWidth; ++u) {
      ASSIGN_OR_RETURN(const std::string factor,
                       row.code().At(norm.inputs[k], {row.At(u).back()}));
      absl::StrAppend(&taken, FactorText(call, k, u), " = ", factor, ";\n");
    }
  }
  std::string text = absl::StrCat(
      arrays,
      "#pragma unroll\n  for (int t = 0; t < PIECES; ++t) {\n"
      "    const int j = t * LANES + lane;\n    if (j >= CHUNKS) continue;\n",
      row.code().Close(), taken, "  }\n");
  return there ? absl::StrCat(text, wait) : absl::StrCat(wait, text);
}

// Scaled, moved, through what comes after the norm, and stored.
absl::StatusOr<std::string> ResultsText(const Call& call) {
  RowCode row(call);
  const ir::Node& norm = call.norm();
  std::vector<std::vector<std::string>> values(call.outputs.size());
  std::vector<std::vector<DimExpr>> offsets(call.outputs.size());
  for (int u = 0; u < kWidth; ++u) {
    ASSIGN_OR_RETURN(const auto at, row.NormAt(u));
    std::string normed = absl::StrCat("acc[", u, "]");
    const char* const operators[] = {"", " * ", " + "};
    for (size_t k = 1; k < norm.inputs.size(); ++k) {
      absl::StrAppend(&normed, operators[k], FactorText(call, k, u));
    }
    row.code().BindElement(norm.inputs[0], *at, absl::StrCat("x[t][", u, "]"));
    row.code().BindElement(call.core, *at, absl::StrCat("(", normed, ")"));
    for (size_t o = 0; o < call.outputs.size(); ++o) {
      ASSIGN_OR_RETURN(std::string value,
                       row.code().At(call.outputs[o].value, row.At(u)));
      values[o].push_back(std::move(value));
      offsets[o].push_back(row.code().Offset(call.outputs[o].place, row.At(u)));
    }
  }
  std::string text = row.code().Close();
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    absl::StrAppend(
        &text, "{\n",
        StoreElements(call.outputs[o].place, values[o], offsets[o], row.code()),
        "}\n");
  }
  return text;
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
    const ir::Graph& graph, Value core, const std::vector<Operand>& inputs,
    const std::vector<Operand>& outputs, const NormRegisters& registers) {
  const Call call{graph, core, inputs, outputs, registers};
  const ir::Node& norm = call.norm();
  const TensorType& type = graph.type(core);
  const int64_t length = type.shape.back();
  for (const Operand& o : inputs) {
    if (IsFloat(o.place.dtype) && ByteSize(o.place.dtype) != 2) {
      return std::nullopt;
    }
  }
  for (const Operand& o : outputs) {
    if (ByteSize(o.place.dtype) != 2) return std::nullopt;
  }
  if (norm.attrs->Int("axis") + 1 != type.rank() || length % kWidth != 0 ||
      call.shape().empty() || call.shape().back() != length) {
    return std::nullopt;
  }
  const int64_t chunks = length / kWidth, rows = NumElements(type) / length;
  int lanes = 32;
  while (lanes < kMaxLanes && lanes * kMaxPieces < chunks) lanes *= 2;
  if (lanes * kMaxPieces < chunks) return std::nullopt;
  const int per_block = lanes > 32 ? 1 : rows >= 132 * 8 ? 4 : rows > 1 ? 2 : 1;
  ASSIGN_OR_RETURN(const auto elements, ElementsText(call));
  if (!elements) return std::nullopt;
  ASSIGN_OR_RETURN(const std::string factors, FactorsText(call));
  ASSIGN_OR_RETURN(const std::string results, ResultsText(call));
  const std::string body =
      absl::StrReplaceAll(kBody, {{"FACTORS", factors},
                                  {"INDICES", IndicesText(call.shape())},
                                  {"ELEMENTS", *elements},
                                  {"RESULTS", results}});
  const std::string text = absl::StrReplaceAll(
      body,
      {{"ROWS", absl::StrCat(per_block)},
       {"LANES", absl::StrCat(lanes)},
       {"COUNT", absl::StrCat(rows)},
       {"PIECES", absl::StrCat(CeilDiv(chunks, int64_t{lanes}))},
       {"CHUNKS", absl::StrCat(chunks)},
       {"CENTRED", norm.Is("layer_norm") ? "true" : "false"},
       {"LENGTH", absl::StrCat(length, ".0f")},
       {"EPSILON", absl::StrFormat("%.9ef", norm.attrs->Float("epsilon"))}});
  KernelSource source;
  source.block = lanes * per_block;
  source.text = KernelText({.inputs = inputs,
                            .outputs = outputs,
                            .threads = source.block,
                            .lanes = lanes,
                            .blocks = registers.blocks},
                           text);
  source.grid[0] = static_cast<int>(CeilDiv(rows, int64_t{per_block}));
  return source;
}

}  // namespace isomer::cuda

// gather_elements(x, indices, axis=a): for every index its own element of x
// along dimension a:
//
//   out[i, j] = x[indices[i, j], j]   (axis=0)
//
// Indices count modulo the dimension, as gather's do.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferGatherElements(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  RETURN_IF_ERROR(c.Rank(1, c.in(0).rank()));
  const TypeT<D>&x = c.in(0), &indices = c.in(1);
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", x.rank()));
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) {
    return c.Fail("indices must be i32 or i64");
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis) continue;
    RETURN_IF_ERROR(
        c.AtLeast(x.shape[d], indices.shape[d],
                  absl::StrCat("indices are larger in dimension ", d)));
  }
  RETURN_IF_ERROR(
      c.AtLeast(x.shape[axis], D(1), "the dimension to gather from is empty"));
  return std::vector{TypeT<D>{x.dtype, indices.shape}};
}

constexpr auto GatherElementsElement = [](const auto& c) {
  const int axis = static_cast<int>(c.Number("axis"));
  return [&c, axis, n = c.dim(0, axis)](const auto& i) {
    auto at = i;
    at[axis] = Mod(c.IntAt(1, i), n);
    return c.At(0, at);
  };
};

Imported FromGatherElements(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (NumElements(c.type(in[0])) == 0) {
    return Unsupported(c.node().op_type, ": the first input is empty");
  }
  return One(c.Add("gather_elements", in, {{"axis", c.node().Int("axis")}}));
}

Exported ToGatherElements(OnnxExport& c) {
  if (c.opset() < 11) return Unsupported("GatherElements: needs opset 11");
  return c.Emit("GatherElements", c.AllIn(), {{"axis", c.attrs().Int("axis")}});
}

}  // namespace

std::vector<OpDef> DefineGatherElements() {
  return {{
      .name = "gather_elements",
      .inputs = Inputs({"x", "indices"}),
      .attrs = {AxisAttr("axis").Default(int64_t{0}).Samples({0, 1, -1})},
      .infer = Infer([](auto& c) { return InferGatherElements(c); }),
      .element = Element(GatherElementsElement),
      .examples = {"gather_elements([[1 2] [3 4]], [[0 0] [1 0]]:i64, axis=1) "
                   "= [[1 1] [4 3]]",
                   "gather_elements([[1 2] [3 4]], [[-1 0]]:i32, axis=0) = "
                   "[[3 2]]"},
      .cases = {"gather_elements(f32[3,4], i64[2,4], axis=0)",
                "gather_elements(f16[2,3,2], i64[2,5,1], axis=1)",
                "gather_elements(i64[3], i32[4], axis=-1)"},
      .onnx = {.from = {{"GatherElements", FromGatherElements}},
               .to = ToGatherElements},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

// gather(x, indices, axis=a): dimension a of x replaced by the dimensions of
// `indices`, whose elements say which slice of x stands there:
//
//   out[before..., i..., after...] = x[before..., indices[i...], after...]
//
// Indices count modulo the dimension, so that -1 is the last slice. ONNX gives
// no meaning to those outside [-n, n); here every index has one.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferGather(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  const TypeT<D>&x = c.in(0), &indices = c.in(1);
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", x.rank()));
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) {
    return c.Fail("indices must be i32 or i64");
  }
  RETURN_IF_ERROR(
      c.AtLeast(x.shape[axis], D(1), "the dimension to gather from is empty"));
  TypeT<D> out{x.dtype, {x.shape.begin(), x.shape.begin() + axis}};
  out.shape.insert(out.shape.end(), indices.shape.begin(), indices.shape.end());
  out.shape.insert(out.shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return std::vector{out};
}

constexpr auto GatherElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const int axis = static_cast<int>(c.Number("axis"));
  return [&c, axis, count = c.rank(1), n = c.dim(0, axis)](const auto& i) {
    const auto first = i.begin() + axis, last = first + count;
    typename C::Indices at(i.begin(), first);
    at.push_back(Mod(c.IntAt(1, typename C::Indices(first, last)), n));
    at.insert(at.end(), last, i.end());
    return c.At(0, at);
  };
};

Imported FromGather(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (NumElements(c.type(in[0])) == 0) {
    return Unsupported(c.node().op_type, ": the first input is empty");
  }
  return One(c.Add("gather", in, {{"axis", c.node().Int("axis")}}));
}

Exported ToGather(OnnxExport& c) {
  return c.Emit("Gather", c.AllIn(), {{"axis", c.attrs().Int("axis")}});
}

}  // namespace

std::vector<OpDef> DefineGather() {
  return {{
      .name = "gather",
      .inputs = Inputs({"x", "indices"}),
      .attrs = {AxisAttr("axis").Default(int64_t{0}).Samples({0, 1, -1})},
      .infer = Infer([](auto& c) { return InferGather(c); }),
      .element = Element(GatherElement),
      .axioms = {"gather(gather(x, i, axis=0), j, axis=0) <=> "
                 "gather(x, gather(i, j, axis=0), axis=0)"},
      .examples = {"gather([10 20 30], [2 0 -1]:i64, axis=0) = [30 10 30]",
                   "gather([[1 2] [3 4]], 1:i64, axis=-1) = [2 4]",
                   "gather([[1 2] [3 4]], [[1] [0]]:i32, axis=0) = "
                   "[[[3 4]] [[1 2]]]"},
      .cases = {"gather(f32[4,3], i64[2], axis=0)",
                "gather(f16[2,3,2], i64[2,2], axis=1)",
                "gather(i64[3], i64[], axis=0)",
                "gather(bool[2,3], i32[1], axis=-1)"},
      .onnx = {.from = {{"Gather", FromGather}}, .to = ToGather},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

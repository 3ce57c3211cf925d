// one_hot(x, depth=n, axis=a, dtype=t): a new dimension of size n at place a,
// with 1 at the index that x holds and 0 elsewhere. An index from -n to -1
// counts from the end; any other index outside gives zeros.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferOneHot(InferContext<D>& c) {
  if (!IsInteger(c.in(0).dtype)) return c.Fail("indices must be integers");
  RETURN_IF_ERROR(c.AtLeast(c.Int("depth"), D(0), "depth is negative"));
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", c.in(0).rank() + 1));
  TypeT<D> out{c.attrs().Type("dtype"), c.in(0).shape};
  out.shape.insert(out.shape.begin() + axis, c.Int("depth"));
  return std::vector{out};
}

constexpr auto OneHotElement = [](const auto& c) {
  const int axis = static_cast<int>(c.Number("axis"));
  return [&c, axis, depth = c.Int("depth")](const auto& i) {
    auto at = i;
    at.erase(at.begin() + axis);
    const auto index = c.IntAt(0, at);
    return c.If(
        c.Or(c.Eq(index, i[axis]), c.Eq(index + depth, i[axis])),
        [&] { return c.Const(1); }, [&] { return c.Const(0); });
  };
};

// OneHot(indices, depth, [off on]): the values choose, unless they are 0 and 1.
Imported FromOneHot(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  std::optional<Tensor> depth = c.Known(1), values = c.Known(2);
  if (!depth || depth->size() != 1 || !values || values->size() != 2) {
    return Unsupported("OneHot: depth and values must be known");
  }
  if (!IsInteger(c.type(x).dtype)) {
    ASSIGN_OR_RETURN(x, c.Add("cast", {x}, {{"to", DType::kI64}}));
  }
  const DType dtype = values->type.dtype;
  const double off = ToDoubles(*values)[0], on = ToDoubles(*values)[1];
  const bool plain = off == 0 && on == 1;
  ASSIGN_OR_RETURN(Value hot,
                   c.Add("one_hot", {x},
                         {{"depth", static_cast<int64_t>(ToDoubles(*depth)[0])},
                          {"axis", c.node().Int("axis", -1)},
                          {"dtype", plain ? dtype : DType::kBool}}));
  if (plain) return One(hot);
  const std::vector<int64_t> shape = c.type(hot).shape;
  ASSIGN_OR_RETURN(Value x_on, c.Scalar(dtype, on));
  ASSIGN_OR_RETURN(x_on, c.BroadcastTo(x_on, shape));
  ASSIGN_OR_RETURN(Value x_off, c.Scalar(dtype, off));
  ASSIGN_OR_RETURN(x_off, c.BroadcastTo(x_off, shape));
  return One(c.Add("where", {hot, x_on, x_off}));
}

Exported ToOneHot(OnnxExport& c) {
  if (c.opset() < 9) {
    return Unsupported("OneHot: opset ", c.opset(),
                       " has none; it came with opset 9");
  }
  const TensorType pair{c.attrs().Type("dtype"), {2}};
  const std::string values =
      c.Constant(IsFloat(pair.dtype) ? FromDoubles(pair, {0.0, 1.0})
                                     : FromInts(pair, {0, 1}));
  const double depth = static_cast<double>(c.attrs().Int("depth"));
  return c.Emit("OneHot", {c.In(0), c.Scalar(DType::kI64, depth), values},
                {{"axis", c.attrs().Int("axis")}});
}

}  // namespace

std::vector<OpDef> DefineOneHot() {
  return {{
      .name = "one_hot",
      .inputs = Inputs({"x"}),
      .attrs = {IntAttr("depth").Samples({3, 2}),
                AxisAttr("axis").Default(-1).Samples({-1, 0}),
                DTypeAttr("dtype").Default(DType::kF32)},
      .infer = Infer([](auto& c) { return InferOneHot(c); }),
      .element = Element(OneHotElement),
      .examples = {"one_hot([2 0]:i64, depth=3) = [[0 0 1] [1 0 0]]",
                   "one_hot([-1 5]:i64, depth=2, axis=0, dtype=i32) = "
                   "[[0 0] [1 0]]:i32",
                   "one_hot(1:i64, depth=2, dtype=bool) = [false true]"},
      .cases = {"one_hot(i64[2,3], depth=4, axis=1)",
                "one_hot(i32[3], depth=2, dtype=f16)"},
      .onnx = {.from = {{"OneHot", FromOneHot}}, .to = ToOneHot},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

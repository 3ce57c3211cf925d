// eye(shape=[n m], k=0, dtype=t): ones on the diagonal where the column is the
// row plus k, zeros elsewhere.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// Matrices up to this size leave as initializers.
constexpr int64_t kInitializer = 1024;

template <class D>
Types<D> InferEye(InferContext<D>& c) {
  TypeT<D> out{c.attrs().Type("dtype"), c.Ints("shape")};
  if (out.rank() != 2) return c.Fail("shape must have two sizes");
  for (const D& d : out.shape) {
    RETURN_IF_ERROR(c.AtLeast(d, D(0), "a size is negative"));
  }
  return std::vector{out};
}

constexpr auto EyeElement = [](const auto& c) {
  return [&c, k = c.Int("k")](const auto& i) {
    return c.If(
        c.Eq(i[1], i[0] + k), [&] { return c.Const(1); },
        [&] { return c.Const(0); });
  };
};

// EyeLike takes its shape, and without a dtype its type, from the input.
Imported FromEyeLike(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const TensorType type = c.type(x);
  DType dtype = type.dtype;
  if (c.node().Has("dtype")) {
    ASSIGN_OR_RETURN(
        dtype, FromOnnxDType(static_cast<int32_t>(c.node().Int("dtype"))));
  }
  return One(c.Add(
      "eye", {},
      {{"shape", type.shape}, {"k", c.node().Int("k", 0)}, {"dtype", dtype}}));
}

Tensor EyeTensor(const TensorType& type, int64_t k) {
  std::vector<int64_t> values;
  for (int64_t r = 0; r < type.shape[0]; ++r) {
    for (int64_t col = 0; col < type.shape[1]; ++col) {
      values.push_back(col == r + k);
    }
  }
  if (!IsFloat(type.dtype)) return FromInts(type, values);
  return FromDoubles(type, std::vector<double>(values.begin(), values.end()));
}

// Large matrices leave as EyeLike of a tensor that holds nothing of interest.
Exported ToEye(OnnxExport& c) {
  const TensorType& type = c.out_type(0);
  const int64_t k = c.attrs().Int("k");
  if (NumElements(type) <= kInitializer || c.opset() < 9 ||
      type.dtype == DType::kBF16) {
    return std::vector<std::string>{c.Constant(EyeTensor(type, k))};
  }
  const std::vector<std::string> like =
      c.Emit("ConstantOfShape", {c.Ints(type.shape)});
  return c.Emit("EyeLike", like,
                {{"k", k}, {"dtype", int64_t{OnnxDType(type.dtype)}}});
}

}  // namespace

std::vector<OpDef> DefineEye() {
  return {{
      .name = "eye",
      .inputs = Inputs({}),
      .attrs = {IntsAttr("shape").Samples({std::vector<int64_t>{2, 3}}),
                IntAttr("k").Default(0).Samples({0, 1, -1}),
                DTypeAttr("dtype").Default(DType::kF32)},
      .infer = Infer([](auto& c) { return InferEye(c); }),
      .element = Element(EyeElement),
      .examples = {"eye(shape=[2 3]) = [[1 0 0] [0 1 0]]",
                   "eye(shape=[2 2], k=1, dtype=i64) = [[0 1] [0 0]]:i64",
                   "eye(shape=[3 1], k=-2) = [[0] [0] [1]]"},
      .cases = {"eye(shape=[3 3], dtype=f16)", "eye(shape=[40 30], k=-1)",
                "eye(shape=[2 2], dtype=bool)"},
      .onnx = {.from = {{"EyeLike", FromEyeLike}}, .to = ToEye},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

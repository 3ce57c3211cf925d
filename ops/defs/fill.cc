// fill(value=v, shape=[...], dtype=t): a tensor of equal elements. It has no
// inputs; the value is kept rounded to the type, so that it is the same number
// under every interpretation.
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// Tensors up to this size leave as initializers.
constexpr int64_t kInitializer = 1024;

template <class D>
Types<D> InferFill(InferContext<D>& c) {
  TypeT<D> out{c.attrs().Type("dtype"), c.Ints("shape")};
  for (const D& d : out.shape) {
    RETURN_IF_ERROR(c.AtLeast(d, D(0), "a size is negative"));
  }
  const double value = c.attrs().Float("value");
  if (out.dtype == DType::kBool && value != 0 && value != 1) {
    return c.Fail("value must be 0 or 1");
  }
  if (IsInteger(out.dtype)) {
    // Beyond 2^53 an attribute does not tell one integer from the next.
    if (!(std::fabs(value) <= 0x1p53) || value != std::trunc(value) ||
        WrapTo(out.dtype, static_cast<int64_t>(value)) !=
            static_cast<int64_t>(value)) {
      return c.Fail("value must be an integer of that type, at most 2^53");
    }
  }
  c.SetAttr("value", RoundTo(out.dtype, value));
  return std::vector{out};
}

Imported FromConstantOfShape(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, c.KnownInts(0));
  double value = 0;
  DType dtype = DType::kF32;
  if (const OnnxTensorRef* t = c.node().Tensor("value")) {
    ASSIGN_OR_RETURN(dtype, FromOnnxDType(t->dtype));
    ASSIGN_OR_RETURN(Tensor one,
                     FromBytes({dtype, {1}}, t->bytes.view, Interp::kRun));
    value = ToDoubles(one)[0];
    if (!IsFloat(dtype) &&
        (std::fabs(value) > 0x1p53 || (dtype == DType::kU64 && value < 0))) {
      return Unsupported("ConstantOfShape: the value is beyond 2^53");
    }
  }
  return One(
      c.Add("fill", {},
            {{"value", value}, {"shape", std::move(shape)}, {"dtype", dtype}}));
}

// `n` equal elements.
Tensor Filled(TensorType type, double value) {
  const int64_t n = NumElements(type);
  if (IsFloat(type.dtype)) {
    return FromDoubles(std::move(type), std::vector<double>(n, value));
  }
  return FromInts(std::move(type),
                  std::vector<int64_t>(n, static_cast<int64_t>(value)));
}

// Large tensors leave as ConstantOfShape, which has bf16 from opset 20 on.
Exported ToFill(OnnxExport& c) {
  const TensorType& type = c.out_type(0);
  const double value = c.attrs().Float("value");
  const int since = type.dtype == DType::kBF16 ? 20 : 9;
  if (NumElements(type) <= kInitializer || c.opset() < since) {
    return std::vector<std::string>{c.Constant(Filled(type, value))};
  }
  const Tensor one = Filled({type.dtype, {1}}, value);
  OnnxTensorRef ref{.name = "",
                    .dtype = OnnxDType(type.dtype),
                    .dims = {1},
                    .bytes = SharedBytes::Own(ToBytes(one)),
                    .strings = {}};
  return c.Emit("ConstantOfShape", {c.Ints(type.shape)},
                {{"value", std::move(ref)}});
}

}  // namespace

std::vector<OpDef> DefineFill() {
  return {{
      .name = "fill",
      .inputs = Inputs({}),
      .attrs = {FloatAttr("value").Samples({0.0, 1.0, 0.5}),
                IntsAttr("shape").Samples({std::vector<int64_t>{2, 3}}),
                DTypeAttr("dtype").Default(DType::kF32)},
      .infer = Infer([](auto& c) { return InferFill(c); }),
      .element = Element([](const auto& c) {
        return
            [value = c.Const(c.Float("value"))](const auto&) { return value; };
      }),
      .examples = {"fill(value=0.5, shape=[2 1]) = [[0.5] [0.5]]",
                   "fill(value=-3, shape=[], dtype=i64) = -3:i64",
                   "fill(value=1, shape=[0], dtype=bool) = []:bool"},
      .cases = {"fill(value=1, shape=[2 3], dtype=f16)",
                "fill(value=1, shape=[2], dtype=bool)",
                "fill(value=0.25, shape=[40 40])"},
      .onnx = {.from = {{"ConstantOfShape", FromConstantOfShape}},
               .to = ToFill},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

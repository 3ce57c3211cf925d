// gelu(x) = x * (1 + erf(x / sqrt(2))) / 2, element by element, and gelu_tanh,
// its well-known approximation:
//   x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) / 2
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

constexpr double kSqrt2 = 1.4142135623730951;
constexpr double kSqrt2OverPi = 0.7978845608028654;
constexpr double kCubic = 0.044715;

constexpr auto GeluKernel = [](auto& c, auto function) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const std::vector<T>& x = c.inputs[0]->template as<T>();
  std::vector<T>& y = c.outputs[0].template as<T>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = function(x[i]);
  return absl::OkStatus();
};

template <class T>
T GeluTanh(T x) {
  const T inner =
      static_cast<T>(kSqrt2OverPi) * (x + static_cast<T>(kCubic) * x * x * x);
  return x * (1 + std::tanh(inner)) / 2;
}

Imported FromGelu(OnnxImport& c) {
  const std::string mode = c.node().String("approximate", "none");
  if (mode != "none" && mode != "tanh") {
    return Invalid("Gelu: approximate is ", mode);
  }
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(c.Add(mode == "tanh" ? "gelu_tanh" : "gelu", {x}));
}

// Before opset 20: the decompositions that ONNX Runtime puts together again.
Exported ToGelu(OnnxExport& c) {
  if (c.opset() >= 20) return c.Emit("Gelu", {c.In(0)});
  const DType dtype = c.in_type(0).dtype;
  std::string y = c.Emit("Div", {c.In(0), c.Scalar(dtype, kSqrt2)})[0];
  y = c.Emit("Erf", {y})[0];
  y = c.Emit("Add", {y, c.Scalar(dtype, 1)})[0];
  y = c.Emit("Mul", {c.In(0), y})[0];
  return c.Emit("Mul", {y, c.Scalar(dtype, 0.5)});
}

Exported ToGeluTanh(OnnxExport& c) {
  if (c.opset() >= 20) {
    return c.Emit("Gelu", {c.In(0)}, {{"approximate", std::string("tanh")}});
  }
  const DType dtype = c.in_type(0).dtype;
  std::string y = c.Emit("Pow", {c.In(0), c.Scalar(dtype, 3)})[0];
  y = c.Emit("Mul", {y, c.Scalar(dtype, kCubic)})[0];
  y = c.Emit("Add", {c.In(0), y})[0];
  y = c.Emit("Mul", {y, c.Scalar(dtype, kSqrt2OverPi)})[0];
  y = c.Emit("Tanh", {y})[0];
  y = c.Emit("Add", {y, c.Scalar(dtype, 1)})[0];
  std::string half = c.Emit("Mul", {c.In(0), c.Scalar(dtype, 0.5)})[0];
  return c.Emit("Mul", {half, y});
}

template <class D>
Types<D> InferGelu(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  return std::vector{c.in(0)};
}

int64_t GeluFlops(absl::Span<const TensorType>,
                  absl::Span<const TensorType> out, const Attrs&) {
  return 8 * NumElements(out[0]);
}

}  // namespace

std::vector<OpDef> DefineGelu() {
  return {{
              .name = "gelu",
              .inputs = Inputs({"x"}),
              .infer = Infer([](auto& c) { return InferGelu(c); }),
              .eval = EvalFloat([](auto& c) {
                return GeluKernel(c, [](auto x) { return Gelu(x); });
              }),
              .expansion = "gelu(x) => mul(mul(x, 0.5), "
                           "add(erf(mul(x, 0.7071067811865476)), 1))",
              .examples = {"gelu([0 100 -100]) = [0 100 0]",
                           "gelu(1.4142135623730951) = 1.3029862263925718"},
              .cases = {"gelu(f32[2,3])", "gelu(f16[4])", "gelu(f64[])"},
              .onnx = {.from = {{"Gelu", FromGelu}}, .to = ToGelu},
              .flops = GeluFlops,
          },
          {
              .name = "gelu_tanh",
              .inputs = Inputs({"x"}),
              .infer = Infer([](auto& c) { return InferGelu(c); }),
              .eval = EvalFloat([](auto& c) {
                return GeluKernel(c, [](auto x) { return GeluTanh(x); });
              }),
              .expansion = "gelu_tanh(x) => mul(mul(x, 0.5), add(tanh(mul("
                           "add(x, mul(mul(mul(x, x), x), 0.044715)), "
                           "0.7978845608028654)), 1))",
              .examples = {"gelu_tanh([0 100 -100]) = [0 100 0]",
                           "gelu_tanh(1) = 0.8411919906082768"},
              .cases = {"gelu_tanh(f32[2,3])", "gelu_tanh(f16[4])",
                        "gelu_tanh(f64[])"},
              .onnx = {.to = ToGeluTanh},
              .flops = GeluFlops,
          }};
}

}  // namespace isomer

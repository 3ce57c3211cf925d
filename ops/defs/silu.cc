// silu(x) = x * sigmoid(x), element by element.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

constexpr auto SiluKernel = [](auto& c) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const std::vector<T>& x = c.inputs[0]->template as<T>();
  std::vector<T>& y = c.outputs[0].template as<T>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * Sigmoid(x[i]);
  return absl::OkStatus();
};

// ONNX before opset 24 has no such operator.
Exported ToSilu(OnnxExport& c) {
  return c.Emit("Mul", {c.In(0), c.Emit("Sigmoid", {c.In(0)})[0]});
}

}  // namespace

std::vector<OpDef> DefineSilu() {
  return {{
      .name = "silu",
      .inputs = Inputs({"x"}),
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        RETURN_IF_ERROR(c.Float(0));
        return std::vector{c.in(0)};
      }),
      .eval = EvalFloat(SiluKernel),
      .expansion = "silu(x) => mul(x, sigmoid(x))",
      .examples = {"silu([0 200]) = [0 200]",
                   "silu(1.0986122886681098) = 0.8239592165010823"},
      .cases = {"silu(f32[2,3])", "silu(f16[4])", "silu(f64[])"},
      .onnx = {.to = ToSilu},
      .flops = [](absl::Span<const TensorType>,
                  absl::Span<const TensorType> out,
                  const Attrs&) { return 5 * NumElements(out[0]); },
  }};
}

}  // namespace isomer

// The activations with parameters: leaky_relu, elu, selu, hard_sigmoid, and
// hard_swish, whose parameters are fixed. One table, as in pointwise.cc; a
// parameter's ONNX attribute has the same name and default.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// Reads an activation's parameters from its ONNX node.
FromOnnx ImportWith(std::string op, std::vector<AttrSpec> specs) {
  return [op = std::move(op),
          specs = std::move(specs)](OnnxImport& c) -> Imported {
    Attrs attrs;
    for (const AttrSpec& s : specs) {
      const float otherwise =
          static_cast<float>(std::get<double>(s.default_value));
      attrs.Set(s.name, double{c.node().Float(s.name, otherwise)});
    }
    ASSIGN_OR_RETURN(Value x, c.In(0));
    return One(c.Add(op, {x}, std::move(attrs)));
  };
}

ToOnnx EmitWith(std::string op_type) {
  return [op_type = std::move(op_type)](OnnxExport& c) -> Exported {
    std::vector<OnnxAttr> attrs;
    for (const auto& [name, value] : c.attrs().entries()) {
      attrs.push_back({name, static_cast<float>(std::get<double>(value))});
    }
    return c.Emit(op_type, {c.In(0)}, std::move(attrs));
  };
}

// `f` takes an element and the context, from which it reads parameters.
template <class F>
OpDef Activation(std::string name, std::string onnx,
                 std::vector<AttrSpec> attrs, F f) {
  return {
      .name = name,
      .inputs = Inputs({"x"}),
      .attrs = attrs,
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        RETURN_IF_ERROR(c.Float(0));
        return std::vector{c.in(0)};
      }),
      .element = Element([f](const auto& c) {
        return [&c, f](const auto& i) { return f(c.At(0, i), c); };
      }),
      .cases = {absl::StrCat(name, "(f32[2,3])"),
                absl::StrCat(name, "(f16[4])")},
      .onnx = {.from = {{onnx, ImportWith(name, attrs)}}, .to = EmitWith(onnx)},
      .flops = [](auto, absl::Span<const TensorType> out,
                  const Attrs&) { return 4 * NumElements(out[0]); },
  };
}

OpDef LeakyReluOp() {
  OpDef op = Activation("leaky_relu", "LeakyRelu",
                        {FloatAttr("alpha").Default(0.01).Samples({0.5, 0.25})},
                        [](const auto& x, const auto& c) {
                          return LeakyRelu(x, c.Float("alpha"));
                        });
  op.examples = {"leaky_relu([-2 0 3], alpha=0.5) = [-1 0 3]",
                 "leaky_relu([-100]) = [-1]"};
  return op;
}

// Celu(x, alpha) is alpha * elu(x / alpha).
Imported FromCelu(OnnxImport& c) {
  const float alpha = c.node().Float("alpha", 1.0f);
  ASSIGN_OR_RETURN(Value x, c.In(0));
  if (alpha == 1.0f) return One(c.Add("elu", {x}, {{"alpha", 1.0}}));
  const std::vector<int64_t> shape = c.type(x).shape;
  ASSIGN_OR_RETURN(Value a, c.Scalar(c.type(x).dtype, alpha));
  ASSIGN_OR_RETURN(a, c.BroadcastTo(a, shape));
  ASSIGN_OR_RETURN(x, c.Add("div", {x, a}));
  ASSIGN_OR_RETURN(x, c.Add("elu", {x}, {{"alpha", 1.0}}));
  return One(c.Add("mul", {x, a}));
}

OpDef EluOp() {
  OpDef op = Activation(
      "elu", "Elu", {FloatAttr("alpha").Default(1.0).Samples({1.0, 0.5})},
      [](const auto& x, const auto& c) { return Elu(x, c.Float("alpha")); });
  op.examples = {"elu([2 0]) = [2 0]", "elu([-1], alpha=2) = [-1.26424112]"};
  op.onnx.from.push_back({"Celu", FromCelu});
  return op;
}

OpDef SeluOp() {
  OpDef op = Activation(
      "selu", "Selu",
      {FloatAttr("alpha").Default(1.67326319217681884765625).Samples({1.5}),
       FloatAttr("gamma").Default(1.05070102214813232421875).Samples({2.0})},
      [](const auto& x, const auto& c) {
        return Selu(x, c.Float("alpha"), c.Float("gamma"));
      });
  op.examples = {"selu([1 0]) = [1.05070102 0]",
                 "selu([-1 3], alpha=2, gamma=3) = [-3.79272335 9]"};
  return op;
}

OpDef HardSigmoidOp() {
  OpDef op =
      Activation("hard_sigmoid", "HardSigmoid",
                 {FloatAttr("alpha").Default(0.2).Samples({0.25}),
                  FloatAttr("beta").Default(0.5).Samples({0.5})},
                 [](const auto& x, const auto& c) {
                   return HardSigmoid(x, c.Float("alpha"), c.Float("beta"));
                 });
  op.examples = {"hard_sigmoid([-5 0 1 5]) = [0 0.5 0.7 1]",
                 "hard_sigmoid([2], alpha=0.25, beta=0.25) = [0.75]"};
  return op;
}

// HardSwish is younger than HardSigmoid.
Exported ToHardSwish(OnnxExport& c) {
  if (c.opset() >= 14) return c.Emit("HardSwish", {c.In(0)});
  const std::string gate = c.Emit("HardSigmoid", {c.In(0)},
                                  {{"alpha", 1.0f / 6}, {"beta", 0.5f}})[0];
  return c.Emit("Mul", {c.In(0), gate});
}

// x * max(0, min(6, x + 3)) / 6.
OpDef HardSwishOp() {
  OpDef op =
      Activation("hard_swish", "HardSwish", {}, [](const auto& x, const auto&) {
        using T = std::decay_t<decltype(x)>;
        const T six = FromInt<T>(6);
        return x * (Relu(Min(x + FromInt<T>(3), six)) / six);
      });
  op.examples = {"hard_swish([-4 -3 0 3 4]) = [0 0 0 3 4]",
                 "hard_swish([1.5]) = [1.125]"};
  op.onnx.to = ToHardSwish;
  return op;
}

}  // namespace

std::vector<OpDef> DefineActivation() {
  return {LeakyReluOp(), EluOp(), SeluOp(), HardSigmoidOp(), HardSwishOp()};
}

}  // namespace isomer

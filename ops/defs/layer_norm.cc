// layer_norm(x, scale, bias, axis=a, epsilon) and rms_norm(x, scale, axis=a,
// epsilon): the dimensions of x from a on are brought to mean 0 and variance 1
// (rms_norm: to mean square 1), then scaled and moved element by element.
// scale and bias have the shape of those dimensions.
#include <numeric>

#include "ops/normalize.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferTrailingNorm(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  const TypeT<D>& x = c.in(0);
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", x.rank()));
  for (int k = 1; k < c.size(); ++k) {
    RETURN_IF_ERROR(c.SameDType(0, k));
    RETURN_IF_ERROR(c.Rank(k, x.rank() - axis));
    for (int d = axis; d < x.rank(); ++d) {
      RETURN_IF_ERROR(
          c.Equal(x.shape[d], c.in(k).shape[d - axis],
                  absl::StrCat("input ", k, " differs from dimension ", d)));
    }
  }
  return std::vector{x};
}

constexpr auto TrailingNormKernel = [](auto& c, bool centred) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const auto shape = absl::MakeSpan(c.in_type(0).shape);
  RowAffine<T> affine{c.inputs[1]->template as<T>(), {}};
  if (centred) affine.bias = c.inputs[2]->template as<T>();
  NormalizeRows<T>(c.inputs[0]->template as<T>(),
                   absl::MakeSpan(c.outputs[0].template as<T>()),
                   NumElements(shape.subspan(0, c.attrs.Int("axis"))), affine,
                   c.attrs.Float("epsilon"), centred);
  return absl::OkStatus();
};

// LayerNormalization and RMSNormalization; a scale or bias is broadcast to the
// normalised dimensions, an absent bias is zero.
FromOnnx ImportTrailingNorm(std::string op, bool with_bias) {
  return [op, with_bias](OnnxImport& c) -> Imported {
    RETURN_IF_ERROR(OneOutputOnly(c.node()));
    if (c.node().Int("stash_type", 1) != 1) {
      return Unsupported(c.node().op_type, ": stash_type ",
                         c.node().Int("stash_type"), " is not modelled");
    }
    ASSIGN_OR_RETURN(Value x, c.In(0));
    const TensorType type = c.type(x);
    int64_t axis = c.node().Int("axis", -1);
    if (axis < 0) axis += type.rank();
    if (axis < 0 || axis >= type.rank()) {
      return Invalid(c.node().op_type, ": axis ", c.node().Int("axis", -1),
                     " is not one of ", TypeText(type));
    }
    const std::vector<int64_t> inner(type.shape.begin() + axis,
                                     type.shape.end());
    std::vector<Value> inputs = {x};
    for (int k = 1; k <= (with_bias ? 2 : 1); ++k) {
      absl::StatusOr<Value> v =
          k == 2 && !c.Has(2) ? c.Scalar(type.dtype, 0) : c.In(k);
      if (!v.ok()) return v.status();
      if (c.type(*v).dtype != type.dtype ||
          c.type(*v).shape.size() > inner.size()) {
        return Unsupported(c.node().op_type, ": ", TypeText(c.type(*v)),
                           " as parameter for ", TypeText(type));
      }
      ASSIGN_OR_RETURN(*v, c.BroadcastTo(*v, inner));
      inputs.push_back(*v);
    }
    return One(c.Add(op, inputs,
                     {{"axis", axis},
                      {"epsilon", double{c.node().Float("epsilon", 1e-5f)}}}));
  };
}

std::vector<int64_t> NormAxes(OnnxExport& c) {
  std::vector<int64_t> axes(c.in_type(0).rank() - c.attrs().Int("axis"));
  std::iota(axes.begin(), axes.end(), c.attrs().Int("axis"));
  return axes;
}

// x / sqrt(mean(x^2) + epsilon), the way ONNX Runtime recognises it.
std::string EmitDivideByRms(OnnxExport& c, const std::string& x) {
  const DType dtype = c.in_type(0).dtype;
  std::string v = c.Emit("Pow", {x, c.Scalar(dtype, 2)})[0];
  v = c.EmitWithAxes("ReduceMean", {v}, "axes", NormAxes(c), 18,
                     {{"keepdims", int64_t{1}}})[0];
  v = c.Emit("Add", {v, c.Scalar(dtype, c.attrs().Float("epsilon"))})[0];
  v = c.Emit("Sqrt", {v})[0];
  return c.Emit("Div", {x, v})[0];
}

std::vector<OnnxAttr> OnnxNormAttrs(const OnnxExport& c) {
  return {{"axis", c.attrs().Int("axis")},
          {"epsilon", static_cast<float>(c.attrs().Float("epsilon"))}};
}

Exported ToLayerNorm(OnnxExport& c) {
  if (c.opset() >= 17) {
    return c.Emit("LayerNormalization", c.AllIn(), OnnxNormAttrs(c));
  }
  std::string mean =
      c.EmitWithAxes("ReduceMean", {c.In(0)}, "axes", NormAxes(c), 18,
                     {{"keepdims", int64_t{1}}})[0];
  std::string y = c.Emit("Sub", {c.In(0), mean})[0];
  y = EmitDivideByRms(c, y);
  y = c.Emit("Mul", {y, c.In(1)})[0];
  return c.Emit("Add", {y, c.In(2)});
}

Exported ToRmsNorm(OnnxExport& c) {
  if (c.opset() >= 23) {
    return c.Emit("RMSNormalization", c.AllIn(), OnnxNormAttrs(c));
  }
  return c.Emit("Mul", {EmitDivideByRms(c, c.In(0)), c.In(1)});
}

std::vector<AttrSpec> NormAttrs() {
  return {AxisAttr("axis").Default(-1).Samples({-1, 1}),
          FloatAttr("epsilon").Default(1e-5).Samples({1e-5, 0.5})};
}

OpDef LayerNorm() {
  return {
      .name = "layer_norm",
      .inputs = Inputs({"x", "scale", "bias"}),
      .attrs = NormAttrs(),
      .infer = Infer([](auto& c) { return InferTrailingNorm(c); }),
      .eval = EvalFloat([](auto& c) { return TrailingNormKernel(c, true); }),
      .expansion =
          "layer_norm(x, scale, bias, axis=a, epsilon=e) => "
          "let m = reduce_mean(x, axes=range(a, rank(x))) in "
          "let d = sub(x, broadcast(m, axes=range(a, rank(x)))) in "
          "let v = reduce_mean(mul(d, d), axes=range(a, rank(x))) in "
          "let s = sqrt(add(v, real(e))) in "
          "let n = div(d, broadcast(s, axes=range(a, rank(x)))) in "
          "add(mul(n, broadcast(scale, dims=range(a, rank(x)))), "
          "broadcast(bias, dims=range(a, rank(x))))",
      .examples = {"layer_norm([[1 3]], [2 1], [0 7], epsilon=0) = "
                   "[[-2 8]]",
                   "layer_norm([[0 4]], [1 1], [0 0], epsilon=12) = "
                   "[[-0.5 0.5]]",
                   "layer_norm([[0 4]], [[1 2]], [[0 1]], axis=0, "
                   "epsilon=12) = [[-0.5 2]]"},
      .cases = {"layer_norm(f32[2,4], f32[4], f32[4])",
                "layer_norm(f16[2,3,4], f16[3,4], f16[3,4], axis=1)",
                "layer_norm(f64[3,2], f64[3,2], f64[3,2], axis=0)",
                "layer_norm(f32[5], f32[5], f32[5], epsilon=0.5)"},
      .onnx = {.from = {{"LayerNormalization",
                         ImportTrailingNorm("layer_norm", true)}},
               .to = ToLayerNorm},
      .flops = NormFlops,
  };
}

OpDef RmsNorm() {
  return {
      .name = "rms_norm",
      .inputs = Inputs({"x", "scale"}),
      .attrs = NormAttrs(),
      .infer = Infer([](auto& c) { return InferTrailingNorm(c); }),
      .eval = EvalFloat([](auto& c) { return TrailingNormKernel(c, false); }),
      .expansion =
          "rms_norm(x, scale, axis=a, epsilon=e) => "
          "let v = reduce_mean(mul(x, x), axes=range(a, rank(x))) in "
          "let s = sqrt(add(v, real(e))) in "
          "mul(div(x, broadcast(s, axes=range(a, rank(x)))), "
          "broadcast(scale, dims=range(a, rank(x))))",
      .examples = {"rms_norm([[3 3] [-1 1]], [2 1], epsilon=0) = "
                   "[[2 1] [-2 1]]",
                   "rms_norm([[0 4]], [1 10], epsilon=8) = [[0 10]]"},
      .cases = {"rms_norm(f32[2,4], f32[4])",
                "rms_norm(f16[2,3,4], f16[3,4], axis=1)",
                "rms_norm(f64[3,2], f64[3,2], axis=-2, epsilon=0.5)"},
      .onnx = {.from = {{"RMSNormalization",
                         ImportTrailingNorm("rms_norm", false)}},
               .to = ToRmsNorm},
      .flops = NormFlops,
  };
}

}  // namespace

std::vector<OpDef> DefineLayerNorm() { return {LayerNorm(), RmsNorm()}; }

}  // namespace isomer

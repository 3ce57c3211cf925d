// clip(x, min=l, max=h): min(max(x, l), h). An infinite bound is none. Bounds
// that a model computes at run time become max and min instead.
#include <cmath>
#include <limits>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class D>
Types<D> InferClip(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  for (absl::string_view name : {"min", "max"}) {
    const double bound = c.attrs().Float(name);
    if (std::isnan(bound)) return c.Fail(absl::StrCat(name, " is NaN"));
    if (IsInteger(c.in(0).dtype) && std::isfinite(bound) &&
        bound != std::trunc(bound)) {
      return c.Fail(absl::StrCat(name, " must be an integer"));
    }
  }
  return std::vector{c.in(0)};
}

constexpr auto ClipElement = [](const auto& c) {
  const double low = c.Float("min"), high = c.Float("max");
  return [&c, low, high](const auto& i) {
    auto x = c.At(0, i);
    if (low != -kInf) x = Max(x, c.Const(low));
    if (high != kInf) x = Min(x, c.Const(high));
    return x;
  };
};

// Bounds are attributes before opset 11 and optional scalar inputs since.
Imported FromClip(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  double bounds[] = {c.node().Float("min", -std::numeric_limits<float>::max()),
                     c.node().Float("max", std::numeric_limits<float>::max())};
  if (!c.node().Has("min")) bounds[0] = -kInf;
  if (!c.node().Has("max")) bounds[1] = kInf;
  bool known = true;
  for (int k = 0; k < 2; ++k) {
    if (!c.Has(k + 1)) continue;
    std::optional<Tensor> t = c.Known(k + 1);
    if (!t || t->size() != 1) {
      known = false;
    } else {
      bounds[k] = ToDoubles(*t)[0];
      // A NaN, and an integer that a double does not hold, are no attributes.
      known &= std::fabs(bounds[k]) <= 0x1p53 || IsFloat(t->type.dtype);
      known &= !std::isnan(bounds[k]);
    }
  }
  if (known) {
    return One(c.Add("clip", {x}, {{"min", bounds[0]}, {"max", bounds[1]}}));
  }
  const std::vector<int64_t> shape = c.type(x).shape;
  for (int k = 0; k < 2; ++k) {
    if (!c.Has(k + 1)) continue;
    ASSIGN_OR_RETURN(Value bound, c.In(k + 1));
    ASSIGN_OR_RETURN(bound, c.BroadcastTo(bound, shape));
    ASSIGN_OR_RETURN(x, c.Add(k == 0 ? "max" : "min", {x, bound}));
  }
  return One(x);
}

Exported ToClip(OnnxExport& c) {
  const double low = c.attrs().Float("min"), high = c.attrs().Float("max");
  const DType dtype = c.in_type(0).dtype;
  if (!IsFloat(dtype) && c.opset() < 12) {
    return Unsupported("Clip: integers need opset 12, the model has ",
                       c.opset());
  }
  if (c.opset() < 11) {
    std::vector<OnnxAttr> attrs;
    if (low != -kInf) attrs.push_back({"min", static_cast<float>(low)});
    if (high != kInf) attrs.push_back({"max", static_cast<float>(high)});
    return c.Emit("Clip", {c.In(0)}, std::move(attrs));
  }
  std::vector<std::string> in = {c.In(0)};
  if (low != -kInf || high != kInf) {
    in.push_back(low == -kInf ? "" : c.Scalar(dtype, low));
  }
  if (high != kInf) in.push_back(c.Scalar(dtype, high));
  return c.Emit("Clip", std::move(in));
}

}  // namespace

std::vector<OpDef> DefineClip() {
  return {{
      .name = "clip",
      .inputs = Inputs({"x"}),
      .attrs = {FloatAttr("min").Default(-kInf).Samples({0.0, -1.0}),
                FloatAttr("max").Default(kInf).Samples({6.0, 1.0})},
      .infer = Infer([](auto& c) { return InferClip(c); }),
      .element = Element(ClipElement),
      .axioms = {"clip(clip(x, min=l, max=h), min=l, max=h) => "
                 "clip(x, min=l, max=h)"},
      .examples = {"clip([-1 3 9], min=0, max=6) = [0 3 6]",
                   "clip([-7 7], max=1.5) = [-7 1.5]",
                   "clip([1], min=5, max=2) = [2]",
                   "clip([-4 4]:i64, min=-2) = [-2 4]:i64"},
      .cases = {"clip(f16[2,3], min=0, max=6)", "clip(i64[4], max=3)"},
      .onnx = {.from = {{"Clip", FromClip}}, .to = ToClip},
      .flops = [](auto, absl::Span<const TensorType> out,
                  const Attrs&) { return 2 * NumElements(out[0]); },
  }};
}

}  // namespace isomer

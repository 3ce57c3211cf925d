// lrn(x, size=n, alpha, beta, bias): local response normalisation,
//   x / (bias + alpha/n * (sum of squares over n neighbouring channels))^beta
// with (n - 1)/2 neighbours before (rounded down), the others after.
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/window.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferLrn(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 2));
  RETURN_IF_ERROR(CheckWindowAttr(c, "size", {c.Int("size")}, 1));
  return std::vector{c.in(0)};
}

constexpr auto LrnElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const auto size = c.Int("size");
  const auto before = FloorDiv(size - 1, 2);
  return [&c, size, before](const auto& i) {
    auto squares = c.Sum({size}, [&](const auto& k) {
      typename C::Indices at = i;
      at[1] = i[1] + k[0] - before;
      return c.If(
          c.And(c.Ge(at[1], 0), c.Lt(at[1], c.dim(0, 1))),
          [&] { return c.At(0, at) * c.At(0, at); },
          [&] { return c.Const(0); });
    });
    auto mean = squares / c.FromIndex(size);
    return c.At(0, i) /
           Pow(c.Const(c.Float("bias")) + c.Const(c.Float("alpha")) * mean,
               c.Const(c.Float("beta")));
  };
};

Imported FromLrn(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(c.Add("lrn", {x},
                   {{"size", c.node().Int("size")},
                    {"alpha", double{c.node().Float("alpha", 1e-4f)}},
                    {"beta", double{c.node().Float("beta", 0.75f)}},
                    {"bias", double{c.node().Float("bias", 1.0f)}}}));
}

Exported ToLrn(OnnxExport& c) {
  const Attrs& a = c.attrs();
  return c.Emit("LRN", {c.In(0)},
                {{"alpha", static_cast<float>(a.Float("alpha"))},
                 {"beta", static_cast<float>(a.Float("beta"))},
                 {"bias", static_cast<float>(a.Float("bias"))},
                 {"size", a.Int("size")}});
}

}  // namespace

std::vector<OpDef> DefineLrn() {
  return {{
      .name = "lrn",
      .inputs = Inputs({"x"}),
      .attrs = {IntAttr("size").Samples({1, 2, 3}),
                FloatAttr("alpha").Default(1e-4).Samples({1e-4, 1.0}),
                FloatAttr("beta").Default(0.75).Samples({0.75, 1.0}),
                FloatAttr("bias").Default(1.0).Samples({1.0, 2.0})},
      .infer = Infer([](auto& c) { return InferLrn(c); }),
      .element = Element(LrnElement),
      .examples = {"lrn([[[1] [2] [3]]], size=3, alpha=3, beta=1, bias=1) = "
                   "[[[0.16666666666666666] [0.13333333333333333] "
                   "[0.21428571428571427]]]",
                   "lrn([[1 2]], size=2, alpha=2, beta=1, bias=0) = "
                   "[[0.2 0.5]]"},
      .cases = {"lrn(f32[2,5,3], size=3)",
                "lrn(f32[1,4,2,2], size=2, alpha=0.5)", "lrn(f16[1,3], size=5)",
                "lrn(f64[1,3,2], size=1, beta=0.5, bias=2.0)"},
      .onnx = {.from = {{"LRN", FromLrn}}, .to = ToLrn},
      .flops =
          [](absl::Span<const TensorType>, absl::Span<const TensorType> out,
             const Attrs& attrs) {
            return (2 * attrs.Int("size") + 4) * NumElements(out[0]);
          },
  }};
}

}  // namespace isomer

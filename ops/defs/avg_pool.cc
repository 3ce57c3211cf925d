// avg_pool(x, kernel, stride, pad, dilation, ceil_mode, count_include_pad): the
// mean of each window over the spatial dimensions of x [n, c, size...]. The
// divisor counts the window's elements in x, or with count_include_pad those
// in x and its padding; what ceil_mode adds beyond never counts.
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/pool.h"

namespace isomer {

namespace {

constexpr auto AvgPoolElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const bool ceil = c.Number("ceil_mode") == 1;
  const bool padding = c.Number("count_include_pad") == 1;
  typename C::Indices kernel(c.Ints("kernel").begin(), c.Ints("kernel").end());
  return [&c, kernel, ceil, padding, taps = Taps<C>(c, ceil)](const auto& i) {
    auto sum = c.Sum(kernel, [&](const auto& k) {
      typename C::Indices at = i;
      for (int j = 0; j < taps.size(); ++j) {
        at[j + 2] = taps.Place(j, i[j + 2], k[j]);
      }
      return taps.AtOrZero(at);
    });
    typename C::Index count = 1;
    for (int j = 0; j < taps.size(); ++j) {
      if (padding && !ceil) {
        count = count * kernel[j];
        continue;
      }
      typename C::Index limit = c.dim(0, j + 2);
      if (padding) limit = limit + taps.pad(taps.size() + j);
      auto range = TapsWithin(c, taps, j, i[j + 2], limit, padding);
      count = count * (range.end - range.first);
    }
    return sum / c.FromIndex(count);
  };
};

Imported FromAveragePool(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Attrs attrs, ReadOnnxPool(c, x));
  attrs.Set("count_include_pad", c.node().Int("count_include_pad"));
  return One(c.Add("avg_pool", {x}, attrs));
}

Exported ToAveragePool(OnnxExport& c) {
  const bool padding = c.attrs().Int("count_include_pad") != 0;
  ASSIGN_OR_RETURN(std::vector<OnnxAttr> attrs, OnnxPoolAttrs(c, 19, padding));
  if (padding) attrs.push_back({"count_include_pad", int64_t{1}});
  return c.Emit("AveragePool", c.AllIn(), attrs);
}

std::vector<AttrSpec> AvgPoolAttrs() {
  std::vector<AttrSpec> attrs = PoolAttrs();
  attrs.push_back(IntAttr("count_include_pad").Default(0).Samples({0, 1}));
  return attrs;
}

}  // namespace

std::vector<OpDef> DefineAvgPool() {
  return {{
      .name = "avg_pool",
      .inputs = Inputs({"x"}),
      .attrs = AvgPoolAttrs(),
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        RETURN_IF_ERROR(c.Float(0));
        RETURN_IF_ERROR(Flag(c, "count_include_pad").status());
        return InferPool(c);
      }),
      .element = Element(AvgPoolElement),
      .examples =
          {"avg_pool([[[1 3 2 5]]], kernel=2) = [[[2 2.5 3.5]]]",
           "avg_pool([[[2 4 6]]], kernel=2, stride=2, pad=1) = [[[2 5]]]",
           "avg_pool([[[2 4 6]]], kernel=2, stride=2, pad=1, "
           "count_include_pad=1) = [[[1 5]]]",
           "avg_pool([[[2 4 6]]], kernel=2, stride=2, ceil_mode=1, "
           "count_include_pad=1) = [[[3 6]]]"},
      .cases = {"avg_pool(f32[2,3,5], kernel=3, pad=1, stride=2)",
                "avg_pool(f32[1,2,6,7], kernel=[3 2], stride=[2 3], "
                "pad=[1 0 1 1], count_include_pad=1)",
                "avg_pool(f16[1,2,7,7], kernel=3, stride=2, pad=1, "
                "ceil_mode=1)",
                "avg_pool(f32[1,2,7,6], kernel=3, stride=3, pad=[0 1 1 1], "
                "ceil_mode=1, count_include_pad=1)",
                "avg_pool(f32[1,1,8,6], kernel=2, dilation=[3 2], pad=1)",
                "avg_pool(f64[1,1,3,4,3], kernel=2, pad=[0 1 0 1 0 1])"},
      .onnx = {.from = {{"AveragePool", FromAveragePool}}, .to = ToAveragePool},
      .flops = PoolFlops,
  }};
}

}  // namespace isomer

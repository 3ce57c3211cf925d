// max_pool(x, kernel, stride, pad, dilation, ceil_mode): the largest element of
// each window over the spatial dimensions of x [n, c, size...]. Padding never
// wins: only elements of x take part.
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/pool.h"

namespace isomer {

namespace {

constexpr auto MaxPoolElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const bool ceil = c.Number("ceil_mode") == 1;
  return [&c, taps = Taps<C>(c, ceil)](const auto& i) {
    typename C::Indices first, extents;
    for (int j = 0; j < taps.size(); ++j) {
      auto range =
          TapsWithin(c, taps, j, i[j + 2], c.dim(0, j + 2), /*padding=*/false);
      first.push_back(range.first);
      extents.push_back(range.end - range.first);
    }
    return c.MaxOver(extents, [&](const auto& k) {
      typename C::Indices at = i;
      for (int j = 0; j < taps.size(); ++j) {
        at[j + 2] = taps.Place(j, i[j + 2], first[j] + k[j]);
      }
      return c.At(0, at);
    });
  };
};

Imported FromMaxPool(OnnxImport& c) {
  if (c.node().outputs.size() > 1 && !c.node().outputs[1].empty()) {
    return Unsupported("MaxPool: the output Indices is not modelled");
  }
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Attrs attrs, ReadOnnxPool(c, x));
  return One(c.Add("max_pool", {x}, attrs));
}

Exported ToMaxPool(OnnxExport& c) {
  const DType dtype = c.in_type(0).dtype;
  const bool byte = dtype == DType::kI8 || dtype == DType::kU8;
  if (!IsFloat(dtype) && !(byte && c.opset() >= 12)) {
    return Unsupported("MaxPool: opset ", c.opset(), " has none for ",
                       DTypeName(dtype));
  }
  ASSIGN_OR_RETURN(std::vector<OnnxAttr> attrs, OnnxPoolAttrs(c, 10, false));
  return c.Emit("MaxPool", c.AllIn(), attrs);
}

}  // namespace

std::vector<OpDef> DefineMaxPool() {
  return {{
      .name = "max_pool",
      .inputs = Inputs({"x"}),
      .attrs = PoolAttrs(),
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        RETURN_IF_ERROR(c.Numeric(0));
        return InferPool(c);
      }),
      .element = Element(MaxPoolElement),
      .examples = {"max_pool([[[1 3 2 5]]], kernel=2) = [[[3 3 5]]]",
                   "max_pool([[[-1 -3 -2]]], kernel=2, stride=2, pad=1) = "
                   "[[[-1 -2]]]",
                   "max_pool([[[1 3 2 5 4]]], kernel=2, stride=2, "
                   "ceil_mode=1) = [[[3 5 4]]]",
                   "max_pool([[[1 2 9]]], kernel=2, stride=2, pad=[1 1], "
                   "ceil_mode=1) = [[[1 9]]]",
                   "max_pool([[[1 9 2 3]]], kernel=2, dilation=2) = "
                   "[[[2 9]]]"},
      .cases = {"max_pool(f32[2,3,5], kernel=3, pad=1, stride=2)",
                "max_pool(f32[1,2,6,7], kernel=[3 2], stride=[2 3], "
                "pad=[1 0 1 1])",
                "max_pool(f16[1,2,7,7], kernel=3, stride=2, ceil_mode=1)",
                "max_pool(f32[1,1,8,6], kernel=2, dilation=[3 2], pad=1)",
                "max_pool(i64[1,2,4,4], kernel=2, stride=2)",
                "max_pool(f64[1,1,3,4,3], kernel=2, pad=[0 1 0 1 0 1])"},
      .onnx = {.from = {{"MaxPool", FromMaxPool}}, .to = ToMaxPool},
      .flops = PoolFlops,
  }};
}

}  // namespace isomer

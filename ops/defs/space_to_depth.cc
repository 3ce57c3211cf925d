// space_to_depth(x, block=b): blocks of b * b pixels of x [n, c, h, w] moved
// into channels, which gives [n, c * b^2, h / b, w / b]. The pixel at (y, x) of
// its block in channel c goes to channel (y * b + x) * C + c, so that
// depth_to_space in mode dcr undoes it.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferSpaceToDepth(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Rank(0, 4));
  const D b = c.Int("block");
  RETURN_IF_ERROR(c.AtLeast(b, D(1), "block must be positive"));
  TypeT<D> out = c.in(0);
  RETURN_IF_ERROR(c.Divides(b, out.shape[2], "block must divide the height"));
  RETURN_IF_ERROR(c.Divides(b, out.shape[3], "block must divide the width"));
  out.shape = {out.shape[0], out.shape[1] * b * b, FloorDiv(out.shape[2], b),
               FloorDiv(out.shape[3], b)};
  return std::vector{out};
}

constexpr auto SpaceToDepthElement = [](const auto& c) {
  return [&c, b = c.Int("block"), channels = c.dim(0, 1)](const auto& i) {
    auto at = i;
    const auto in_block = FloorDiv(i[1], channels);
    at[1] = Mod(i[1], channels);
    at[2] = i[2] * b + FloorDiv(in_block, b);
    at[3] = i[3] * b + Mod(in_block, b);
    return c.At(0, at);
  };
};

Imported FromSpaceToDepth(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(
      c.Add("space_to_depth", {x}, {{"block", c.node().Int("blocksize")}}));
}

Exported ToSpaceToDepth(OnnxExport& c) {
  return c.Emit("SpaceToDepth", {c.In(0)},
                {{"blocksize", c.attrs().Int("block")}});
}

}  // namespace

std::vector<OpDef> DefineSpaceToDepth() {
  return {{
      .name = "space_to_depth",
      .inputs = Inputs({"x"}),
      .attrs = {IntAttr("block").Samples({1, 2})},
      .infer = Infer([](auto& c) { return InferSpaceToDepth(c); }),
      .element = Element(SpaceToDepthElement),
      .examples = {"space_to_depth([[[[1 2] [3 4]]]], block=2) = "
                   "[[[[1]] [[2]] [[3]] [[4]]]]",
                   "space_to_depth([[[[1 3] [5 7]] [[2 4] [6 8]]]], block=2) = "
                   "[[[[1]] [[2]] [[3]] [[4]] [[5]] [[6]] [[7]] [[8]]]]"},
      .cases = {"space_to_depth(f32[2,3,4,2], block=2)",
                "space_to_depth(f16[1,1,3,6], block=3)",
                "space_to_depth(i64[1,2,2,2], block=1)"},
      .onnx = {.from = {{"SpaceToDepth", FromSpaceToDepth}},
               .to = ToSpaceToDepth},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

// depth_to_space(x, block=b, mode=m): channels of x [n, c, h, w] moved into
// blocks of b * b pixels, which gives [n, c / b^2, h * b, w * b]. The channel
// of a pixel at (y, x) of its block is, for C output channels:
//
//   dcr   (y * b + x) * C + c      the block's depth comes first
//   crd   c * b * b + y * b + x    the output channel comes first
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferDepthToSpace(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Rank(0, 4));
  const D b = c.Int("block");
  RETURN_IF_ERROR(c.AtLeast(b, D(1), "block must be positive"));
  TypeT<D> out = c.in(0);
  RETURN_IF_ERROR(
      c.Divides(b * b, out.shape[1], "block * block must divide the channels"));
  out.shape = {out.shape[0], FloorDiv(out.shape[1], b * b), out.shape[2] * b,
               out.shape[3] * b};
  return std::vector{out};
}

constexpr auto DepthToSpaceElement = [](const auto& c) {
  const bool depth_first = c.String("mode") == "dcr";
  return [&c, depth_first, b = c.Int("block")](const auto& i) {
    auto at = i;
    const auto in_block = Mod(i[2], b) * b + Mod(i[3], b);
    at[1] =
        depth_first ? in_block * c.out_dim(1) + i[1] : i[1] * b * b + in_block;
    at[2] = FloorDiv(i[2], b);
    at[3] = FloorDiv(i[3], b);
    return c.At(0, at);
  };
};

Imported FromDepthToSpace(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::string mode = c.node().String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return Unsupported("DepthToSpace: mode ", mode);
  }
  return One(c.Add("depth_to_space", {x},
                   {{"block", c.node().Int("blocksize")},
                    {"mode", std::string(mode == "DCR" ? "dcr" : "crd")}}));
}

Exported ToDepthToSpace(OnnxExport& c) {
  std::vector<OnnxAttr> attrs = {{"blocksize", c.attrs().Int("block")}};
  if (c.attrs().String("mode") == "crd") {
    if (c.opset() < 11) {
      return Unsupported("DepthToSpace: mode CRD needs opset 11");
    }
    attrs.push_back({"mode", std::string("CRD")});
  }
  return c.Emit("DepthToSpace", {c.In(0)}, attrs);
}

}  // namespace

std::vector<OpDef> DefineDepthToSpace() {
  return {{
      .name = "depth_to_space",
      .inputs = Inputs({"x"}),
      .attrs = {IntAttr("block").Samples({1, 2}),
                StringAttr("mode", {"dcr", "crd"}).Default(std::string("dcr"))},
      .infer = Infer([](auto& c) { return InferDepthToSpace(c); }),
      .element = Element(DepthToSpaceElement),
      .examples = {"depth_to_space([[[[1]] [[2]] [[3]] [[4]]]], block=2) = "
                   "[[[[1 2] [3 4]]]]",
                   "depth_to_space([[[[1]] [[2]] [[3]] [[4]] [[5]] [[6]] [[7]] "
                   "[[8]]]], block=2) = "
                   "[[[[1 3] [5 7]] [[2 4] [6 8]]]]",
                   "depth_to_space([[[[1]] [[2]] [[3]] [[4]] [[5]] [[6]] [[7]] "
                   "[[8]]]], block=2, mode=crd) = "
                   "[[[[1 2] [3 4]] [[5 6] [7 8]]]]"},
      .cases = {"depth_to_space(f32[2,8,2,3], block=2)",
                "depth_to_space(f16[1,9,1,2], block=3, mode=crd)",
                "depth_to_space(i64[1,2,2,2], block=1)"},
      .onnx = {.from = {{"DepthToSpace", FromDepthToSpace}},
               .to = ToDepthToSpace},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

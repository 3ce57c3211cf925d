// tile(x, repeats=[r ...]): x repeated r times along each dimension.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferTile(InferContext<D>& c) {
  const std::vector<D>& repeats = c.Ints("repeats");
  TypeT<D> out = c.in(0);
  if (repeats.size() != out.shape.size()) {
    return c.Fail("repeats must have one entry per dimension");
  }
  for (int d = 0; d < out.rank(); ++d) {
    RETURN_IF_ERROR(c.AtLeast(repeats[d], D(0), "a repeat is negative"));
    out.shape[d] = out.shape[d] * repeats[d];
  }
  return std::vector{out};
}

constexpr auto TileElement = [](const auto& c) {
  using Index = typename std::decay_t<decltype(c)>::Index;
  return [&c, repeats = c.Ints("repeats")](const auto& i) {
    auto at = i;
    for (int d = 0; d < c.out_rank(); ++d) {
      if (!(repeats[d] == Index(1))) at[d] = Mod(i[d], c.dim(0, d));
    }
    return c.At(0, at);
  };
};

Imported FromTile(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(std::vector<int64_t> repeats, c.KnownInts(1));
  if (repeats == std::vector<int64_t>(c.type(x).shape.size(), 1)) {
    return std::vector<Value>{x};
  }
  return One(c.Add("tile", {x}, {{"repeats", repeats}}));
}

Exported ToTile(OnnxExport& c) {
  return c.Emit("Tile", {c.In(0), c.Ints(c.attrs().Ints("repeats"))});
}

using List = std::vector<int64_t>;

}  // namespace

std::vector<OpDef> DefineTile() {
  return {{
      .name = "tile",
      .inputs = Inputs({"x"}),
      .attrs = {IntsAttr("repeats").Samples({List{2}, List{2, 1}, List{1, 2}})},
      .infer = Infer([](auto& c) { return InferTile(c); }),
      .element = Element(TileElement),
      .examples = {"tile([1 2], repeats=[3]) = [1 2 1 2 1 2]",
                   "tile([[1] [2]], repeats=[2 2]) = "
                   "[[1 1] [2 2] [1 1] [2 2]]",
                   "tile([1 2], repeats=[0]) = []"},
      .cases = {"tile(f32[2,3], repeats=[1 2])",
                "tile(f16[2,1,3], repeats=[2 3 1])",
                "tile(i64[2], repeats=[2])", "tile(bool[2,2], repeats=[1 1])"},
      .onnx = {.from = {{"Tile", FromTile}}, .to = ToTile},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

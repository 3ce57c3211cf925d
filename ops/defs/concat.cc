// concat(x..., axis=a): the inputs one after the other along dimension a.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferConcat(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", c.in(0).rank()));
  TypeT<D> out = c.in(0);
  for (int k = 1; k < c.size(); ++k) {
    RETURN_IF_ERROR(c.SameDType(0, k));
    if (c.in(k).rank() != out.rank()) return c.Fail("inputs differ in rank");
    for (int d = 0; d < out.rank(); ++d) {
      if (d == axis) continue;
      RETURN_IF_ERROR(c.Equal(out.shape[d], c.in(k).shape[d],
                              absl::StrCat("inputs differ in dimension ", d)));
    }
    out.shape[axis] = out.shape[axis] + c.in(k).shape[axis];
  }
  return std::vector{out};
}

// The element lies in the first input whose end is past the index.
constexpr auto ConcatElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const int axis = static_cast<int>(c.Number("axis"));
  return [&c, axis](const auto& i) {
    auto in_part = [&](auto& self, int k, typename C::Indices at) ->
        typename C::Value {
          if (k == c.size() - 1) return c.At(k, at);
          return c.If(
              c.Lt(at[axis], c.dim(k, axis)), [&] { return c.At(k, at); },
              [&] {
                // Symbols ask for both branches, in no particular order.
                typename C::Indices rest = at;
                rest[axis] = at[axis] - c.dim(k, axis);
                return self(self, k + 1, rest);
              });
        };
    return in_part(in_part, 0, i);
  };
};

Imported FromConcat(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  return One(c.Add("concat", in, {{"axis", c.node().Int("axis")}}));
}

Exported ToConcat(OnnxExport& c) {
  return c.Emit("Concat", c.AllIn(), {{"axis", c.attrs().Int("axis")}});
}

}  // namespace

std::vector<OpDef> DefineConcat() {
  return {{
      .name = "concat",
      .inputs = Variadic("x"),
      .attrs = {AxisAttr("axis").Samples({0, 1, -1})},
      .infer = Infer([](auto& c) { return InferConcat(c); }),
      .element = Element(ConcatElement),
      .axioms = {"concat(concat(x, y, axis=a), z, axis=a) <=> "
                 "concat(x, concat(y, z, axis=a), axis=a)"},
      .examples = {"concat([1 2], [3], axis=0) = [1 2 3]",
                   "concat([1], [2 3], [4], axis=0) = [1 2 3 4]",
                   "concat([[1] [2]], [[3] [4]], axis=-1) = [[1 3] [2 4]]"},
      .cases = {"concat(f32[2,3], f32[2,3], axis=0)",
                "concat(f16[1,2,2], f16[1,3,2], f16[1,1,2], axis=1)",
                "concat(i64[2], axis=0)", "concat(bool[1], bool[3], axis=-1)"},
      .onnx = {.from = {{"Concat", FromConcat}}, .to = ToConcat},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

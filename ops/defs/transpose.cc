// transpose(x, perm=[p ...]): output dimension d is input dimension p[d].
#include <algorithm>
#include <numeric>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferTranspose(InferContext<D>& c) {
  TypeT<D> out = c.in(0);
  ASSIGN_OR_RETURN(const std::vector<int> perm,
                   c.Axes("perm", out.rank(), /*sorted=*/false));
  if (perm.size() != out.shape.size()) {
    return c.Fail("perm must name every dimension once");
  }
  for (int d = 0; d < out.rank(); ++d) {
    out.shape[d] = c.in(0).shape[perm[d]];
  }
  return std::vector{out};
}

constexpr auto TransposeElement = [](const auto& c) {
  return [&c, perm = c.Numbers("perm")](const auto& i) {
    auto at = i;
    for (size_t d = 0; d < perm.size(); ++d) at[perm[d]] = i[d];
    return c.At(0, at);
  };
};

Imported FromTranspose(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  std::vector<int64_t> order(c.type(x).shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> perm(order.rbegin(), order.rend());
  if (c.node().Has("perm")) perm = c.node().Ints("perm");
  if (perm == order) return std::vector<Value>{x};
  return One(c.Add("transpose", {x}, {{"perm", perm}}));
}

Exported ToTranspose(OnnxExport& c) {
  return c.Emit("Transpose", {c.In(0)}, {{"perm", c.attrs().Ints("perm")}});
}

using List = std::vector<int64_t>;

}  // namespace

std::vector<OpDef> DefineTranspose() {
  return {{
      .name = "transpose",
      .inputs = Inputs({"x"}),
      .attrs = {AxesAttr("perm").Samples(
          {List{1, 0}, List{0, 2, 1}, List{1, 0, 2}, List{0, 2, 1, 3}})},
      .infer = Infer([](auto& c) { return InferTranspose(c); }),
      .element = Element(TransposeElement),
      .axioms = {"transpose(transpose(x, perm=[1 0]), perm=[1 0]) => x",
                 "transpose(transpose(x, perm=[0 2 1]), perm=[0 2 1]) => x",
                 "transpose(transpose(x, perm=[1 0 2]), perm=[1 0 2]) => x",
                 "transpose(transpose(x, perm=[0 2 1 3]), perm=[0 2 1 3]) => x",
                 "transpose(transpose(x, perm=[0 1 3 2]), perm=[0 1 3 2]) => x",
                 "transpose(transpose(x, perm=[0 2 3 1]), perm=[0 3 1 2]) => x",
                 "transpose(transpose(x, perm=[0 3 1 2]), perm=[0 2 3 1]) => x",
                 "transpose(transpose(x, perm=[0 2 1 3]), perm=[0 1 3 2]) => "
                 "transpose(x, perm=[0 2 3 1])"},
      .examples = {"transpose([[1 2 3] [4 5 6]], perm=[1 0]) = "
                   "[[1 4] [2 5] [3 6]]",
                   "transpose([[[1 2] [3 4]]], perm=[1 -1 0]) = "
                   "[[[1] [2]] [[3] [4]]]",
                   "transpose(5, perm=[]) = 5"},
      .cases = {"transpose(f32[2,3], perm=[1 0])",
                "transpose(f16[2,3,4], perm=[2 0 1])",
                "transpose(i64[1,2,3,2], perm=[0 2 3 1])",
                "transpose(bool[2,2], perm=[-1 -2])"},
      .onnx = {.from = {{"Transpose", FromTranspose}}, .to = ToTranspose},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

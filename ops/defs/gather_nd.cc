// gather_nd(x, indices, batch_dims=b): the last dimension of `indices` holds
// positions in x of k coordinates each, which follow b dimensions that both
// inputs share:
//
//   out[batch..., i..., rest...] = x[batch..., indices[batch..., i...],
//   rest...]
//
// Coordinates count modulo their dimension, as gather's indices do.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferGatherNd(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  RETURN_IF_ERROR(c.RankAtLeast(1, 1));
  const TypeT<D>&x = c.in(0), &indices = c.in(1);
  ASSIGN_OR_RETURN(const int64_t batch, c.Number("batch_dims"));
  if (indices.dtype != DType::kI64) return c.Fail("indices must be i64");
  const std::optional<int64_t> k = AsNumber(indices.shape.back());
  if (!k) return c.Fail("the last dimension of indices must be a number");
  if (batch < 0 || batch >= indices.rank() || batch + *k > x.rank()) {
    return c.Fail(absl::StrCat(batch, " batch dimensions and ", *k,
                               " coordinates do not fit the ranks"));
  }
  for (int64_t d = 0; d < batch; ++d) {
    RETURN_IF_ERROR(c.Equal(x.shape[d], indices.shape[d],
                            absl::StrCat("batch dimension ", d, " differs")));
  }
  for (int64_t d = batch; d < batch + *k; ++d) {
    RETURN_IF_ERROR(c.AtLeast(
        x.shape[d], D(1), absl::StrCat("indexed dimension ", d, " is empty")));
  }
  TypeT<D> out{x.dtype, {indices.shape.begin(), indices.shape.end() - 1}};
  out.shape.insert(out.shape.end(), x.shape.begin() + batch + *k,
                   x.shape.end());
  return std::vector{out};
}

constexpr auto GatherNdElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  using Index = typename C::Index;
  const int batch = static_cast<int>(c.Number("batch_dims"));
  const int last = c.rank(1) - 1;
  const int k = static_cast<int>(AsNumber(c.dim(1, last)).value_or(0));
  return [&c, batch, last, k](const auto& i) {
    typename C::Indices position(i.begin(), i.begin() + last);
    typename C::Indices at(i.begin(), i.begin() + batch);
    position.push_back(Index(0));
    for (int j = 0; j < k; ++j) {
      position[last] = Index(j);
      at.push_back(Mod(c.IntAt(1, position), c.dim(0, batch + j)));
    }
    at.insert(at.end(), i.begin() + last, i.end());
    return c.At(0, at);
  };
};

Imported FromGatherNd(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (NumElements(c.type(in[0])) == 0) {
    return Unsupported(c.node().op_type, ": the first input is empty");
  }
  return One(
      c.Add("gather_nd", in, {{"batch_dims", c.node().Int("batch_dims")}}));
}

Exported ToGatherNd(OnnxExport& c) {
  const int64_t batch = c.attrs().Int("batch_dims");
  if (c.opset() < 11) return Unsupported("GatherND: needs opset 11");
  if (batch == 0) return c.Emit("GatherND", c.AllIn());
  if (c.opset() < 12) return Unsupported("GatherND: batch_dims needs opset 12");
  return c.Emit("GatherND", c.AllIn(), {{"batch_dims", batch}});
}

}  // namespace

std::vector<OpDef> DefineGatherNd() {
  return {{
      .name = "gather_nd",
      .inputs = Inputs({"x", "indices"}),
      .attrs = {IntAttr("batch_dims").Default(int64_t{0}).Samples({0, 1})},
      .infer = Infer([](auto& c) { return InferGatherNd(c); }),
      .element = Element(GatherNdElement),
      .examples =
          {"gather_nd([[1 2] [3 4]], [[0 0] [1 -1]]:i64) = [1 4]",
           "gather_nd([[1 2] [3 4]], [[1]]:i64) = [[3 4]]",
           "gather_nd([[1 2] [3 4]], [[1] [0]]:i64, batch_dims=1) = [2 3]"},
      .cases = {"gather_nd(f32[3,4], i64[5,2])",
                "gather_nd(f16[2,3,4], i64[2,1])",
                "gather_nd(f32[2,3,4], i64[2,2,1], batch_dims=1)",
                "gather_nd(i64[3], i64[1])"},
      .onnx = {.from = {{"GatherND", FromGatherNd}}, .to = ToGatherNd},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

// topk(x, k=n, axis=a): the n largest (largest=0: smallest) elements along
// dimension a in order, and, as a second output, their indices as i64. Of
// equal elements the one with the lower index comes first.
#include <algorithm>
#include <numeric>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferTopk(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", c.in(0).rank()));
  ASSIGN_OR_RETURN(const int64_t largest, c.Number("largest"));
  if (largest != 0 && largest != 1) return c.Fail("largest must be 0 or 1");
  const D& k = c.Int("k");
  RETURN_IF_ERROR(c.AtLeast(k, D(0), "k is negative"));
  RETURN_IF_ERROR(c.AtLeast(c.in(0).shape[axis], k,
                            "the dimension 'axis' is smaller than k"));
  TypeT<D> values = c.in(0);
  values.shape[axis] = k;
  TypeT<D> indices = values;
  indices.dtype = DType::kI64;
  return std::vector{values, indices};
}

// True for what no order places: NaN and poison. They count as the largest, so
// that sorting has a strict order of all elements.
template <class T>
bool Unordered(const T& x) {
  if constexpr (std::is_same_v<T, Int>) {
    return !x.ok();
  } else if constexpr (std::is_floating_point_v<T>) {
    return IsNan(x);
  } else {
    return false;
  }
}

template <class T>
bool Above(const T& a, const T& b) {
  if (Unordered(a) || Unordered(b)) return Unordered(a) && !Unordered(b);
  return Less(b, a);
}

constexpr auto TopkKernel = [](auto& c) -> absl::Status {
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  const int axis = static_cast<int>(c.attrs.Int("axis"));
  const int64_t k = c.attrs.Int("k"), n = shape[axis];
  const bool largest = c.attrs.Int("largest") != 0;
  const int64_t inner = Strides(shape)[axis];
  const int64_t lines = n == 0 ? 0 : NumElements(shape) / n;
  std::vector<int64_t> order(n);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t outer = line / inner, within = line % inner;
    auto x = [&](int64_t j) {
      return c.At(0, (outer * n + j) * inner + within);
    };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return largest ? Above(x(a), x(b)) : Above(x(b), x(a));
    });
    for (int64_t j = 0; j < k; ++j) {
      const int64_t at = (outer * k + j) * inner + within;
      c.Set(0, at, x(order[j]));
      c.SetInt(1, at, order[j]);
    }
  }
  return absl::OkStatus();
};

// k is an attribute before opset 10; `largest` came with opset 11. An order of
// the results that the node leaves open is the sorted one.
Imported FromTopK(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  int64_t k = c.node().Int("k", 0);
  if (c.opset() >= 10) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> given, c.KnownInts(1));
    if (given.size() != 1) return Invalid("TopK: K must have one element");
    k = given[0];
  }
  ASSIGN_OR_RETURN(Value out, c.Add("topk", {x},
                                    {{"k", k},
                                     {"axis", c.node().Int("axis", -1)},
                                     {"largest", c.node().Int("largest", 1)}}));
  return std::vector<Value>{out, Value{out.node, 1}};
}

Exported ToTopK(OnnxExport& c) {
  const int64_t k = c.attrs().Int("k"), largest = c.attrs().Int("largest");
  const int64_t axis = c.attrs().Int("axis");
  if (c.opset() < 11 && largest == 0) {
    return Unsupported("TopK: largest=0 needs opset 11, the model has ",
                       c.opset());
  }
  if (c.opset() < 10) {
    return c.Emit("TopK", {c.In(0)}, {{"axis", axis}, {"k", k}}, 2);
  }
  std::vector<OnnxAttr> attrs = {{"axis", axis}};
  if (c.opset() >= 11) attrs.push_back({"largest", largest});
  return c.Emit("TopK", {c.In(0), c.Ints({k})}, std::move(attrs), 2);
}

}  // namespace

std::vector<OpDef> DefineTopk() {
  return {{
      .name = "topk",
      .inputs = Inputs({"x"}),
      .attrs = {IntAttr("k").Samples({1, 2}),
                AxisAttr("axis").Default(-1).Samples({-1, 0}),
                IntAttr("largest").Default(1).Samples({1, 0})},
      .outputs = 2,
      .infer = Infer([](auto& c) { return InferTopk(c); }),
      .eval = EvalOrdered(TopkKernel),
      .examples = {"topk([1 4 2 4], k=3) = [4 4 2]; [1 3 2]:i64",
                   "topk([3 1 2]:i64, k=2, largest=0) = [1 2]:i64; [1 2]:i64",
                   "topk([[1 2] [3 0]], k=1, axis=0) = [[3 2]]; [[1 0]]:i64",
                   "topk([1 nan 2], k=2, largest=0) = [1 2]; [0 2]:i64"},
      .cases = {"topk(f32[2,3,4], k=2, axis=1)", "topk(f16[5], k=5)",
                "topk(i64[3,2], k=0)"},
      .onnx = {.from = {{"TopK", FromTopK}}, .to = ToTopK},
      .flops = [](absl::Span<const TensorType> in, auto,
                  const Attrs&) { return NumElements(in[0]); },
  }};
}

}  // namespace isomer

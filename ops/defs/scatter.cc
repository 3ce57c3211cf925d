// The scatters: a copy of x with `updates` written into it, in order, so that
// of two for the same place the last one stays (or combined with what is there
// by `reduction`).
//
//   scatter_nd(x, indices, updates): the last dimension of `indices` holds the
//     position of each slice:  out[indices[i...], :] = updates[i..., :]
//   scatter_elements(x, indices, updates, axis=a): every element has its own
//     index along dimension a:  out[indices[i, j], j] = updates[i, j]  (axis=0)
//
// Indices count modulo the dimension, as gather's do.
#include <utility>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
absl::Status CheckReduction(InferContext<D>& c) {
  RETURN_IF_ERROR(c.SameDType(0, 2));
  if (c.attrs().String("reduction") == "none") return absl::OkStatus();
  return c.Numeric(0);
}

template <class D>
Types<D> InferScatterNd(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  RETURN_IF_ERROR(c.RankAtLeast(1, 1));
  RETURN_IF_ERROR(CheckReduction(c));
  const TypeT<D>&x = c.in(0), &indices = c.in(1);
  if (indices.dtype != DType::kI64) return c.Fail("indices must be i64");
  const std::optional<int64_t> k = AsNumber(indices.shape.back());
  if (!k) return c.Fail("the last dimension of indices must be a number");
  if (*k > x.rank()) {
    return c.Fail(absl::StrCat(*k, " coordinates do not fit the rank"));
  }
  for (int64_t d = 0; d < *k; ++d) {
    RETURN_IF_ERROR(c.AtLeast(
        x.shape[d], D(1), absl::StrCat("indexed dimension ", d, " is empty")));
  }
  std::vector<D> shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + *k, x.shape.end());
  RETURN_IF_ERROR(c.Rank(2, static_cast<int>(shape.size())));
  for (size_t d = 0; d < shape.size(); ++d) {
    RETURN_IF_ERROR(
        c.Equal(c.in(2).shape[d], shape[d],
                absl::StrCat("updates have a wrong dimension ", d)));
  }
  return std::vector{x};
}

template <class D>
Types<D> InferScatterElements(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  RETURN_IF_ERROR(c.Rank(1, c.in(0).rank()));
  RETURN_IF_ERROR(c.SameShape(1, 2));
  RETURN_IF_ERROR(CheckReduction(c));
  const TypeT<D>&x = c.in(0), &indices = c.in(1);
  ASSIGN_OR_RETURN(const int axis, c.Axis("axis", x.rank()));
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) {
    return c.Fail("indices must be i32 or i64");
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis) continue;
    RETURN_IF_ERROR(
        c.AtLeast(x.shape[d], indices.shape[d],
                  absl::StrCat("indices are larger in dimension ", d)));
  }
  RETURN_IF_ERROR(
      c.AtLeast(x.shape[axis], D(1), "the dimension to scatter to is empty"));
  return std::vector{x};
}

// What a kernel writes into: x, changed update by update.
template <class C>
class Target {
 public:
  using T = typename C::Scalar;
  explicit Target(C& c) : c_(c), reduction_(c.attrs.String("reduction")) {
    const int64_t n = NumElements(c.in_type(0));
    for (int64_t at = 0; at < n; ++at) values_.push_back(c.At(0, at));
  }
  // Writes element `from` of the updates to element `at`.
  void Update(int64_t at, int64_t from) {
    const T old = values_[at], update = c_.At(2, from);
    values_[at] = reduction_ == "add"   ? old + update
                  : reduction_ == "mul" ? old * update
                  : reduction_ == "max" ? Max(old, update)
                  : reduction_ == "min" ? Min(old, update)
                                        : update;
  }
  void Finish() {
    for (size_t at = 0; at < values_.size(); ++at) c_.Set(0, at, values_[at]);
  }

 private:
  C& c_;
  const std::string& reduction_;
  std::vector<T> values_;
};

constexpr auto ScatterNdKernel = [](auto& c) -> absl::Status {
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  const std::vector<int64_t> strides = Strides(shape);
  const int64_t k = c.in_type(1).shape.back();
  const int64_t slice = NumElements(absl::MakeSpan(shape).subspan(k));
  const int64_t count = slice == 0 ? 0 : NumElements(c.in_type(2)) / slice;
  Target target(c);
  for (int64_t n = 0; n < count; ++n) {
    int64_t to = 0;
    for (int64_t j = 0; j < k; ++j) {
      to += Mod(c.ints(1)[n * k + j], shape[j]) * strides[j];
    }
    for (int64_t e = 0; e < slice; ++e) target.Update(to + e, n * slice + e);
  }
  target.Finish();
  return absl::OkStatus();
};

constexpr auto ScatterElementsKernel = [](auto& c) -> absl::Status {
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  const std::vector<int64_t>& extents = c.in_type(1).shape;
  const std::vector<int64_t> strides = Strides(shape);
  const size_t axis = c.attrs.Int("axis");
  Target target(c);
  std::vector<int64_t> i(extents.size(), 0);
  const int64_t count = NumElements(c.in_type(1));
  for (int64_t n = 0; n < count; ++n) {
    int64_t to = 0;
    for (size_t d = 0; d < i.size(); ++d) {
      to += (d == axis ? Mod(c.ints(1)[n], shape[d]) : i[d]) * strides[d];
    }
    target.Update(to, n);
    for (size_t d = i.size(); d-- > 0;) {
      if (++i[d] < extents[d]) break;
      i[d] = 0;
    }
  }
  target.Finish();
  return absl::OkStatus();
};

Imported FromScatterNd(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (NumElements(c.type(in[0])) == 0) {
    return Unsupported(c.node().op_type, ": the first input is empty");
  }
  return One(c.Add("scatter_nd", in,
                   {{"reduction", c.node().String("reduction", "none")}}));
}

// Scatter is the name before opset 11.
Imported FromScatterElements(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (NumElements(c.type(in[0])) == 0) {
    return Unsupported(c.node().op_type, ": the first input is empty");
  }
  return One(c.Add("scatter_elements", in,
                   {{"axis", c.node().Int("axis")},
                    {"reduction", c.node().String("reduction", "none")}}));
}

// Emits a scatter that came without reductions in opset `since`.
Exported EmitScatter(OnnxExport& c, absl::string_view op_type, int since,
                     std::vector<OnnxAttr> attrs) {
  const std::string& reduction = c.attrs().String("reduction");
  if (reduction == "add" || reduction == "mul") since = 16;
  if (reduction == "max" || reduction == "min") since = 18;
  if (c.opset() < since) {
    return Unsupported(op_type, ": reduction ", reduction, " needs opset ",
                       since);
  }
  if (reduction != "none") attrs.push_back({"reduction", reduction});
  return c.Emit(op_type, c.AllIn(), std::move(attrs));
}

Exported ToScatterNd(OnnxExport& c) {
  return EmitScatter(c, "ScatterND", 11, {});
}

Exported ToScatterElements(OnnxExport& c) {
  return EmitScatter(c, c.opset() < 11 ? "Scatter" : "ScatterElements", 9,
                     {{"axis", c.attrs().Int("axis")}});
}

AttrSpec Reduction() {
  return StringAttr("reduction", {"none", "add", "mul", "max", "min"})
      .Default(std::string("none"));
}

OpDef ScatterNd() {
  return {
      .name = "scatter_nd",
      .inputs = Inputs({"x", "indices", "updates"}),
      .attrs = {Reduction()},
      .infer = Infer([](auto& c) { return InferScatterNd(c); }),
      .eval = Eval(ScatterNdKernel),
      .examples =
          {"scatter_nd([1 2 3], [[2] [0]]:i64, [8 9]) = [9 2 8]",
           "scatter_nd([1 2 3], [[1] [1]]:i64, [8 9]) = [1 9 3]",
           "scatter_nd([[1 2] [3 4]], [[-1]]:i64, [[5 6]], reduction=add) = "
           "[[1 2] [8 10]]",
           "scatter_nd([[1 2] [3 4]], [[0 1] [0 1]]:i64, [3 5], "
           "reduction=mul) = [[1 30] [3 4]]"},
      .cases = {"scatter_nd(f32[4,3], i64[2,1], f32[2,3])",
                "scatter_nd(f16[2,2], i64[3,2], f16[3], reduction=max)",
                "scatter_nd(i64[3], i64[2,1], i64[2], reduction=min)"},
      .onnx = {.from = {{"ScatterND", FromScatterNd}}, .to = ToScatterNd},
      .flops = NoFlops(),
  };
}

OpDef ScatterElements() {
  return {
      .name = "scatter_elements",
      .inputs = Inputs({"x", "indices", "updates"}),
      .attrs = {AxisAttr("axis").Default(int64_t{0}).Samples({0, 1, -1}),
                Reduction()},
      .infer = Infer([](auto& c) { return InferScatterElements(c); }),
      .eval = Eval(ScatterElementsKernel),
      .examples = {"scatter_elements([[1 2 3]], [[2 -3]]:i64, [[7 8]], axis=1) "
                   "= [[8 2 7]]",
                   "scatter_elements([[1 2] [3 4]], [[1 0]]:i32, [[5 6]], "
                   "axis=0) = [[1 6] [5 4]]",
                   "scatter_elements([1 2], [0 0]:i64, [5 6], "
                   "reduction=add) = [12 2]"},
      .cases = {"scatter_elements(f32[3,4], i64[2,4], f32[2,4], axis=0)",
                "scatter_elements(f16[2,3], i64[2,2], f16[2,2], axis=-1, "
                "reduction=max)",
                "scatter_elements(i64[3], i32[2], i64[2], reduction=mul)"},
      .onnx = {.from = {{"ScatterElements", FromScatterElements},
                        {"Scatter", FromScatterElements}},
               .to = ToScatterElements},
      .flops = NoFlops(),
  };
}

}  // namespace

std::vector<OpDef> DefineScatter() { return {ScatterNd(), ScatterElements()}; }

}  // namespace isomer

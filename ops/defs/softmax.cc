// softmax(x, axis=a) and log_softmax(x, axis=a): exp(x) scaled so that it sums
// to 1 along dimension a, and its logarithm.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferSoftmax(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  RETURN_IF_ERROR(c.Axis("axis", c.in(0).rank()).status());
  return std::vector{c.in(0)};
}

// Calls f with the first element's offset and the step of each line along the
// axis.
template <class F>
void ForEachLine(const std::vector<int64_t>& shape, int64_t axis, F f) {
  const auto dims = absl::MakeSpan(shape);
  const int64_t outer = NumElements(dims.subspan(0, axis));
  const int64_t step = NumElements(dims.subspan(axis + 1));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < step; ++i) f(o * shape[axis] * step + i, step);
  }
}

// Subtracts the largest element first, so that no exponential overflows.
constexpr auto SoftmaxKernel = [](auto& c, bool log) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const std::vector<T>& x = c.inputs[0]->template as<T>();
  std::vector<T>& y = c.outputs[0].template as<T>();
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  const int64_t axis = c.attrs.Int("axis"), n = shape[axis];
  if (n == 0) return absl::OkStatus();
  ForEachLine(shape, axis, [&](int64_t first, int64_t step) {
    const int64_t end = first + n * step;
    T most = x[first];
    for (int64_t at = first; at < end; at += step) most = Max(most, x[at]);
    double sum = 0;
    for (int64_t at = first; at < end; at += step) {
      y[at] = std::exp(x[at] - most);
      sum += y[at];
    }
    const T scale = static_cast<T>(1 / sum);
    const T shift = static_cast<T>(most + std::log(sum));
    for (int64_t at = first; at < end; at += step) {
      y[at] = log ? x[at] - shift : y[at] * scale;
    }
  });
  return absl::OkStatus();
};

// Before opset 13 the dimensions from the axis on are one.
FromOnnx ImportSoftmax(std::string op) {
  return [op](OnnxImport& c) -> Imported {
    ASSIGN_OR_RETURN(Value x, c.In(0));
    const std::vector<int64_t> shape = c.type(x).shape;
    const int64_t rank = static_cast<int64_t>(shape.size());
    const bool flat = c.opset() < 13;
    int64_t axis = c.node().Int("axis", flat ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank || (axis == rank && !flat)) {
      return Invalid(c.node().op_type, ": axis ", axis, " is not one of ",
                     TypeText(c.type(x)));
    }
    if (!flat || axis == rank - 1) {
      return One(c.Add(op, {x}, {{"axis", axis}}));
    }
    const auto dims = absl::MakeSpan(shape);
    ASSIGN_OR_RETURN(x, c.Reshape(x, {NumElements(dims.subspan(0, axis)),
                                      NumElements(dims.subspan(axis))}));
    ASSIGN_OR_RETURN(x, c.Add(op, {x}, {{"axis", int64_t{1}}}));
    return One(c.Reshape(x, shape));
  };
}

// Before opset 13 only the last axis means the same; others are moved there.
ToOnnx ExportSoftmax(std::string op_type) {
  return [op_type](OnnxExport& c) -> Exported {
    const int64_t axis = c.attrs().Int("axis");
    const int64_t last = c.in_type(0).rank() - 1;
    if (c.opset() >= 13 || axis == last) {
      return c.Emit(op_type, {c.In(0)}, {{"axis", axis}});
    }
    std::vector<int64_t> perm(last + 1);
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[axis], perm[last]);  // its own inverse
    std::string x = c.Emit("Transpose", {c.In(0)}, {{"perm", perm}})[0];
    x = c.Emit(op_type, {x}, {{"axis", last}})[0];
    return c.Emit("Transpose", {x}, {{"perm", perm}});
  };
}

int64_t SoftmaxFlops(absl::Span<const TensorType>,
                     absl::Span<const TensorType> out, const Attrs&) {
  return 5 * NumElements(out[0]);
}

}  // namespace

std::vector<OpDef> DefineSoftmax() {
  return {
      {
          .name = "softmax",
          .inputs = Inputs({"x"}),
          .attrs = {AxisAttr("axis").Default(-1).Samples({0, 1, -1})},
          .infer = Infer([](auto& c) { return InferSoftmax(c); }),
          .eval = EvalFloat([](auto& c) { return SoftmaxKernel(c, false); }),
          .expansion = "softmax(x, axis=a) => let e = exp(x) in "
                       "div(e, broadcast(reduce_sum(e, axes=[a]), axes=[a]))",
          .examples = {"softmax([[0 0] [5 5]]) = [[0.5 0.5] [0.5 0.5]]",
                       "softmax([[1000] [1000]], axis=0) = [[0.5] [0.5]]",
                       "softmax([0 0.6931471805599453]) = "
                       "[0.3333333333333333 0.6666666666666666]"},
          .cases = {"softmax(f32[4])", "softmax(f32[2,3,4], axis=1)",
                    "softmax(f16[2,5], axis=-1)", "softmax(f64[3,2], axis=0)"},
          .onnx = {.from = {{"Softmax", ImportSoftmax("softmax")}},
                   .to = ExportSoftmax("Softmax")},
          .flops = SoftmaxFlops,
      },
      {
          .name = "log_softmax",
          .inputs = Inputs({"x"}),
          .attrs = {AxisAttr("axis").Default(-1).Samples({0, 1, -1})},
          .infer = Infer([](auto& c) { return InferSoftmax(c); }),
          .eval = EvalFloat([](auto& c) { return SoftmaxKernel(c, true); }),
          .expansion = "log_softmax(x, axis=a) => sub(x, broadcast("
                       "log(reduce_sum(exp(x), axes=[a])), axes=[a]))",
          .examples = {"log_softmax([[7] [1000]], axis=1) = [[0] [0]]",
                       "log_softmax([0 0]) = "
                       "[-0.6931471805599453 -0.6931471805599453]"},
          .cases = {"log_softmax(f32[4])", "log_softmax(f32[2,3,4], axis=1)",
                    "log_softmax(f16[2,5])", "log_softmax(f64[3,2], axis=0)"},
          .onnx = {.from = {{"LogSoftmax", ImportSoftmax("log_softmax")}},
                   .to = ExportSoftmax("LogSoftmax")},
          .flops = SoftmaxFlops,
      }};
}

}  // namespace isomer

// batch_norm(x, scale, bias, mean, var, epsilon): each channel of
// x [n, c, size...] normalised by given statistics (the form of inference).
#include <cmath>

#include "ops/normalize.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferBatchNorm(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 2));
  for (int k = 1; k < 5; ++k) RETURN_IF_ERROR(ChannelVector(c, k));
  return std::vector{c.in(0)};
}

constexpr auto BatchNormKernel = [](auto& c) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const std::vector<T>& x = c.inputs[0]->template as<T>();
  std::vector<T>& y = c.outputs[0].template as<T>();
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  const int64_t size = NumElements(absl::MakeSpan(shape).subspan(2));
  int64_t at = 0;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t k = 0; k < shape[1]; ++k) {
      const double scale =
          c.At(1, k) /
          std::sqrt(static_cast<double>(c.At(4, k)) + c.attrs.Float("epsilon"));
      const double mean = c.At(3, k), bias = c.At(2, k);
      for (int64_t end = at + size; at < end; ++at) {
        y[at] = static_cast<T>((x[at] - mean) * scale + bias);
      }
    }
  }
  return absl::OkStatus();
};

Imported FromBatchNormalization(OnnxImport& c) {
  RETURN_IF_ERROR(OneOutputOnly(c.node()));
  if (c.node().Int("training_mode") != 0) {
    return Unsupported("BatchNormalization: training is not modelled");
  }
  if (c.opset() < 9 && c.node().Int("spatial", 1) != 1) {
    return Unsupported("BatchNormalization: spatial=0 is not modelled");
  }
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (in.size() != 5) return Invalid("BatchNormalization: takes 5 inputs");
  for (Value v : in) {
    if (c.type(v).dtype != c.type(in[0]).dtype || c.type(in[0]).rank() < 2) {
      return Unsupported("BatchNormalization: ", TypeText(c.type(in[0])),
                         " with ", TypeText(c.type(v)));
    }
  }
  return One(c.Add("batch_norm", in,
                   {{"epsilon", double{c.node().Float("epsilon", 1e-5f)}}}));
}

Exported ToBatchNormalization(OnnxExport& c) {
  return c.Emit("BatchNormalization", c.AllIn(),
                {{"epsilon", static_cast<float>(c.attrs().Float("epsilon"))}});
}

}  // namespace

std::vector<OpDef> DefineBatchNorm() {
  return {{
      .name = "batch_norm",
      .inputs = Inputs({"x", "scale", "bias", "mean", "var"}),
      .attrs = {FloatAttr("epsilon").Default(1e-5).Samples({1e-5, 0.5})},
      .infer = Infer([](auto& c) { return InferBatchNorm(c); }),
      .eval = EvalFloat(BatchNormKernel),
      // One product and one sum with x, so that constant statistics fold into
      // a convolution before it.
      .expansion = "batch_norm(x, scale, bias, mean, var, epsilon=e) => "
                   "let s = div(scale, sqrt(add(var, real(e)))) in "
                   "add(mul(x, broadcast(s, dims=[1])), "
                   "broadcast(sub(bias, mul(mean, s)), dims=[1]))",
      .examples = {"batch_norm([[[1 3] [0 8]]], [1 10], [0 1], [2 4], [1 16], "
                   "epsilon=0) = [[[-1 1] [-9 11]]]",
                   "batch_norm([[6]], [2], [5], [2], [12], epsilon=4) = [[7]]"},
      .cases = {"batch_norm(f32[2,3], f32[3], f32[3], f32[3], f32[3])",
                "batch_norm(f16[1,2,3,3], f16[2], f16[2], f16[2], f16[2])",
                "batch_norm(f64[2,1,2], f64[1], f64[1], f64[1], f64[1])"},
      .onnx = {.from = {{"BatchNormalization", FromBatchNormalization}},
               .to = ToBatchNormalization},
      .flops = [](absl::Span<const TensorType>,
                  absl::Span<const TensorType> out,
                  const Attrs&) { return 2 * NumElements(out[0]); },
  }};
}

}  // namespace isomer

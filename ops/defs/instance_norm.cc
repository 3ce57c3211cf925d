// instance_norm(x, scale, bias, epsilon): each channel of each sample of
// x [n, c, size...] is brought to mean 0 and variance 1, then scaled and moved
// by the channel's scale and bias.
#include "ops/normalize.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferInstanceNorm(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 3));
  RETURN_IF_ERROR(ChannelVector(c, 1));
  RETURN_IF_ERROR(ChannelVector(c, 2));
  return std::vector{c.in(0)};
}

Imported FromInstanceNormalization(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (in.size() != 3) return Invalid("InstanceNormalization: takes 3 inputs");
  if (c.type(in[0]).rank() < 3 || c.type(in[1]).dtype != c.type(in[0]).dtype) {
    return Unsupported("InstanceNormalization: ", TypeText(c.type(in[0])),
                       " with ", TypeText(c.type(in[1])));
  }
  return One(c.Add("instance_norm", in,
                   {{"epsilon", double{c.node().Float("epsilon", 1e-5f)}}}));
}

Exported ToInstanceNormalization(OnnxExport& c) {
  return c.Emit("InstanceNormalization", c.AllIn(),
                {{"epsilon", static_cast<float>(c.attrs().Float("epsilon"))}});
}

}  // namespace

std::vector<OpDef> DefineInstanceNorm() {
  return {{
      .name = "instance_norm",
      .inputs = Inputs({"x", "scale", "bias"}),
      .attrs = {FloatAttr("epsilon").Default(1e-5).Samples({1e-5, 0.5})},
      .infer = Infer([](auto& c) { return InferInstanceNorm(c); }),
      .eval = EvalFloat(
          [](auto& c) { return NormalizeChannels(c, c.in_type(0).shape[1]); }),
      .expansion =
          "instance_norm(x, scale, bias, epsilon=e) => "
          "let m = reduce_mean(x, axes=range(2, rank(x))) in "
          "let d = sub(x, broadcast(m, axes=range(2, rank(x)))) in "
          "let v = reduce_mean(mul(d, d), axes=range(2, rank(x))) in "
          "let s = sqrt(add(v, real(e))) in "
          "let n = div(d, broadcast(s, axes=range(2, rank(x)))) in "
          "add(mul(n, broadcast(scale, dims=[1])), broadcast(bias, dims=[1]))",
      .examples = {"instance_norm([[[1 3] [0 8]]], [1 10], [0 1], epsilon=0) "
                   "= [[[-1 1] [-9 11]]]",
                   "instance_norm([[[0 4]]], [1], [7], epsilon=12) = "
                   "[[[6.5 7.5]]]"},
      .cases = {"instance_norm(f32[2,3,4], f32[3], f32[3])",
                "instance_norm(f16[1,2,3,3], f16[2], f16[2])",
                "instance_norm(f64[2,1,2,3,2], f64[1], f64[1], epsilon=0.5)"},
      .onnx = {.from = {{"InstanceNormalization", FromInstanceNormalization}},
               .to = ToInstanceNormalization},
      .flops = NormFlops,
  }};
}

}  // namespace isomer

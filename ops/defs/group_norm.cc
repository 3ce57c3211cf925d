// group_norm(x, scale, bias, groups=g, epsilon): the channels of each sample of
// x [n, c, size...] are taken in g groups of neighbours; each group is brought
// to mean 0 and variance 1, then each channel scaled and moved.
#include "ops/normalize.h"
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferGroupNorm(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 2));
  RETURN_IF_ERROR(ChannelVector(c, 1));
  RETURN_IF_ERROR(ChannelVector(c, 2));
  const D groups = c.Int("groups");
  RETURN_IF_ERROR(c.AtLeast(groups, D(1), "groups must be at least 1"));
  RETURN_IF_ERROR(
      c.Divides(groups, c.in(0).shape[1], "groups must divide the channels"));
  return std::vector{c.in(0)};
}

// Before opset 21 scale and bias have one element a group.
Imported FromGroupNormalization(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  if (in.size() != 3) return Invalid("GroupNormalization: takes 3 inputs");
  const TensorType x = c.type(in[0]);
  const int64_t groups = c.node().Int("num_groups");
  if (c.node().Int("stash_type", 1) != 1) {
    return Unsupported("GroupNormalization: stash_type ",
                       c.node().Int("stash_type"), " is not modelled");
  }
  if (x.rank() < 2 || groups < 1 || x.shape[1] % groups != 0) {
    return Invalid("GroupNormalization: ", groups, " groups of ", TypeText(x));
  }
  for (size_t k = 1; k < 3 && c.opset() < 21; ++k) {
    ASSIGN_OR_RETURN(in[k], c.Reshape(in[k], {groups, 1}));
    ASSIGN_OR_RETURN(in[k],
                     c.BroadcastTo(in[k], {groups, x.shape[1] / groups}));
    ASSIGN_OR_RETURN(in[k], c.Reshape(in[k], {x.shape[1]}));
  }
  return One(c.Add("group_norm", in,
                   {{"groups", groups},
                    {"epsilon", double{c.node().Float("epsilon", 1e-5f)}}}));
}

// Older opsets have an operator with other parameters or none; there a group
// is one channel of an instance norm, which is what engines recognise.
Exported ToGroupNormalization(OnnxExport& c) {
  const TensorType& x = c.in_type(0);
  const int64_t groups = c.attrs().Int("groups");
  const float epsilon = static_cast<float>(c.attrs().Float("epsilon"));
  if (c.opset() >= 21) {
    return c.Emit("GroupNormalization", c.AllIn(),
                  {{"epsilon", epsilon}, {"num_groups", groups}});
  }
  auto filled = [&](double value) {
    return c.Constant(
        FromDoubles({x.dtype, {groups}}, std::vector<double>(groups, value)));
  };
  auto per_channel = [&](int k) {
    std::vector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = x.shape[1];
    return c.Emit("Reshape", {c.In(k), c.Ints(shape)})[0];
  };
  std::string y = c.Emit("Reshape", {c.In(0), c.Ints({0, groups, -1})})[0];
  y = c.Emit("InstanceNormalization", {y, filled(1), filled(0)},
             {{"epsilon", epsilon}})[0];
  y = c.Emit("Reshape", {y, c.Ints(x.shape)})[0];
  y = c.Emit("Mul", {y, per_channel(1)})[0];
  return c.Emit("Add", {y, per_channel(2)});
}

}  // namespace

std::vector<OpDef> DefineGroupNorm() {
  return {{
      .name = "group_norm",
      .inputs = Inputs({"x", "scale", "bias"}),
      .attrs = {IntAttr("groups").Samples({1, 2}),
                FloatAttr("epsilon").Default(1e-5).Samples({1e-5, 0.5})},
      .infer = Infer([](auto& c) { return InferGroupNorm(c); }),
      .eval = EvalFloat(
          [](auto& c) { return NormalizeChannels(c, c.attrs.Int("groups")); }),
      // A group's mean is the mean of its channels' means, so that only the
      // channels are ever reshaped.
      .expansion =
          "group_norm(x, scale, bias, groups=g, epsilon=e) => "
          "let m = reduce_mean(reshape(reduce_mean(x, axes=range(2, rank(x))), "
          "shape=[dim(x, 0) g (dim(x, 1) / g)]), axes=[2]) in "
          "let c = reshape(broadcast(m, "
          "shape=[dim(x, 0) g (dim(x, 1) / g)], dims=[0 1]), "
          "shape=[dim(x, 0) dim(x, 1)]) in "
          "let d = sub(x, broadcast(c, dims=[0 1])) in "
          "let v = reduce_mean(reshape(reduce_mean(mul(d, d), "
          "axes=range(2, rank(x))), "
          "shape=[dim(x, 0) g (dim(x, 1) / g)]), axes=[2]) in "
          "let s = reshape(broadcast(sqrt(add(v, real(e))), "
          "shape=[dim(x, 0) g (dim(x, 1) / g)], dims=[0 1]), "
          "shape=[dim(x, 0) dim(x, 1)]) in "
          "let n = div(d, broadcast(s, dims=[0 1])) in "
          "add(mul(n, broadcast(scale, dims=[1])), broadcast(bias, dims=[1]))",
      .examples = {"group_norm([[1 3 0 8]], [1 1 1 10], [0 0 0 1], groups=2, "
                   "epsilon=0) = [[-1 1 -1 11]]",
                   "group_norm([[[0] [4]]], [1 2], [0 0], groups=1, "
                   "epsilon=12) = [[[-0.5] [1]]]"},
      .cases = {"group_norm(f32[2,4,3], f32[4], f32[4], groups=2)",
                "group_norm(f16[1,6,2,3], f16[6], f16[6], groups=3)",
                "group_norm(f64[2,3,2], f64[3], f64[3], groups=1)"},
      .onnx = {.from = {{"GroupNormalization", FromGroupNormalization}},
               .to = ToGroupNormalization},
      .flops = NormFlops,
  }};
}

}  // namespace isomer

// attention(q, k, v, scale) = softmax(q k^T * scale) v, for each head, and
// masked_attention, which adds a mask to the scaled scores.
//
//   q [batch, heads, m, d]   k [batch, heads, n, d]   v [batch, heads, n, e]
//   mask [batch, heads, m, n]                   gives [batch, heads, m, e]
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferAttention(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Float(0));
  for (int i = 0; i < c.size(); ++i) {
    RETURN_IF_ERROR(c.SameDType(0, i));
    RETURN_IF_ERROR(c.Rank(i, 4));
    for (int d = 0; d < 2; ++d) {
      RETURN_IF_ERROR(c.Equal(c.in(0).shape[d], c.in(i).shape[d],
                              absl::StrCat("inputs differ in dimension ", d)));
    }
  }
  const TypeT<D>&q = c.in(0), &k = c.in(1), &v = c.in(2);
  RETURN_IF_ERROR(c.Equal(q.shape[3], k.shape[3], "q and k differ in width"));
  RETURN_IF_ERROR(c.Equal(k.shape[2], v.shape[2], "k and v differ in tokens"));
  RETURN_IF_ERROR(c.AtLeast(k.shape[2], D(1), "there is no token to look at"));
  if (c.size() > 3) {
    RETURN_IF_ERROR(c.Equal(q.shape[2], c.in(3).shape[2],
                            "the mask's rows differ from q's tokens"));
    RETURN_IF_ERROR(c.Equal(k.shape[2], c.in(3).shape[3],
                            "the mask's columns differ from k's tokens"));
  }
  TypeT<D> out = q;
  out.shape[3] = v.shape[3];
  return std::vector{out};
}

// One row of scores at a time, shifted by its largest before exp.
constexpr auto AttentionKernel = [](auto& c) {
  using T = typename std::decay_t<decltype(c)>::Scalar;
  const std::vector<int64_t>&qs = c.in_type(0).shape, &vs = c.in_type(2).shape;
  const int64_t heads = qs[0] * qs[1], m = qs[2], d = qs[3];
  const int64_t n = vs[2], e = vs[3];
  const T* q = c.inputs[0]->template as<T>().data();
  const T* k = c.inputs[1]->template as<T>().data();
  const T* v = c.inputs[2]->template as<T>().data();
  T* y = c.outputs[0].template as<T>().data();
  const T scale = static_cast<T>(c.attrs.Float("scale"));
  std::vector<T> weight(n);
  std::vector<double> sum(e);
  for (int64_t row = 0; row < heads * m; ++row) {
    const int64_t head = row / m;
    for (int64_t j = 0; j < n; ++j) {
      const T* key = k + (head * n + j) * d;
      double score = 0;
      for (int64_t i = 0; i < d; ++i) score += double{q[row * d + i]} * key[i];
      weight[j] = static_cast<T>(score) * scale;
      if (c.inputs.size() > 3) weight[j] += c.At(3, row * n + j);
    }
    T most = weight[0];
    for (T w : weight) most = Max(most, w);
    double total = 0;
    sum.assign(e, 0);
    for (int64_t j = 0; j < n; ++j) {
      const double w = std::exp(weight[j] - most);
      total += w;
      const T* value = v + (head * n + j) * e;
      for (int64_t i = 0; i < e; ++i) sum[i] += w * value[i];
    }
    for (int64_t i = 0; i < e; ++i) {
      y[row * e + i] = static_cast<T>(sum[i] / total);
    }
  }
  return absl::OkStatus();
};

// The plain form of opset 23: no cache, no causal mask, no soft cap, as many
// key heads as query heads.
absl::Status CheckPlain(OnnxImport& c) {
  const OnnxNode& node = c.node();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {
      return Unsupported("Attention: output ", i, " is not modelled");
    }
  }
  for (size_t i = 4; i < node.inputs.size(); ++i) {
    if (c.Has(static_cast<int>(i))) {
      return Unsupported("Attention: past keys and values are not modelled");
    }
  }
  if (node.Int("is_causal") != 0 || node.Float("softcap") != 0 ||
      node.Has("softmax_precision") ||
      node.Int("q_num_heads") != node.Int("kv_num_heads")) {
    return Unsupported(
        "Attention: causal, soft-capped and grouped forms are not modelled");
  }
  return absl::OkStatus();
}

// [batch, tokens, heads * width] as [batch, heads, tokens, width].
absl::StatusOr<Value> SplitHeads(OnnxImport& c, Value v) {
  const TensorType type = c.type(v);
  if (type.rank() == 4) return v;
  const int64_t heads = c.node().Int("q_num_heads");
  if (type.rank() != 3 || heads < 1 || type.shape[2] % heads != 0) {
    return Unsupported("Attention: ", heads, " heads of ", TypeText(type));
  }
  ASSIGN_OR_RETURN(v, c.Reshape(v, {type.shape[0], type.shape[1], heads,
                                    type.shape[2] / heads}));
  return c.Add("transpose", {v}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

// A float mask that broadcasts to [batch, heads, m, n].
absl::StatusOr<Value> FullMask(OnnxImport& c, Value q, Value k) {
  ASSIGN_OR_RETURN(Value mask, c.In(3));
  const std::vector<int64_t>&qs = c.type(q).shape, &ks = c.type(k).shape;
  const std::vector<int64_t> full = {qs[0], qs[1], qs[2], ks[2]};
  auto shape = BroadcastShape({full, c.type(mask).shape});
  if (c.type(mask).dtype != c.type(q).dtype || !shape.ok() || *shape != full) {
    return Unsupported("Attention: mask ", TypeText(c.type(mask)),
                       " for scores ", ShapeText(full));
  }
  return c.BroadcastTo(mask, full);
}

Imported FromAttention(OnnxImport& c) {
  RETURN_IF_ERROR(CheckPlain(c));
  std::vector<Value> in(3);
  bool joined = false;
  for (int i = 0; i < 3; ++i) {
    ASSIGN_OR_RETURN(in[i], c.In(i));
    joined = joined || c.type(in[i]).rank() == 3;
    ASSIGN_OR_RETURN(in[i], SplitHeads(c, in[i]));
  }
  const std::vector<int64_t> qs = c.type(in[0]).shape;
  if (c.type(in[1]).shape[1] != qs[1] || c.type(in[2]).shape[1] != qs[1]) {
    return Unsupported("Attention: heads of queries and keys differ");
  }
  if (c.Has(3)) {
    ASSIGN_OR_RETURN(Value mask, FullMask(c, in[0], in[1]));
    in.push_back(mask);
  }
  const double scale = c.node().Has("scale")
                           ? double{c.node().Float("scale")}
                           : 1 / std::sqrt(static_cast<double>(qs[3]));
  ASSIGN_OR_RETURN(Value y,
                   c.Add(in.size() > 3 ? "masked_attention" : "attention", in,
                         {{"scale", scale}}));
  if (!joined) return One(y);
  const int64_t width = qs[1] * c.type(y).shape[3];
  ASSIGN_OR_RETURN(
      y, c.Add("transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
  return One(c.Reshape(y, {qs[0], qs[2], width}));
}

Exported ToAttention(OnnxExport& c) {
  const double scale = c.attrs().Float("scale");
  if (c.opset() >= 23) {
    return c.Emit("Attention", c.AllIn(),
                  {{"scale", static_cast<float>(scale)}});
  }
  std::string y = c.Emit("Transpose", {c.In(1)},
                         {{"perm", std::vector<int64_t>{0, 1, 3, 2}}})[0];
  y = c.Emit("MatMul", {c.In(0), y})[0];
  y = c.Emit("Mul", {y, c.Scalar(c.in_type(0).dtype, scale)})[0];
  if (c.size() > 3) y = c.Emit("Add", {y, c.In(3)})[0];
  y = c.Emit("Softmax", {y}, {{"axis", int64_t{3}}})[0];
  return c.Emit("MatMul", {y, c.In(2)});
}

int64_t AttentionFlops(absl::Span<const TensorType> in,
                       absl::Span<const TensorType>, const Attrs&) {
  const std::vector<int64_t>&q = in[0].shape, &v = in[2].shape;
  const int64_t scores = q[0] * q[1] * q[2] * v[2];
  return scores * (2 * q[3] + 2 * v[3] + 5);
}

OpDef Attention() {
  return {
      .name = "attention",
      .inputs = Inputs({"q", "k", "v"}),
      .attrs = {FloatAttr("scale").Samples({1.0, 0.5})},
      .infer = Infer([](auto& c) { return InferAttention(c); }),
      .eval = EvalFloat(AttentionKernel),
      .expansion =
          "attention(q, k, v, scale=s) => "
          "let r = matmul(q, transpose(k, perm=[0 1 3 2])) in "
          "matmul(softmax(mul(r, real(s)), axis=3), v)",
      .examples = {"attention([[[[1 0]]]], [[[[0 0] [0 5]]]], "
                   "[[[[2] [4]]]], scale=1) = [[[[3]]]]",
                   "attention([[[[1]]]], [[[[0] [1.0986122886681098]]]], "
                   "[[[[0] [4]]]], scale=1) = [[[[3]]]]"},
      .cases = {"attention(f32[1,2,3,4], f32[1,2,5,4], f32[1,2,5,2], "
                "scale=0.5)",
                "attention(f16[2,1,2,2], f16[2,1,2,2], f16[2,1,2,2], scale=1)"},
      .onnx = {.from = {{"Attention", FromAttention}}, .to = ToAttention},
      .flops = AttentionFlops,
  };
}

OpDef MaskedAttention() {
  return {
      .name = "masked_attention",
      .inputs = Inputs({"q", "k", "v", "mask"}),
      .attrs = {FloatAttr("scale").Samples({1.0, 0.5})},
      .infer = Infer([](auto& c) { return InferAttention(c); }),
      .eval = EvalFloat(AttentionKernel),
      .expansion =
          "masked_attention(q, k, v, mask, scale=s) => "
          "let r = matmul(q, transpose(k, perm=[0 1 3 2])) in "
          "matmul(softmax(add(mul(r, real(s)), mask), axis=3), v)",
      .examples = {"masked_attention([[[[1]]]], [[[[0] [0]]]], "
                   "[[[[0] [4]]]], [[[[0 1.0986122886681098]]]], scale=1) = "
                   "[[[[3]]]]",
                   "masked_attention([[[[1]]]], [[[[0] [9]]]], "
                   "[[[[7] [4]]]], [[[[0 -10000]]]], scale=1) = [[[[7]]]]"},
      .cases = {"masked_attention(f32[1,2,3,4], f32[1,2,5,4], f32[1,2,5,2], "
                "f32[1,2,3,5], scale=0.5)"},
      .onnx = {.to = ToAttention},
      .flops = AttentionFlops,
  };
}

}  // namespace

std::vector<OpDef> DefineAttention() {
  return {Attention(), MaskedAttention()};
}

}  // namespace isomer

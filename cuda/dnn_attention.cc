// What the products here call a batch is a head of a batch to cuDNN. How many
// heads a batch has is found out: all tensors must be regular along both.
#include "cuda/dnn_attention.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cuda/product_index.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// The number that scores are multiplied by before the softmax, if that is all
// that is done to them.
std::optional<double> ScaleOf(const ProductCall& call) {
  double scale = 1;
  Value v = call.outputs[0].value;
  while (!(v == call.core)) {
    const ir::Node& node = call.graph->node(v.node);
    if (node.op == nullptr) return std::nullopt;
    if (node.Is("reshape") || node.Is("transpose")) {
      v = node.inputs[0];
      continue;
    }
    if (!node.Is("mul")) return std::nullopt;
    const auto first = NumberOf(call, node.inputs[0]);
    const auto second = NumberOf(call, node.inputs[1]);
    if (!first && !second) return std::nullopt;
    scale *= first ? *first : *second;
    v = node.inputs[first ? 1 : 0];
  }
  return scale;
}

// A product whose batches are `heads` heads each, of which every `every`-th is
// looked at.
class View {
 public:
  View(const ProductCall& call, const Product& p, int64_t heads, int64_t every)
      : call_(call), p_(p), code_(NewCode(call)) {
    batches_ = p.batch / heads;
    heads_ = heads / every;
    const DimExpr batch = code_.NewIndex("zb", batches_);
    const DimExpr head = code_.NewIndex("zh", heads_);
    i_ = {batch * DimExpr(heads) + head * DimExpr(every),
          code_.NewIndex("mm", p.m), code_.NewIndex("nn", p.n),
          code_.NewIndex("kk", p.k)};
  }

  absl::StatusOr<std::optional<DnnTensor>> Rows() { return Factor(0); }
  absl::StatusOr<std::optional<DnnTensor>> Columns() { return Factor(1); }

  // The output, if it is nothing but the product.
  absl::StatusOr<std::optional<DnnTensor>> Output() {
    std::vector<DimExpr> index = OutputIndex(call_, p_, i_.b, i_.m, i_.n);
    for (NodeId id : Path(call_)) {
      const ir::Node& node = call_.graph->node(id);
      if (!node.Is("reshape") && !node.Is("transpose")) return std::nullopt;
      ASSIGN_OR_RETURN(index,
                       Forward(*call_.graph, id, index, code_.intervals()));
    }
    return Tensor(call_.outputs[0].place, index, {"zb", "zh", "mm", "nn"},
                  {batches_, heads_, p_.m, p_.n});
  }

 private:
  absl::StatusOr<std::optional<DnnTensor>> Factor(int operand) {
    ASSIGN_OR_RETURN(const auto source,
                     code_.SourceOf(CoreOf(call_).inputs[operand],
                                    FactorIndex(call_, p_, operand, i_)));
    const Operand* o = source ? Find(call_, source->value) : nullptr;
    if (o == nullptr) return std::nullopt;
    if (operand == 0) {
      return Tensor(o->place, source->index, {"zb", "zh", "mm", "kk"},
                    {batches_, heads_, p_.m, p_.k});
    }
    return Tensor(o->place, source->index, {"zb", "zh", "kk", "nn"},
                  {batches_, heads_, p_.k, p_.n});
  }

  // What lies at `place`, by these indices of the product.
  std::optional<DnnTensor> Tensor(const Place& place,
                                  const std::vector<DimExpr>& index,
                                  const std::vector<std::string>& symbols,
                                  std::vector<int64_t> shape) const {
    const auto steps = Affine(code_.Offset(place, index), symbols);
    if (!steps || place.dtype != p_.dtype) return std::nullopt;
    DnnTensor t{place.pointer,
                std::move(shape),
                {steps->begin(), steps->end() - 1},
                steps->back()};
    int64_t span = 1;
    for (size_t d = 0; d < t.shape.size(); ++d) {
      // Nothing is repeated but keys and values of heads that share them.
      if (t.shape[d] > 1 && t.steps[d] == 0) return std::nullopt;
      span = std::max(span, t.shape[d] * t.steps[d]);
    }
    for (size_t d = 0; d < t.shape.size(); ++d) {
      if (t.shape[d] == 1) t.steps[d] = span;
    }
    if (!IsAligned(t, p_.dtype)) return std::nullopt;
    return t;
  }

  const ProductCall& call_;
  const Product& p_;
  ElementCode code_;
  int64_t batches_ = 1, heads_ = 1;
  Indices i_;
};

// Queries, keys, output and values; nothing if one of them is not regular, or
// elements of a head do not lie side by side.
absl::StatusOr<std::optional<std::vector<DnnTensor>>> TensorsOf(
    const AttentionCall& call, const Attention& a, int64_t heads) {
  const int64_t shared = std::gcd(a.shared, heads);
  ASSIGN_OR_RETURN(auto queries, View(call.scores, a.scores, heads, 1).Rows());
  ASSIGN_OR_RETURN(auto keys,
                   View(call.scores, a.scores, heads, shared).Columns());
  ASSIGN_OR_RETURN(auto out, View(call.values, a.values, heads, 1).Output());
  ASSIGN_OR_RETURN(auto values,
                   View(call.values, a.values, heads, shared).Columns());
  if (!queries || !keys || !out || !values || queries->steps[3] != 1 ||
      keys->steps[2] != 1 || out->steps[3] != 1 || values->steps[3] != 1) {
    return std::nullopt;
  }
  return std::vector<DnnTensor>{*std::move(queries), *std::move(keys),
                                *std::move(out), *std::move(values)};
}

}  // namespace

absl::StatusOr<std::optional<DnnProduct>> AsDnnAttention(
    const AttentionCall& call, const Attention& a) {
  const std::optional<double> scale = ScaleOf(call.scores);
  // The largest score is taken for the largest product.
  if (call.guarded || !scale || !(*scale > 0)) return std::nullopt;
  DnnProduct out;
  out.dtype = a.scores.dtype;
  out.attention = true;
  if (*scale != 1) {
    DnnOperation mul{DnnOperation::Kind::kMul};
    mul.number = scale;
    out.operations.push_back(std::move(mul));
  }
  for (int64_t heads = a.scores.batch; heads > 0; --heads) {
    if (a.scores.batch % heads != 0) continue;
    ASSIGN_OR_RETURN(auto tensors, TensorsOf(call, a, heads));
    if (!tensors) continue;
    out.tensors = *std::move(tensors);
    return out;
  }
  return std::nullopt;
}

}  // namespace isomer::cuda

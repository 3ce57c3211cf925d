// Every tensor is seen through the indices of the product's result; one whose
// offset is affine in them is a tensor to cuDNN.
#include "cuda/dnn_product.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cuda/product_index.h"
#include "ops/dtype.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

using Kind = DnnOperation::Kind;

std::optional<Kind> KindOf(const ir::Node& node) {
  const std::map<absl::string_view, Kind> kinds = {
      {"add", Kind::kAdd},   {"sub", Kind::kSub},         {"mul", Kind::kMul},
      {"relu", Kind::kRelu}, {"clip", Kind::kRelu},       {"gelu", Kind::kGelu},
      {"tanh", Kind::kTanh}, {"sigmoid", Kind::kSigmoid},
  };
  const auto it = kinds.find(node.op->name);
  if (it == kinds.end()) return std::nullopt;
  // A limit from below is that of relu.
  if (node.Is("clip") && node.attrs->Float("min") != 0) return std::nullopt;
  return it->second;
}

class Maker {
 public:
  Maker(const ProductCall& call, const Product& p)
      : call_(call), p_(p), code_(NewCode(call)) {
    out_.dtype = p.dtype;
    out_.convolution = p.convolution;
  }

  absl::StatusOr<std::optional<DnnProduct>> Make() {
    ASSIGN_OR_RETURN(bool fits, p_.convolution ? Convolution() : Matmul());
    if (!fits) return std::nullopt;
    for (NodeId id : Path(call_)) {
      ASSIGN_OR_RETURN(fits, Follow(id));
      if (!fits) return std::nullopt;
    }
    const Value last = call_.outputs[0].value;
    const auto result = results_.find(last.node);
    // Results that are not needed for the last one would be lost.
    if (result == results_.end() ||
        result->second != static_cast<int>(out_.operations.size())) {
      return std::nullopt;
    }
    auto to = TensorAt(call_.outputs[0].place, index_[last.node]);
    if (!to || to->shape != extents_) return std::nullopt;
    out_.tensors[2] = *std::move(to);
    return std::move(out_);
  }

 private:
  // Dimensions of size 1 get the steps that they have where nothing has gaps.
  void Tidy(DnnTensor& t) const {
    std::vector<int> order;  // the innermost dimension first
    const int rank = static_cast<int>(t.shape.size());
    const bool columns = t.shape[1] > 1 && t.steps[1] == 1;
    if (p_.convolution || columns) order.push_back(1);
    for (int d = rank; d-- > 0;) {
      if (d != 1 || order.empty() || order[0] != 1) order.push_back(d);
    }
    int64_t span = 1;
    for (int d : order) {
      if (t.shape[d] == 1) t.steps[d] = span;
      span = std::max(span, t.shape[d] * t.steps[d]);
    }
  }

  // A tensor of these sizes, if it may have these steps.
  std::optional<DnnTensor> Tensor(std::string pointer,
                                  std::vector<int64_t> shape,
                                  std::vector<int64_t> steps, int64_t offset) {
    DnnTensor t{std::move(pointer), std::move(shape), std::move(steps), offset};
    for (size_t d = 0; d < t.shape.size(); ++d) {
      if (t.steps[d] == 0) t.shape[d] = 1;
    }
    Tidy(t);
    if (!IsAligned(t, p_.dtype)) return std::nullopt;
    return t;
  }

  // What lies at `place`, by the indices of the product's result.
  std::optional<DnnTensor> TensorAt(const Place& place,
                                    const std::vector<DimExpr>& index) {
    const auto steps = Affine(code_.Offset(place, index), symbols_);
    if (!steps || place.dtype != p_.dtype) return std::nullopt;
    return Tensor(place.pointer, extents_, {steps->begin(), steps->end() - 1},
                  steps->back());
  }

  absl::StatusOr<bool> Convolution() {
    const ir::Node& core = CoreOf(call_);
    extents_ = ShapeOf(call_, call_.core);
    const int rank = static_cast<int>(extents_.size());
    if (rank != 4 && rank != 5) return false;
    std::vector<DimExpr> index;
    for (int d = 0; d < rank; ++d) {
      symbols_.push_back(absl::StrCat("c", d));
      index.push_back(code_.NewIndex(symbols_.back(), extents_[d]));
    }
    index_[call_.core.node] = std::move(index);
    results_[call_.core.node] = 0;
    for (int i = 0; i < 2; ++i) {
      std::string pointer;
      ASSIGN_OR_RETURN(const auto steps, ImageSteps(call_, i, &pointer));
      if (!steps) return false;
      const std::vector<int64_t> shape = ShapeOf(call_, core.inputs[i]);
      auto t = Tensor(pointer, shape, {steps->begin(), steps->end() - 1},
                      steps->back());
      if (!t || t->shape != shape) return false;
      out_.tensors.push_back(*std::move(t));
    }
    out_.tensors.emplace_back();
    const std::vector<int64_t> pad = core.attrs->Ints("pad");
    out_.stride = core.attrs->Ints("stride");
    out_.dilation = core.attrs->Ints("dilation");
    out_.pad_begin.assign(pad.begin(), pad.begin() + rank - 2);
    out_.pad_end.assign(pad.begin() + rank - 2, pad.end());
    return true;
  }

  absl::StatusOr<bool> Matmul() {
    if (!p_.a.steps || !p_.b.steps) return false;
    const Indices i = NewIndices(code_, p_);
    symbols_ = {"zb", "mm", "nn"};
    extents_ = {p_.batch, p_.m, p_.n};
    index_[call_.core.node] = OutputIndex(call_, p_, i.b, i.m, i.n);
    results_[call_.core.node] = 0;
    const auto &a = *p_.a.steps, &b = *p_.b.steps;
    auto rows =
        Tensor(p_.a.pointer, {p_.batch, p_.m, p_.k}, {a[0], a[1], a[2]}, a[3]);
    auto columns =
        Tensor(p_.b.pointer, {p_.batch, p_.k, p_.n}, {b[0], b[2], b[1]}, b[3]);
    if (!rows || !columns || rows->shape[1] != p_.m || rows->shape[2] != p_.k ||
        columns->shape[1] != p_.k || columns->shape[2] != p_.n) {
      return false;
    }
    out_.tensors = {*std::move(rows), *std::move(columns), {}};
    return true;
  }

  // One more node of the path.
  absl::StatusOr<bool> Follow(NodeId id) {
    const ir::Node& node = call_.graph->node(id);
    std::vector<Value> results, others;
    for (Value in : node.inputs) {
      (results_.count(in.node) ? results : others).push_back(in);
    }
    if (results.empty() || call_.graph->type({id, 0}).dtype != p_.dtype) {
      return false;
    }
    const std::vector<DimExpr>& from = index_[results[0].node];
    ASSIGN_OR_RETURN(index_[id],
                     Forward(*call_.graph, id, from, code_.intervals()));
    if (node.Is("reshape") || node.Is("transpose")) {
      results_[id] = results_[results[0].node];
      return true;
    }
    const std::optional<Kind> kind = KindOf(node);
    if (!kind) return false;
    DnnOperation o{*kind, results_[results[0].node]};
    if (node.Is("clip")) o.limit = node.attrs->Float("max");
    if (results.size() == 2) {
      if (!(index_[results[1].node] == from)) return false;
      o.result = results_[results[1].node];
    }
    if (!others.empty()) {
      // What is subtracted is not the result.
      if (*kind == Kind::kSub && !(node.inputs[0] == results[0])) return false;
      ASSIGN_OR_RETURN(const bool fits, SetOther(others[0], id, o));
      if (!fits) return false;
    }
    out_.operations.push_back(std::move(o));
    results_[id] = static_cast<int>(out_.operations.size());
    return true;
  }

  absl::StatusOr<bool> SetOther(Value v, NodeId id, DnnOperation& o) {
    if (const auto number = NumberOf(*call_.graph, v)) {
      o.number = number;
      return true;
    }
    ASSIGN_OR_RETURN(const auto source, code_.SourceOf(v, index_[id]));
    const Operand* found = source ? Find(call_, source->value) : nullptr;
    if (found == nullptr) return false;
    auto t = TensorAt(found->place, source->index);
    if (!t) return false;
    o.tensor = static_cast<int>(out_.tensors.size());
    out_.tensors.push_back(*std::move(t));
    return true;
  }

  const ProductCall& call_;
  const Product& p_;
  ElementCode code_;
  DnnProduct out_;
  // Of the product's result.
  std::vector<std::string> symbols_;
  std::vector<int64_t> extents_;
  // Where a node's element is found that comes of the product's element, and
  // which result it is.
  std::map<NodeId, std::vector<DimExpr>> index_;
  std::map<NodeId, int> results_;
};

// cuDNN has convolutions that need not be compiled, with what follows in this
// order: a tensor that is added, a row that is added, relu. What is one of them
// but for the order, or for a row of zeros, becomes one.
void UseOwnOrder(DnnProduct& p) {
  if (!p.convolution || p.operations.empty()) return;
  int whole = -1, row = -1;
  bool relu = false;
  for (size_t i = 0; i < p.operations.size(); ++i) {
    const DnnOperation& o = p.operations[i];
    if (relu || o.x != static_cast<int>(i)) return;
    if (o.kind == Kind::kRelu && !o.limit) {
      relu = true;
      continue;
    }
    if (o.kind != Kind::kAdd || o.tensor < 0) return;
    const std::vector<int64_t>& shape = p.tensors[o.tensor].shape;
    const bool is_row = shape[0] == 1 && NumElements(shape) == shape[1];
    int& place = is_row ? row : whole;
    if (place >= 0 || (!is_row && shape != p.tensors[2].shape)) return;
    place = o.tensor;
  }
  if (row < 0 && relu) {
    const int64_t n = p.tensors[2].shape[1];
    DnnTensor zeros{"", std::vector<int64_t>(p.tensors[2].shape.size(), 1),
                    std::vector<int64_t>(p.tensors[2].shape.size(), n)};
    zeros.shape[1] = n;
    zeros.steps[1] = 1;
    row = static_cast<int>(p.tensors.size());
    p.tensors.push_back(std::move(zeros));
  }
  p.operations.clear();
  for (int tensor : {whole, row}) {
    if (tensor < 0) continue;
    DnnOperation add{Kind::kAdd, static_cast<int>(p.operations.size())};
    add.tensor = tensor;
    p.operations.push_back(std::move(add));
  }
  if (!relu) return;
  p.operations.push_back({Kind::kRelu, static_cast<int>(p.operations.size())});
}

}  // namespace

bool IsAligned(const DnnTensor& t, DType dtype) {
  const int64_t chunk = 16 / ByteSize(dtype);
  bool aligned = t.offset % chunk == 0;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    aligned = aligned &&
              (t.shape[d] == 1 || t.steps[d] == 1 || t.steps[d] % chunk == 0);
  }
  return aligned;
}

std::string DnnText(const DnnProduct& p) {
  auto list = [](const std::vector<int64_t>& v) {
    return absl::StrCat("[", absl::StrJoin(v, " "), "]");
  };
  std::string out = absl::StrCat(DTypeName(p.dtype),
                                 p.convolution ? " conv"
                                 : p.attention ? " attention"
                                               : " matmul",
                                 list(p.stride), list(p.dilation),
                                 list(p.pad_begin), list(p.pad_end));
  for (const DnnTensor& t : p.tensors) {
    absl::StrAppend(&out, " ", list(t.shape), list(t.steps), "+", t.offset);
  }
  for (const DnnOperation& o : p.operations) {
    absl::StrAppend(&out, " ", static_cast<int>(o.kind), "(", o.x, ",",
                    o.result, ",", o.tensor);
    for (const auto& number : {o.number, o.limit}) {
      absl::StrAppend(&out, ",", number ? absl::StrFormat("%a", *number) : "");
    }
    out += ")";
  }
  return out;
}

absl::StatusOr<std::optional<DnnProduct>> AsDnnProduct(const ProductCall& call,
                                                       const Product& p) {
  if (p.dtype != DType::kF16 && p.dtype != DType::kBF16) return std::nullopt;
  ASSIGN_OR_RETURN(std::optional<DnnProduct> out, Maker(call, p).Make());
  if (out) UseOwnOrder(*out);
  return out;
}

}  // namespace isomer::cuda

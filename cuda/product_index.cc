// Offsets are polynomials in the indices of the product.
#include "cuda/product_index.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::cuda {

std::vector<DimExpr> TakeApart(const DimExpr& linear,
                               const std::vector<int64_t>& sizes) {
  std::vector<DimExpr> out(sizes.size());
  DimExpr rest = linear;
  for (size_t d = sizes.size(); d-- > 0;) {
    const DimExpr above =
        d == 0 ? DimExpr(0) : FloorDiv(rest, DimExpr(sizes[d]));
    out[d] = rest - above * DimExpr(sizes[d]);
    rest = above;
  }
  return out;
}

Indices NewIndices(ElementCode& code, const Product& p) {
  return {code.NewIndex("zb", p.batch), code.NewIndex("mm", p.m),
          code.NewIndex("nn", p.n), code.NewIndex("kk", p.k)};
}

const ir::Node& CoreOf(const ProductCall& call) {
  return call.graph->node(call.core.node);
}

std::vector<int64_t> ShapeOf(const ProductCall& call, Value v) {
  return call.graph->type(v).shape;
}

std::vector<int64_t> Places(const std::vector<int64_t>& out) {
  std::vector<int64_t> sizes = {out[0]};
  sizes.insert(sizes.end(), out.begin() + 2, out.end());
  return sizes;
}

std::vector<DimExpr> OutputIndex(const ProductCall& call, const Product& p,
                                 const DimExpr& b, const DimExpr& m,
                                 const DimExpr& n) {
  const std::vector<int64_t> out = ShapeOf(call, call.core);
  if (p.convolution) {
    std::vector<DimExpr> place = TakeApart(m, Places(out));
    std::vector<DimExpr> index = {place[0], b * DimExpr(p.n) + n};
    index.insert(index.end(), place.begin() + 1, place.end());
    return index;
  }
  const bool batched = ShapeOf(call, CoreOf(call).inputs[1]).size() > 2;
  std::vector<int64_t> lead(out.begin(), out.end() - (batched ? 2 : 1));
  std::vector<DimExpr> index = TakeApart(batched ? b : m, lead);
  if (batched) index.push_back(m);
  index.push_back(n);
  return index;
}

std::vector<DimExpr> FactorIndex(const ProductCall& call, const Product& p,
                                 int operand, const Indices& i) {
  std::vector<DimExpr> index = OutputIndex(call, p, i.b, i.m, i.n);
  const bool batched = ShapeOf(call, CoreOf(call).inputs[1]).size() > 2;
  if (operand == 0) {
    index.back() = i.k;
  } else if (batched) {
    index[index.size() - 2] = i.k;
  } else {
    index = {i.k, i.n};
  }
  return index;
}

const Operand* Find(const ProductCall& call, Value v) {
  for (const Operand& o : call.inputs) {
    if (o.value == v) return &o;
  }
  return nullptr;
}

ElementCode NewCode(const ProductCall& call) {
  ElementCode code(*call.graph);
  for (const Operand& o : call.inputs) code.Bind(o.value, o.place);
  return code;
}

std::optional<std::vector<int64_t>> Affine(
    const DimExpr& offset, const std::vector<std::string>& symbols) {
  std::vector<int64_t> out(symbols.size() + 1, 0);
  const Polynomial& p = offset.polynomial();
  out.back() = p.constant_term().num();
  for (const Monomial& m : p.monomials()) {
    if (m.factors.size() != 1 || m.factors[0].power != 1) return std::nullopt;
    const auto it =
        std::find(symbols.begin(), symbols.end(), m.factors[0].atom.name());
    if (it == symbols.end() || !m.factors[0].atom.is_symbol()) {
      return std::nullopt;
    }
    out[it - symbols.begin()] = m.coefficient.num();
  }
  return out;
}

absl::StatusOr<std::optional<std::vector<int64_t>>> ImageSteps(
    const ProductCall& call, int operand, std::string* pointer) {
  const Value v = CoreOf(call).inputs[operand];
  ElementCode code = NewCode(call);
  std::vector<DimExpr> index;
  std::vector<std::string> symbols;
  const std::vector<int64_t> shape = ShapeOf(call, v);
  for (size_t d = 0; d < shape.size(); ++d) {
    symbols.push_back(absl::StrCat("c", d));
    index.push_back(code.NewIndex(symbols.back(), shape[d]));
  }
  ASSIGN_OR_RETURN(const auto source, code.SourceOf(v, index));
  const Operand* o = source ? Find(call, source->value) : nullptr;
  if (o == nullptr) return std::nullopt;
  *pointer = o->place.pointer;
  return Affine(code.Offset(o->place, source->index), symbols);
}

absl::StatusOr<std::vector<DimExpr>> Forward(const ir::Graph& graph, NodeId id,
                                             const std::vector<DimExpr>& index,
                                             const Intervals& intervals) {
  const ir::Node& node = graph.node(id);
  const std::vector<int64_t>& out = graph.type({id, 0}).shape;
  std::vector<DimExpr> result;
  if (node.Is("transpose")) {
    for (int64_t d : node.attrs->Ints("perm")) result.push_back(index[d]);
  } else if (node.Is("reshape")) {
    const std::vector<int64_t>& in = graph.type(node.inputs[0]).shape;
    DimExpr linear = 0;
    for (size_t d = 0; d < in.size(); ++d) {
      linear = linear * DimExpr(in[d]) + index[d];
    }
    result = TakeApart(Tidy(linear, intervals), out);
  } else {
    result = index;
  }
  for (DimExpr& e : result) e = Tidy(e, intervals);
  return result;
}

std::vector<NodeId> Path(const ProductCall& call) {
  std::map<NodeId, bool> depends;
  std::vector<NodeId> path;
  for (NodeId id : call.graph->Order()) {
    bool on = false;
    for (Value in : call.graph->node(id).inputs) {
      on = on || in == call.core || depends[in.node];
    }
    depends[id] = on && id != call.core.node;
    if (depends[id]) path.push_back(id);
  }
  return path;
}

}  // namespace isomer::cuda

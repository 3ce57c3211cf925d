// How a sharding is shown to be legal. The dimensions that a candidate cuts
// get a fresh size s in place of their own, and the call is typed and read
// again. If the result's type changes in the cut dimension alone, and its
// element mentions neither s nor the cut index but as the plain index of a cut
// dimension, then the element is the same function of every part, whatever s
// is: also of the whole.
#include "ops/sharding.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/elem_simplify.h"
#include "ops/status.h"

namespace isomer {

namespace {

// No parser gives such names, so they clash with no symbol of a call.
constexpr absl::string_view kFreshSize = "'s";
std::string IndexName(int d) { return absl::StrCat("'i", d); }

// What a call is typed as and what its element is.
struct Reading {
  Inferred<DimExpr> inferred;
  Elem element;
};

// Where an index variable and a size occur in an element.
class Occurrences {
 public:
  explicit Occurrences(std::string variable) : variable_(std::move(variable)) {}

  // True if the variable is nothing but the plain index of one dimension per
  // input, at every access to that input, and the fresh size does not occur.
  bool clean() const { return clean_; }
  // The dimension of input k that the variable runs over; -1 if none.
  int dim(int k) const {
    auto it = dims_.find(k);
    return it == dims_.end() ? -1 : it->second;
  }

  void Visit(const Elem& e) {
    switch (e.kind()) {
      case Elem::Kind::kIndex:
        Free(e.expr());
        break;
      case Elem::Kind::kInput:
        Access(e.input(), e.indices());
        break;
      case Elem::Kind::kReduce:
        Free(e.expr());
        break;
      case Elem::Kind::kIf:
        Visit(e.cond());
        break;
      default:
        break;
    }
    for (const Elem& arg : e.args()) Visit(arg);
  }

 private:
  void Visit(const ElemCond& c) {
    switch (c.kind()) {
      case ElemCond::Kind::kGe0:
      case ElemCond::Kind::kEq0:
        Free(c.expr());
        break;
      case ElemCond::Kind::kTruth:
        Access(c.input(), c.indices());
        break;
      case ElemCond::Kind::kAnd:
      case ElemCond::Kind::kOr:
      case ElemCond::Kind::kNot:
        for (const ElemCond& part : c.parts()) Visit(part);
        break;
      case ElemCond::Kind::kLess:
      case ElemCond::Kind::kEqual:
        for (const Elem& operand : c.operands()) Visit(operand);
        break;
    }
  }

  // An expression in which the variable must not occur.
  void Free(const DimExpr& e) {
    if (Mentions(e.polynomial())) clean_ = false;
  }

  // Whether the variable occurs outside the elements of integer inputs that
  // the expression reads; those are accesses of their own.
  bool Mentions(const Polynomial& p) {
    bool found = false;
    for (const Monomial& m : p.monomials()) {
      for (const Factor& f : m.factors) found |= Mentions(f.atom);
    }
    return found;
  }
  bool Mentions(const Atom& atom) {
    if (atom.is_symbol()) {
      if (atom.name() == kFreshSize) clean_ = false;
      return atom.name() == variable_;
    }
    if (auto ref = DimExpr::AsElement(atom)) {
      Access(ref->input, ref->indices);
      return false;
    }
    bool found = false;
    for (const Polynomial& arg : atom.args()) found |= Mentions(arg);
    return found;
  }

  void Access(int input, const std::vector<DimExpr>& indices) {
    int dim = -1;
    for (size_t j = 0; j < indices.size(); ++j) {
      if (!Mentions(indices[j].polynomial())) continue;
      if (dim >= 0 || !(indices[j] == DimExpr::Symbol(variable_))) {
        clean_ = false;
      }
      dim = static_cast<int>(j);
    }
    auto [it, first] = dims_.emplace(input, dim);
    if (!first && it->second != dim) clean_ = false;
  }

  std::string variable_;
  bool clean_ = true;
  std::map<int, int> dims_;
};

class Deriver {
 public:
  Deriver(const OpDef& op, absl::Span<const SymType> inputs,
          const SymAttrs& attrs)
      : op_(op), inputs_(inputs.begin(), inputs.end()), attrs_(attrs) {}

  absl::StatusOr<std::vector<Sharding>> Derive() {
    ASSIGN_OR_RETURN(Inferred<DimExpr> inferred, InferOp(op_, inputs_, attrs_));
    // Parallel operators speak of device axes that an element does not have.
    if (!op_.element || op_.parallel) return std::vector<Sharding>{};
    attrs_ = inferred.attrs;
    ASSIGN_OR_RETURN(whole_, Read(inputs_, attrs_));
    std::vector<Sharding> out;
    for (int d = 0; d < Output(whole_).rank(); ++d) {
      if (auto s = CutOutput(d)) out.push_back(*std::move(s));
    }
    for (Elem e = whole_.element; IsSum(e); e = Elem(e.args()[0])) {
      if (auto s = CutSum(e.name())) out.push_back(*std::move(s));
    }
    return out;
  }

 private:
  static const SymType& Output(const Reading& r) {
    return r.inferred.outputs[0];
  }
  static bool IsSum(const Elem& e) {
    return e.kind() == Elem::Kind::kReduce && e.fold() == Elem::Fold::kSum;
  }

  absl::StatusOr<Reading> Read(const std::vector<SymType>& inputs,
                               const SymAttrs& attrs) const {
    ASSIGN_OR_RETURN(Inferred<DimExpr> inferred, InferOp(op_, inputs, attrs));
    Ranges ranges = SizesOf(inputs);
    std::vector<DimExpr> index;
    for (int d = 0; d < inferred.outputs[0].rank(); ++d) {
      index.push_back(DimExpr::Symbol(IndexName(d)));
      ranges.indices[IndexName(d)] = inferred.outputs[0].shape[d];
    }
    ASSIGN_OR_RETURN(Elem e, IndexOp(op_, inputs, inferred, index));
    return Reading{std::move(inferred), Simplify(e, ranges)};
  }

  // A symbol that is the size of a dimension is at least 1.
  static Ranges SizesOf(const std::vector<SymType>& types) {
    Ranges ranges;
    for (const SymType& t : types) {
      for (const DimExpr& size : t.shape) {
        std::optional<Atom> atom = size.polynomial().atom();
        if (atom && atom->is_symbol()) ranges.sizes.insert(atom->name());
      }
    }
    return ranges;
  }

  std::optional<Sharding> CutOutput(int d) const {
    const DimExpr size = Output(whole_).shape[d];
    std::optional<Sharding> s = Candidate(IndexName(d), whole_.element, size);
    if (!s) return std::nullopt;
    s->output_dim = d;
    return Confirm(*s, IndexName(d), size);
  }

  std::optional<Sharding> CutSum(const std::string& variable) const {
    Elem e = whole_.element;
    while (e.name() != variable) e = Elem(e.args()[0]);
    const DimExpr size = e.expr();
    std::optional<Sharding> s = Candidate(variable, e.args()[0], size);
    if (!s) return std::nullopt;
    bool any = false;
    for (int dim : s->input_dims) any |= dim >= 0;
    if (!any) return std::nullopt;
    return Confirm(*s, variable, size);
  }

  // The dimensions that `variable` runs over, if it runs cleanly.
  std::optional<Sharding> Candidate(const std::string& variable, const Elem& e,
                                    const DimExpr& size) const {
    Occurrences found(variable);
    found.Visit(e);
    if (!found.clean()) return std::nullopt;
    Sharding s;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const int dim = found.dim(static_cast<int>(k));
      if (dim >= 0 && !(inputs_[k].shape[dim] == size)) return std::nullopt;
      s.input_dims.push_back(dim);
    }
    return s;
  }

  // Confirms the candidate as it is, or with one attribute resized.
  std::optional<Sharding> Confirm(Sharding s, const std::string& variable,
                                  const DimExpr& size) const {
    if (IsLegal(s, variable)) return s;
    for (const auto& [name, value] : attrs_.entries()) {
      int count = 0;
      auto is_size = [&](const DimExpr& e) { return e == size; };
      if (auto* list = std::get_if<std::vector<DimExpr>>(&value)) {
        count = static_cast<int>(list->size());
      } else if (std::holds_alternative<DimExpr>(value)) {
        count = 1;
      }
      for (int at = 0; at < count; ++at) {
        auto* list = std::get_if<std::vector<DimExpr>>(&value);
        if (!is_size(list ? (*list)[at] : std::get<DimExpr>(value))) continue;
        s.resized = {{name, at}};
        if (IsLegal(s, variable)) return s;
      }
    }
    return std::nullopt;
  }

  bool IsLegal(const Sharding& s, const std::string& variable) const {
    const DimExpr fresh = DimExpr::Symbol(kFreshSize);
    std::vector<SymType> inputs = inputs_;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (s.input_dims[k] >= 0) inputs[k].shape[s.input_dims[k]] = fresh;
    }
    SymAttrs attrs = attrs_;
    for (const AttrEntry& entry : s.resized) {
      SymAttr value = *attrs.Find(entry.name);
      if (auto* list = std::get_if<std::vector<DimExpr>>(&value)) {
        (*list)[entry.at] = fresh;
      } else {
        value = fresh;
      }
      attrs.Set(entry.name, std::move(value));
    }
    absl::StatusOr<Reading> part = Read(inputs, attrs);
    if (!part.ok()) return false;
    SymType expected = Output(whole_);
    if (s.output_dim >= 0) expected.shape[s.output_dim] = fresh;
    if (Output(*part) != expected || !(part->inferred.attrs == attrs) ||
        !SameDemands(part->inferred.obligations)) {
      return false;
    }
    return s.output_dim >= 0 ? RunsOver(part->element, variable, s)
                             : SumsOver(part->element, variable, s);
  }

  // Whether typing a part demands nothing that typing the whole did not.
  bool SameDemands(const std::vector<Obligation>& demands) const {
    Ranges sizes;
    sizes.sizes.insert(std::string(kFreshSize));
    for (const Obligation& o : demands) {
      if (o.kind == Obligation::kNonNegative && NonNegative(o.expr, sizes)) {
        continue;
      }
      bool known = false;
      for (const Obligation& w : whole_.inferred.obligations) known |= w == o;
      if (!known) return false;
    }
    return true;
  }

  static bool RunsOver(const Elem& e, const std::string& variable,
                       const Sharding& s) {
    Occurrences found(variable);
    found.Visit(e);
    if (!found.clean()) return false;
    for (size_t k = 0; k < s.input_dims.size(); ++k) {
      if (found.dim(static_cast<int>(k)) != s.input_dims[k]) return false;
    }
    return true;
  }

  // The element must be a sum over `variable` up to the fresh size, perhaps
  // inside other sums that do not depend on it.
  static bool SumsOver(const Elem& e, const std::string& variable,
                       const Sharding& s) {
    if (!IsSum(e)) return false;
    const bool here = e.name() == variable;
    const bool fresh = e.expr() == DimExpr::Symbol(kFreshSize);
    if (here) return fresh && RunsOver(e.args()[0], variable, s);
    return !e.expr().Symbols().count(std::string(kFreshSize)) &&
           SumsOver(e.args()[0], variable, s);
  }

  const OpDef& op_;
  std::vector<SymType> inputs_;
  SymAttrs attrs_;
  Reading whole_;
};

}  // namespace

std::string ShardingText(const Sharding& s) {
  auto dim = [](std::string* out, int d) {
    absl::StrAppend(out, d < 0 ? "-" : absl::StrCat(d));
  };
  std::string text =
      absl::StrCat(absl::StrJoin(s.input_dims, ",", dim), " -> ",
                   s.output_dim < 0 ? "sum" : absl::StrCat(s.output_dim));
  for (const AttrEntry& entry : s.resized) {
    absl::StrAppend(&text, " with ", entry.name, "[", entry.at, "]");
  }
  return text;
}

absl::StatusOr<std::vector<Sharding>> LegalShardings(
    const OpDef& op, absl::Span<const SymType> inputs, const SymAttrs& attrs) {
  return Deriver(op, inputs, attrs).Derive();
}

absl::StatusOr<std::vector<Sharding>> LegalShardings(
    const OpDef& op, absl::Span<const TensorType> inputs, const Attrs& attrs) {
  std::vector<SymType> types;
  for (const TensorType& t : inputs) types.push_back(ToSymbolic(t));
  return LegalShardings(op, types, ToSymbolic(attrs));
}

}  // namespace isomer

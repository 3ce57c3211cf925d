// The meaning of an operator, written once: a function from an output index to
// an output element. The same generic function runs over numbers (the
// reference kernel, for every scalar) and over symbols (index semantics):
//
//   .element = Element([](const auto& c) {
//     return [&c](const auto& i) { return c.At(0, i) + c.At(1, i); };
//   })
//
// The outer call sees shapes and attributes and hoists what it can; the inner
// one is called per element. Both contexts below offer the same names:
//   Index, Value, Cond, Indices      what an index, element, condition is
//   rank(k), dim(k, d), out_dim(d)   shapes
//   Int, Ints, Float, Number, Numbers attributes (Numbers: plain numbers)
//   At(k, i)  IntAt(k, i)  Truth(k, i)   an element of input k as value, as
//                                    index, as truth value
//   Sum, Dot, Prod, MaxOver, MinOver bounded folds over one or more extents
//   If(cond, then, otherwise)        both branches are functions without
//                                    arguments; only the chosen one runs
//   Ge(a, b), Lt, Eq, And, Or, Not   conditions on indices
//   Less(x, y), Equal(x, y)          conditions on elements
//   Const(x), FromIndex(i)           numbers as elements
#ifndef ISOMER_OPS_ELEMENT_H_
#define ISOMER_OPS_ELEMENT_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "ops/attr.h"
#include "ops/elem.h"
#include "ops/scalar.h"
#include "ops/tensor.h"

namespace isomer {

// What an element function sees when it runs over tensors of scalar T.
template <class T>
class ElementContext {
 public:
  using Index = int64_t;
  using Value = T;
  using Cond = bool;
  using Indices = absl::InlinedVector<int64_t, 6>;
  static constexpr bool kSymbolic = false;

  ElementContext(absl::Span<const Tensor* const> inputs, const TensorType& out,
                 const Attrs& attrs)
      : out_(out), attrs_(attrs) {
    for (const Tensor* t : inputs) {
      Operand o{t->type, Strides(t->type.shape), nullptr, nullptr,
                t->type.shape == out.shape};
      if (auto* v = std::get_if<std::vector<int64_t>>(&t->data)) {
        o.ints = v->data();
      } else {
        o.values = t->as<T>().data();
      }
      inputs_.push_back(std::move(o));
    }
  }

  int size() const { return static_cast<int>(inputs_.size()); }
  const TensorType& in_type(int k) const { return inputs_[k].type; }
  const TensorType& out_type() const { return out_; }
  int rank(int k) const { return inputs_[k].type.rank(); }
  Index dim(int k, int d) const { return inputs_[k].type.shape[d]; }
  int out_rank() const { return out_.rank(); }
  Index out_dim(int d) const { return out_.shape[d]; }

  Index Int(absl::string_view name) const { return attrs_.Int(name); }
  const std::vector<Index>& Ints(absl::string_view name) const {
    return attrs_.Ints(name);
  }
  int64_t Number(absl::string_view name) const { return attrs_.Int(name); }
  std::vector<int64_t> Numbers(absl::string_view name) const {
    return attrs_.Ints(name);
  }
  double Float(absl::string_view name) const { return attrs_.Float(name); }
  const std::vector<double>& Floats(absl::string_view name) const {
    return attrs_.Floats(name);
  }
  const std::string& String(absl::string_view name) const {
    return attrs_.String(name);
  }

  // Tells which output element comes next: `i` is its index, `at` its place.
  void MoveTo(const Indices& i, int64_t at) {
    index_ = i.data();
    at_ = at;
  }

  T At(int k, absl::Span<const int64_t> i) const {
    const Operand& o = inputs_[k];
    const int64_t at = Offset(o, i);
    return o.values ? o.values[at] : FromInt<T>(o.ints[at]);
  }
  int64_t IntAt(int k, absl::Span<const int64_t> i) const {
    return inputs_[k].ints[Offset(inputs_[k], i)];
  }
  bool Truth(int k, absl::Span<const int64_t> i) const {
    return IntAt(k, i) != 0;
  }

  template <class F>
  T Sum(const Indices& extents, F f) const {
    Accumulator<T> sum;
    ForEach(extents, [&](const Indices& k) { sum.Add(f(k)); });
    return sum.Result();
  }
  // The sum of f(k) * g(k).
  template <class F, class G>
  T Dot(const Indices& extents, F f, G g) const {
    Accumulator<T> sum;
    ForEach(extents, [&](const Indices& k) { sum.AddProduct(f(k), g(k)); });
    return sum.Result();
  }
  template <class F>
  T Prod(const Indices& extents, F f) const {
    T product = FromInt<T>(1);
    ForEach(extents, [&](const Indices& k) { product = product * f(k); });
    return product;
  }
  // The largest and smallest of f(k); the extents must not be empty.
  template <class F>
  T MaxOver(const Indices& extents, F f) const {
    return Best(extents, f, [](const T& a, const T& b) { return Max(a, b); });
  }
  template <class F>
  T MinOver(const Indices& extents, F f) const {
    return Best(extents, f, [](const T& a, const T& b) { return Min(a, b); });
  }

  template <class F, class G>
  T If(bool cond, F then, G otherwise) const {
    return cond ? T(then()) : T(otherwise());
  }
  bool Ge(int64_t a, int64_t b) const { return a >= b; }
  bool Lt(int64_t a, int64_t b) const { return a < b; }
  bool Eq(int64_t a, int64_t b) const { return a == b; }
  bool And(bool a, bool b) const { return a && b; }
  bool Or(bool a, bool b) const { return a || b; }
  bool Not(bool a) const { return !a; }
  bool Less(const T& a, const T& b) const {
    if constexpr (kOrdered<T>) {
      return isomer::Less(a, b);
    } else {
      return false;  // operators that compare refuse unordered scalars
    }
  }
  bool Equal(const T& a, const T& b) const { return a == b; }
  T Const(double x) const { return FromDouble<T>(x); }
  T FromIndex(int64_t i) const { return FromInt<T>(i); }

 private:
  struct Operand {
    TensorType type;
    std::vector<int64_t> strides;
    const T* values;
    const int64_t* ints;
    bool like_output;  // it has the shape of the output
  };

  int64_t Offset(const Operand& o, absl::Span<const int64_t> i) const {
    // Elementwise operators hand the output's own index on: no arithmetic.
    if (o.like_output && i.data() == index_) return at_;
    int64_t at = 0;
    for (size_t d = 0; d < i.size(); ++d) at += i[d] * o.strides[d];
    return at;
  }
  template <class F>
  static void ForEach(const Indices& extents, F f) {
    for (int64_t e : extents) {
      if (e <= 0) return;
    }
    Indices k(extents.size(), 0);
    int64_t* const at = k.data();
    const int64_t* const end = extents.data();
    const int last = static_cast<int>(extents.size()) - 1;
    while (true) {
      f(k);
      int d = last;
      while (d >= 0 && ++at[d] == end[d]) at[d--] = 0;
      if (d < 0) return;
    }
  }
  template <class F, class Pick>
  static T Best(const Indices& extents, F f, Pick pick) {
    T best{};
    bool first = true;
    ForEach(extents, [&](const Indices& k) {
      best = first ? T(f(k)) : pick(best, f(k));
      first = false;
    });
    return best;
  }

  std::vector<Operand> inputs_;
  const TensorType& out_;
  const Attrs& attrs_;
  const int64_t* index_ = nullptr;
  int64_t at_ = 0;
};

// What an element function sees when it runs over symbols.
class SymbolicContext {
 public:
  using Index = DimExpr;
  using Value = Elem;
  using Cond = ElemCond;
  using Indices = std::vector<DimExpr>;
  static constexpr bool kSymbolic = true;

  SymbolicContext(absl::Span<const SymType> inputs, const SymType& out,
                  const SymAttrs& attrs)
      : inputs_(inputs), out_(out), attrs_(attrs) {}

  int size() const { return static_cast<int>(inputs_.size()); }
  const SymType& in_type(int k) const { return inputs_[k]; }
  const SymType& out_type() const { return out_; }
  int rank(int k) const { return inputs_[k].rank(); }
  Index dim(int k, int d) const { return inputs_[k].shape[d]; }
  int out_rank() const { return out_.rank(); }
  Index out_dim(int d) const { return out_.shape[d]; }

  Index Int(absl::string_view name) const { return attrs_.Int(name); }
  const std::vector<Index>& Ints(absl::string_view name) const {
    return attrs_.Ints(name);
  }
  int64_t Number(absl::string_view name) const {
    return attrs_.Int(name).constant().value_or(0);
  }
  std::vector<int64_t> Numbers(absl::string_view name) const {
    std::vector<int64_t> out;
    for (const DimExpr& e : Ints(name)) out.push_back(e.constant().value_or(0));
    return out;
  }
  double Float(absl::string_view name) const { return attrs_.Float(name); }
  const std::vector<double>& Floats(absl::string_view name) const {
    return attrs_.Floats(name);
  }
  const std::string& String(absl::string_view name) const {
    return attrs_.String(name);
  }

  Elem At(int k, absl::Span<const DimExpr> i) const {
    return Elem::Input(k, {i.begin(), i.end()});
  }
  DimExpr IntAt(int k, absl::Span<const DimExpr> i) const {
    return DimExpr::Element(k, {i.begin(), i.end()});
  }
  ElemCond Truth(int k, absl::Span<const DimExpr> i) const {
    return ElemCond::Truth(k, {i.begin(), i.end()});
  }

  template <class F>
  Elem Sum(const Indices& extents, F f) const {
    return FoldOver(Elem::Fold::kSum, extents, f);
  }
  template <class F, class G>
  Elem Dot(const Indices& extents, F f, G g) const {
    return Sum(extents, [&](const Indices& k) { return Elem(f(k)) * g(k); });
  }
  template <class F>
  Elem Prod(const Indices& extents, F f) const {
    return FoldOver(Elem::Fold::kProd, extents, f);
  }
  template <class F>
  Elem MaxOver(const Indices& extents, F f) const {
    return FoldOver(Elem::Fold::kMax, extents, f);
  }
  template <class F>
  Elem MinOver(const Indices& extents, F f) const {
    return FoldOver(Elem::Fold::kMin, extents, f);
  }

  template <class F, class G>
  Elem If(const ElemCond& cond, F then, G otherwise) const {
    return Elem::If(cond, then(), otherwise());
  }
  ElemCond Ge(const DimExpr& a, const DimExpr& b) const {
    return ElemCond::Ge0(a - b);
  }
  ElemCond Lt(const DimExpr& a, const DimExpr& b) const {
    return ElemCond::Ge0(b - a - 1);
  }
  ElemCond Eq(const DimExpr& a, const DimExpr& b) const {
    return ElemCond::Eq0(a - b);
  }
  ElemCond And(ElemCond a, ElemCond b) const { return ElemCond::And(a, b); }
  ElemCond Or(ElemCond a, ElemCond b) const { return ElemCond::Or(a, b); }
  ElemCond Not(ElemCond a) const { return ElemCond::Not(a); }
  ElemCond Less(const Elem& a, const Elem& b) const {
    return ElemCond::Less(a, b);
  }
  ElemCond Equal(const Elem& a, const Elem& b) const {
    return ElemCond::Equal(a, b);
  }
  Elem Const(double x) const { return Elem(x); }
  Elem FromIndex(DimExpr i) const { return Elem::FromIndex(std::move(i)); }

 private:
  template <class F>
  Elem FoldOver(Elem::Fold fold, const Indices& extents, F f) const {
    Indices k;
    std::vector<std::string> names;
    for (size_t d = 0; d < extents.size(); ++d) {
      names.push_back(absl::StrCat("k", fresh_++));
      k.push_back(DimExpr::Symbol(names.back()));
    }
    Elem body = f(k);
    for (size_t d = extents.size(); d-- > 0;) {
      body = Elem::Reduce(fold, names[d], extents[d], std::move(body));
    }
    return body;
  }

  absl::Span<const SymType> inputs_;
  const SymType& out_;
  const SymAttrs& attrs_;
  mutable int fresh_ = 0;  // bound variables made so far
};

}  // namespace isomer

#endif  // ISOMER_OPS_ELEMENT_H_

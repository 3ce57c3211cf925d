// Type inference, written once per operator and run for numbers and for
// expressions. InferContext<D> gives an operator its input types and
// attributes and takes its demands (`Equal`, `AtLeast`, `Divides`): over
// numbers a demand holds or is an error; over expressions what the normal form
// cannot decide is kept as an obligation for the prover.
#ifndef ISOMER_OPS_INFER_H_
#define ISOMER_OPS_INFER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/attr.h"
#include "ops/dim.h"
#include "ops/status.h"
#include "ops/tensor_type.h"

namespace isomer {

// A condition on sizes that typing needs: `expr` == 0, or `expr` >= 0.
struct Obligation {
  enum Kind { kZero, kNonNegative } kind;
  DimExpr expr;
  friend bool operator==(const Obligation& a, const Obligation& b) {
    return a.kind == b.kind && a.expr == b.expr;
  }
};

// Prints "n - m == 0" or "n - 1 >= 0".
std::string ObligationText(const Obligation& o);

// Whether an error says what is wrong. A search that tries many types, most of
// them wrong, asks for the text of the one error that it reports.
enum class Errors { kExplained, kBare };

template <class D>
class InferContext {
 public:
  InferContext(absl::string_view op, absl::Span<const TypeT<D>> inputs,
               AttrsT<D> attrs, Errors errors = Errors::kExplained)
      : op_(op), inputs_(inputs), attrs_(std::move(attrs)), errors_(errors) {}

  absl::string_view op() const { return op_; }
  int size() const { return static_cast<int>(inputs_.size()); }
  const TypeT<D>& in(int i) const { return inputs_[i]; }
  const AttrsT<D>& attrs() const { return attrs_; }
  const D& Int(absl::string_view name) const { return attrs_.Int(name); }
  const std::vector<D>& Ints(absl::string_view name) const {
    return attrs_.Ints(name);
  }

  // An axis attribute as a number in [0, rank), which is also written back, so
  // that nodes carry axes in one form.
  absl::StatusOr<int> Axis(absl::string_view name, int rank);
  // The same for a list of different axes; kept in the given order unless
  // `sorted`.
  absl::StatusOr<std::vector<int>> Axes(absl::string_view name, int rank,
                                        bool sorted = true);
  // Writes back an attribute in its canonical form.
  void SetAttr(absl::string_view name, AttrT<D> value) {
    attrs_.Set(name, std::move(value));
  }
  // An attribute that typing needs as a number (a flag, a count, a rank).
  absl::StatusOr<int64_t> Number(absl::string_view name) const;

  // Demands on sizes; `what` says in an error what was compared.
  absl::Status Equal(const D& a, const D& b, absl::string_view what);
  absl::Status AtLeast(const D& a, const D& low, absl::string_view what);
  absl::Status Divides(const D& divisor, const D& a, absl::string_view what);
  // Demands equal shapes of inputs i and j.
  absl::Status SameShape(int i, int j);
  absl::Status SameDType(int i, int j);
  absl::Status Rank(int i, int rank);
  absl::Status RankAtLeast(int i, int rank);
  absl::Status Float(int i);    // input i has a floating-point type
  absl::Status Numeric(int i);  // ... a float or integer type, not bool
  absl::Status HasDType(int i, DType dtype);

  // An error about this operator that shows its input types.
  absl::Status Fail(absl::string_view why) const;

  // What was demanded and not decided (always empty over numbers).
  const std::vector<Obligation>& obligations() const { return obligations_; }
  AttrsT<D> TakeAttrs() { return std::move(attrs_); }
  std::vector<Obligation> TakeObligations() { return std::move(obligations_); }

 private:
  std::string op_;
  absl::Span<const TypeT<D>> inputs_;
  AttrsT<D> attrs_;
  Errors errors_;
  std::vector<Obligation> obligations_;
};

template <class D>
using Types = absl::StatusOr<std::vector<TypeT<D>>>;

// An operator's inference in both forms, made from one generic function:
//   .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> { ... })
struct InferFn {
  std::function<Types<int64_t>(InferContext<int64_t>&)> numbers;
  std::function<Types<DimExpr>(InferContext<DimExpr>&)> symbols;
};

namespace internal {
template <class C>
struct DimOfContext;
template <class D>
struct DimOfContext<InferContext<D>> {
  using type = D;
};
}  // namespace internal

// The dimension type of an inference context `decltype(c)`.
template <class C>
using DimOf = typename internal::DimOfContext<std::decay_t<C>>::type;

template <class F>
InferFn Infer(F f) {
  return {f, f};
}

// The inference of an operator with one output that is like input 0.
inline InferFn InferLikeFirst() {
  return Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
    return std::vector{c.in(0)};
  });
}

}  // namespace isomer

#endif  // ISOMER_OPS_INFER_H_

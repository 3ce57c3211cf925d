// The index semantics of an operator as a value: what one output element is,
// at a symbolic index, in terms of input elements, bounded sums and guards.
// Proofs for all sizes and the legal shardings of an operator read this form.
//
// Elem behaves like any other scalar (+ - * /, Exp, Max, ...), so an operator's
// element function, generic in its scalar, produces it without a second
// definition.
#ifndef ISOMER_OPS_ELEM_H_
#define ISOMER_OPS_ELEM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ops/dim.h"
#include "ops/dtype.h"

namespace isomer {

class Elem;

// A condition on indices or elements.
class ElemCond {
 public:
  enum class Kind { kGe0, kEq0, kAnd, kOr, kNot, kTruth, kLess, kEqual };
  static ElemCond Ge0(DimExpr e);  // e >= 0
  static ElemCond Eq0(DimExpr e);  // e == 0
  static ElemCond And(ElemCond a, ElemCond b);
  static ElemCond Or(ElemCond a, ElemCond b);
  static ElemCond Not(ElemCond a);
  static ElemCond Truth(int input, std::vector<DimExpr> indices);
  static ElemCond Less(Elem a, Elem b);
  static ElemCond Equal(Elem a, Elem b);

  Kind kind() const;
  const DimExpr& expr() const;                 // kGe0, kEq0
  const std::vector<ElemCond>& parts() const;  // kAnd, kOr, kNot
  int input() const;                           // kTruth
  const std::vector<DimExpr>& indices() const;
  const std::vector<Elem>& operands() const;  // kLess, kEqual
  std::string ToString() const;

 private:
  struct Node;
  explicit ElemCond(std::shared_ptr<const Node> node) : node_(node) {}
  std::shared_ptr<const Node> node_;
};

class Elem {
 public:
  enum class Kind {
    kConst,
    kIndex,
    kInput,
    kAdd,
    kMul,
    kDiv,
    kFn,
    kReduce,
    kIf
  };
  enum class Fold { kSum, kProd, kMax, kMin };

  Elem() : Elem(0.0) {}
  Elem(double value);  // NOLINT: a number is an element
  static Elem FromDouble(double value) { return Elem(value); }
  static Elem FromInt(int64_t value) { return FromIndex(DimExpr(value)); }
  static Elem FromIndex(DimExpr e);
  static Elem Input(int input, std::vector<DimExpr> indices);
  static Elem Fn(absl::string_view name, std::vector<Elem> args);
  // The fold of `body` over `var` in [0, extent).
  static Elem Reduce(Fold fold, std::string var, DimExpr extent, Elem body);
  static Elem If(ElemCond cond, Elem then, Elem otherwise);

  Kind kind() const;
  double value() const;                         // kConst
  const DimExpr& expr() const;                  // kIndex; kReduce: extent
  int input() const;                            // kInput
  const std::vector<DimExpr>& indices() const;  // kInput
  const std::string& name() const;              // kFn; kReduce: variable
  Fold fold() const;                            // kReduce
  const std::vector<Elem>& args() const;        // all but leaves
  const ElemCond& cond() const;                 // kIf
  std::string ToString() const;

  friend Elem operator+(const Elem& a, const Elem& b);
  friend Elem operator-(const Elem& a, const Elem& b);
  friend Elem operator*(const Elem& a, const Elem& b);
  friend Elem operator/(const Elem& a, const Elem& b);
  friend Elem operator-(const Elem& a);

 private:
  struct Node;
  explicit Elem(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// The functions that every scalar has.
Elem Exp(const Elem& x);
Elem Log(const Elem& x);
Elem Sqrt(const Elem& x);
Elem Erf(const Elem& x);
Elem Sin(const Elem& x);
Elem Cos(const Elem& x);
Elem Floor(const Elem& x);
// A conversion to a type that cannot hold every value.
Elem Narrow(DType type, const Elem& x);
Elem Max(const Elem& a, const Elem& b);
Elem Min(const Elem& a, const Elem& b);
// Functions that other scalars derive by looking at the value stay names here:
// round, sign, pow, is_nan (1 or 0), and trunc_div, the quotient of integers
// rounded towards zero.
Elem Round(const Elem& x);
Elem Sign(const Elem& x);
Elem Pow(const Elem& x, const Elem& y);
Elem IsNan(const Elem& x);
Elem TruncDiv(const Elem& a, const Elem& b);

}  // namespace isomer

#endif  // ISOMER_OPS_ELEM_H_

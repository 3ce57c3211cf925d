// Sizes and indices as expressions: integer polynomials over symbols.
//
// Type inference is written once, generic in the dimension: with int64_t it
// computes, with DimExpr it proves. Equality is equality of normal forms. The
// only form of division is the atom floordiv(a, b): a remainder is written
// a - b*floordiv(a, b), so b*(a/b) + a%b is a by itself. A divisor is assumed
// to be positive, and so is each symbol that divides one. The free functions
// below exist for int64_t too, with the same meaning.
#ifndef ISOMER_OPS_DIM_H_
#define ISOMER_OPS_DIM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ops/polynomial.h"

namespace isomer {

class DimExpr {
 public:
  // An element of an integer tensor that is input number `input` of an
  // operator, standing for its value: what gather's index semantics reads.
  struct ElementRef {
    int input;
    std::vector<DimExpr> indices;
  };
  // Returns the value of an element, or nothing if there is none.
  using ElementValue = std::function<std::optional<int64_t>(
      int input, const std::vector<int64_t>& indices)>;

  DimExpr() = default;
  DimExpr(int64_t value) : poly_(value) {}  // NOLINT: a number is a size
  explicit DimExpr(Polynomial poly) : poly_(std::move(poly)) {}

  static DimExpr Symbol(absl::string_view name);
  static DimExpr Element(int input, std::vector<DimExpr> indices);

  // Returns what Element made, if the atom is such a one.
  static std::optional<ElementRef> AsElement(const Atom& atom);
  // Returns what Element made, if the expression is exactly that.
  std::optional<ElementRef> element() const;

  // Returns the value if no symbol is left.
  std::optional<int64_t> constant() const;
  // False once the arithmetic has left 64 bits; such a value equals nothing.
  bool ok() const { return poly_.ok(); }
  const Polynomial& polynomial() const { return poly_; }

  // Returns the names of all symbols.
  std::set<std::string> Symbols() const { return poly_.Symbols(); }

  // Returns the expression with symbols replaced, in normal form again.
  DimExpr Substitute(const std::map<std::string, DimExpr>& values) const;

  // Returns the value, or nothing if a symbol or element has none, a divisor
  // is zero, or the arithmetic leaves 64 bits.
  std::optional<int64_t> Evaluate(const std::map<std::string, int64_t>& values,
                                  const ElementValue& element = nullptr) const;

  uint64_t hash() const { return poly_.hash(); }
  std::string ToString() const { return poly_.ToString(); }

  DimExpr operator-() const { return DimExpr(-poly_); }
  DimExpr& operator+=(const DimExpr& b) { return *this = *this + b; }
  DimExpr& operator-=(const DimExpr& b) { return *this = *this - b; }
  DimExpr& operator*=(const DimExpr& b) { return *this = *this * b; }
  friend DimExpr operator+(const DimExpr& a, const DimExpr& b) {
    return DimExpr(a.poly_ + b.poly_);
  }
  friend DimExpr operator-(const DimExpr& a, const DimExpr& b) {
    return DimExpr(a.poly_ - b.poly_);
  }
  friend DimExpr operator*(const DimExpr& a, const DimExpr& b) {
    return DimExpr(a.poly_ * b.poly_);
  }
  friend bool operator==(const DimExpr& a, const DimExpr& b) {
    return a.poly_ == b.poly_;
  }
  // A total order by structure, for containers; it says nothing about sizes.
  friend bool operator<(const DimExpr& a, const DimExpr& b) {
    return a.poly_ < b.poly_;
  }
  friend std::ostream& operator<<(std::ostream& out, const DimExpr& a) {
    return out << a.ToString();
  }

  template <typename H>
  friend H AbslHashValue(H h, const DimExpr& a) {
    return H::combine(std::move(h), a.hash());
  }

 private:
  Polynomial poly_;
};

// Division that rounds towards minus infinity. A constant divisor 0 stays as
// an atom without a value; for int64_t the quotient by 0 is 0.
DimExpr FloorDiv(const DimExpr& a, const DimExpr& b);
int64_t FloorDiv(int64_t a, int64_t b);

// a - b * FloorDiv(a, b).
DimExpr Mod(const DimExpr& a, const DimExpr& b);
int64_t Mod(int64_t a, int64_t b);

// FloorDiv(a + b - 1, b).
DimExpr CeilDiv(const DimExpr& a, const DimExpr& b);
int64_t CeilDiv(int64_t a, int64_t b);

// The larger and the smaller one. Expressions that differ by a constant fold;
// others become an atom over the sorted set of all operands.
DimExpr MaxOf(const DimExpr& a, const DimExpr& b);
int64_t MaxOf(int64_t a, int64_t b);
DimExpr MinOf(const DimExpr& a, const DimExpr& b);
int64_t MinOf(int64_t a, int64_t b);

// Returns `e` without the common factors that `drop` accepts: where none of
// these can be zero, both are zero together.
DimExpr WithoutFactors(const DimExpr& e,
                       absl::FunctionRef<bool(const Atom&)> drop);

// Returns a symbol and the value that `zero` == 0 gives it, if there is one
// that stands alone.
std::optional<std::pair<std::string, DimExpr>> SolveForSymbol(
    const DimExpr& zero);

// Returns the function of an atom at new arguments, in normal form; nothing if
// they are the arguments that it has.
std::optional<Polynomial> Reapply(const Atom& atom,
                                  std::vector<Polynomial> args);

}  // namespace isomer

#endif  // ISOMER_OPS_DIM_H_

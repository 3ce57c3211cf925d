// Polynomials with exact rational coefficients over atoms, in normal form.
//
// An atom is a symbol (`n`) or a function applied to polynomials
// (`floordiv(h - 3, s)`). Monomials are kept sorted and merged, so two
// polynomials are equal if and only if they print the same. Powers may be
// negative: x^-1 times x is 1. Dimensions (ops/dim.h) and symbolic scalars
// (ops/term.h) are built on this; proofs walk monomials() directly.
//
// A polynomial is an immutable shared value: copies cost a reference count,
// constants need no memory. Arithmetic that leaves 64-bit rationals, or grows
// past kMaxMonomials, gives the overflow value, which equals nothing.
#ifndef ISOMER_OPS_POLYNOMIAL_H_
#define ISOMER_OPS_POLYNOMIAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/rational.h"

namespace isomer {

class Polynomial;

// A symbol or the application of a named function to polynomials.
class Atom {
 public:
  static Atom Symbol(absl::string_view name);

  const std::string& name() const;
  bool is_symbol() const;
  // The arguments of a function application; empty for a symbol.
  const std::vector<Polynomial>& args() const;
  // True if this is an application of the function of that name.
  bool Is(absl::string_view function) const;

  // Depends on nothing but the content: the same on every run and machine.
  uint64_t hash() const;
  std::string ToString() const;

  // Negative, zero or positive as a comes before, is, or comes after b:
  // symbols before functions, then by name and arguments.
  static int Compare(const Atom& a, const Atom& b);
  friend bool operator==(const Atom& a, const Atom& b) {
    return a.rep_ == b.rep_ || (a.hash() == b.hash() && Compare(a, b) == 0);
  }
  friend bool operator<(const Atom& a, const Atom& b) {
    return Compare(a, b) < 0;
  }

 private:
  friend class Polynomial;
  struct Rep;
  explicit Atom(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  static Atom NewSymbol(absl::string_view name);

  std::shared_ptr<const Rep> rep_;
};

// An atom to a power other than zero.
struct Factor {
  Atom atom;
  int32_t power;
};

// A coefficient times a product of factors sorted by atom. The empty product
// is the constant monomial.
struct Monomial {
  Rational coefficient;
  absl::InlinedVector<Factor, 2> factors;

  // The sum of the powers.
  int64_t Degree() const;
  // Returns the monomial with none but the factors that `keep` accepts.
  Monomial Only(absl::FunctionRef<bool(const Factor&)> keep) const;
};

// Compares the products of two monomials, leaving the coefficients aside:
// first by degree, then by the powers of the atoms in their order. This is a
// monomial order: a < b implies a*c < b*c.
int CompareProducts(const Monomial& a, const Monomial& b);

class Polynomial {
 public:
  // More monomials than this count as overflow.
  static constexpr size_t kMaxMonomials = size_t{1} << 20;

  Polynomial() = default;
  Polynomial(int64_t value) : constant_(value) {}   // NOLINT: a number
  Polynomial(Rational value) : constant_(value) {}  // NOLINT: a number
  Polynomial(Atom atom);                            // NOLINT: an atom

  static Polynomial Symbol(absl::string_view name);

  // Returns function(args...) as an atom; the caller chooses the normal form
  // of the arguments.
  static Polynomial Apply(absl::string_view function,
                          std::vector<Polynomial> args);

  // Returns the sum of monomials in any order, equal ones merged.
  static Polynomial Sum(std::vector<Monomial> monomials);

  static Polynomial Overflow() { return Polynomial(Rational::Overflow()); }

  bool ok() const { return constant_.ok(); }
  bool IsZero() const { return rep_ == nullptr && constant_.IsZero(); }
  bool IsConstant() const { return rep_ == nullptr && constant_.ok(); }

  // Returns the value of a constant polynomial.
  std::optional<Rational> constant() const;
  // Returns the atom if the polynomial is exactly that, with coefficient 1.
  std::optional<Atom> atom() const;

  // The polynomial is constant_term() plus the sum of monomials(), which are
  // not constant, greatest product first.
  Rational constant_term() const { return constant_; }
  absl::Span<const Monomial> monomials() const;
  // Returns all monomials, the constant one last if it is not zero.
  std::vector<Monomial> AllMonomials() const;

  // Returns c where the polynomial is c * atom^power + (other powers of atom);
  // occurrences inside arguments of functions do not count.
  Polynomial Coefficient(const Atom& atom, int power = 1) const;
  // Returns the greatest degree of a monomial; 0 for a constant.
  int64_t Degree() const;
  // Returns the greatest power of the atom, 0 if it does not occur.
  int64_t Degree(const Atom& atom) const;
  // Returns the names of all symbols, those inside arguments included.
  std::set<std::string> Symbols() const;

  // Returns the power; a negative one exists for a single monomial only and is
  // the overflow value otherwise, as are powers of zero below zero.
  Polynomial Pow(int64_t exponent) const;

  // Returns the polynomial with every atom replaced by value(atom), or left
  // where that is nothing. Whether the arguments of functions are visited is
  // up to `value`.
  Polynomial Transform(
      absl::FunctionRef<std::optional<Polynomial>(const Atom&)> value) const;

  // Returns the polynomial with symbols replaced, also inside the arguments of
  // functions, which are applied again as they are.
  Polynomial Substitute(const std::map<std::string, Polynomial>& values) const;

  // Returns the value at the values of the atoms, or nothing if one of them
  // has none or the arithmetic overflows.
  std::optional<Rational> Evaluate(
      absl::FunctionRef<std::optional<Rational>(const Atom&)> value) const;

  // Depends on nothing but the content: the same on every run and machine.
  uint64_t hash() const;

  // Prints the normal form: "2*c*n + floordiv(h - 3, s) + 1".
  std::string ToString() const;

  Polynomial operator-() const;
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);

  // A total order by structure for containers. The overflow value comes last
  // and compares as equivalent to itself.
  static int Compare(const Polynomial& a, const Polynomial& b);
  // Structural equality; false if either side overflowed.
  friend bool operator==(const Polynomial& a, const Polynomial& b);
  friend bool operator<(const Polynomial& a, const Polynomial& b) {
    return Compare(a, b) < 0;
  }

  template <typename H>
  friend H AbslHashValue(H h, const Polynomial& p) {
    return H::combine(std::move(h), p.hash());
  }

 private:
  struct Rep;
  // Most have one or two monomials, which then need no memory of their own.
  using Monomials = absl::InlinedVector<Monomial, 2>;

  static Polynomial NewSymbol(absl::string_view name);
  // Takes monomials that are sorted, merged, not zero and not constant.
  static Polynomial FromSorted(Monomials monomials, Rational constant);
  // Returns a + sign * b.
  static Polynomial Merge(const Polynomial& a, const Polynomial& b, int sign);
  // The constant one last, as AllMonomials.
  void AppendTo(std::vector<Monomial>& out) const;

  Rational constant_;
  // Null for a constant.
  std::shared_ptr<const Rep> rep_;
};

// True if the product of b divides that of a without negative powers.
bool DividesProduct(const Monomial& b, const Monomial& a);

// Returns the greatest monomial that divides p; what is left has coprime
// integer coefficients, the first of them positive. The content of 0 is 1.
Monomial Content(const Polynomial& p);

// Returns a / b if the division leaves no remainder. A single monomial divides
// everything, since powers may be negative; nothing is divided by zero.
std::optional<Polynomial> DivideExactly(const Polynomial& a,
                                        const Polynomial& b);

}  // namespace isomer

#endif  // ISOMER_OPS_POLYNOMIAL_H_

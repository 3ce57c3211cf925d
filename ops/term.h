// Symbolic scalars: rational functions over symbols and uninterpreted
// functions, for bounded proofs.
//
// A term is a polynomial (ops/polynomial.h) whose atoms are symbols, exp(t),
// max(t, ...) and inv(t). A divisor loses its monomial factors and content
// before it becomes inv(t), so x/x, (2*x)/(2*x) and (a + b)*(1/(a + b)) are 1.
// Functions of constants fold where the result is rational.
#ifndef ISOMER_OPS_TERM_H_
#define ISOMER_OPS_TERM_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "ops/dtype.h"
#include "ops/polynomial.h"

namespace isomer {

class Term {
 public:
  Term() = default;
  explicit Term(Polynomial poly) : poly_(std::move(poly)) {}

  static Term Symbol(absl::string_view name);
  static Term FromInt(int64_t value) { return Term(Polynomial(value)); }
  // Returns the exact value; one that is not a 64-bit rational (an infinity,
  // NaN, or a value like 1e-30) becomes an opaque symbol named by its digits.
  static Term FromDouble(double value);

  // False after an overflow or a division by zero; equal to nothing then.
  bool ok() const { return poly_.ok(); }
  std::optional<Rational> constant() const { return poly_.constant(); }
  const Polynomial& polynomial() const { return poly_; }

  // Returns the term to an integer power; a negative one inverts.
  Term Pow(int64_t exponent) const;

  uint64_t hash() const { return poly_.hash(); }
  std::string ToString() const { return poly_.ToString(); }

  Term operator-() const { return Term(-poly_); }
  friend Term operator+(const Term& a, const Term& b);
  friend Term operator-(const Term& a, const Term& b);
  friend Term operator*(const Term& a, const Term& b);
  friend Term operator/(const Term& a, const Term& b);

  // True if the terms are equal as rational functions of their atoms:
  // denominators are cleared before comparing, so hash() may differ.
  friend bool operator==(const Term& a, const Term& b);
  // A total order by structure, for containers.
  friend bool operator<(const Term& a, const Term& b) {
    return a.poly_ < b.poly_;
  }
  friend std::ostream& operator<<(std::ostream& out, const Term& a) {
    return out << a.ToString();
  }

 private:
  Polynomial poly_;
};

Term Exp(const Term& x);
Term Log(const Term& x);
Term Sqrt(const Term& x);
Term Erf(const Term& x);
Term Sin(const Term& x);
Term Cos(const Term& x);
Term Floor(const Term& x);

// Returns the atom narrow_<type>(x); constants that the type holds exactly
// stay as they are.
Term Narrow(DType type, const Term& x);

// Return the atom max or min over the sorted set of all operands, with nested
// ones flattened and constants folded.
Term Max(const Term& a, const Term& b);
Term Min(const Term& a, const Term& b);

}  // namespace isomer

#endif  // ISOMER_OPS_TERM_H_

// Exact rational numbers with a 64-bit numerator and denominator.
//
// Arithmetic goes through 128 bits. A result that does not fit, and anything
// divided by zero, becomes the overflow value, which is contagious and equal
// to nothing, itself included: an overflow can lose a proof, never make one.
#ifndef ISOMER_OPS_RATIONAL_H_
#define ISOMER_OPS_RATIONAL_H_

#include <cstdint>
#include <optional>
#include <string>

namespace isomer {

class Rational {
 public:
  constexpr Rational() = default;
  constexpr Rational(int64_t value) : num_(value) {}  // NOLINT: a number

  // Returns num / den in lowest terms.
  static Rational Ratio(int64_t num, int64_t den);

  // Returns the exact value of a finite double, or overflow.
  static Rational FromDouble(double value);

  // Returns the greatest g >= 0 such that a/g and b/g are integers.
  static Rational Gcd(Rational a, Rational b);

  static constexpr Rational Overflow() { return Rational(0, 0); }

  bool ok() const { return den_ != 0; }
  int64_t num() const { return num_; }
  // Positive; zero only for the overflow value.
  int64_t den() const { return den_; }
  bool IsInteger() const { return den_ == 1; }
  bool IsZero() const { return num_ == 0 && den_ == 1; }
  bool IsOne() const { return num_ == 1 && den_ == 1; }

  // Returns the value if it is an integer.
  std::optional<int64_t> integer() const;

  // Returns the greatest integer that is not above the value.
  Rational Floor() const;

  // Returns the value rounded to double; NaN for the overflow value.
  double ToDouble() const;

  // Prints "3", "-1/2" or "overflow".
  std::string ToString() const;

  Rational operator-() const;
  friend Rational operator+(Rational a, Rational b);
  friend Rational operator-(Rational a, Rational b);
  friend Rational operator*(Rational a, Rational b);
  friend Rational operator/(Rational a, Rational b);

  friend bool operator==(Rational a, Rational b) {
    return a.ok() && a.num_ == b.num_ && a.den_ == b.den_;
  }
  // Orders by value; the overflow value comes after all others.
  friend bool operator<(Rational a, Rational b);

 private:
  constexpr Rational(int64_t num, int64_t den) : num_(num), den_(den) {}

  static Rational Reduce(__int128 num, __int128 den);

  int64_t num_ = 0;
  int64_t den_ = 1;
};

}  // namespace isomer

#endif  // ISOMER_OPS_RATIONAL_H_

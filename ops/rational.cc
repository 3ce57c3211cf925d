// Every result is built in 128 bits and reduced; integers take a short cut.
#include "ops/rational.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace isomer {
namespace {

unsigned __int128 GcdOf(unsigned __int128 a, unsigned __int128 b) {
  while (b != 0) {
    unsigned __int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

unsigned __int128 Magnitude(__int128 a) {
  return a < 0 ? -static_cast<unsigned __int128>(a)
               : static_cast<unsigned __int128>(a);
}

// Returns the exact product. Unsigned, because clang's check of a signed
// 128-bit product calls a function that gcc's runtime library lacks.
__int128 Times(int64_t a, int64_t b) {
  return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
}

bool Fits(__int128 a) {
  return a >= std::numeric_limits<int64_t>::min() &&
         a <= std::numeric_limits<int64_t>::max();
}

}  // namespace

Rational Rational::Reduce(__int128 num, __int128 den) {
  if (den == 0) return Overflow();
  __int128 g = static_cast<__int128>(GcdOf(Magnitude(num), Magnitude(den)));
  if (den < 0) g = -g;
  num /= g;
  den /= g;
  if (!Fits(num) || !Fits(den)) return Overflow();
  return Rational(static_cast<int64_t>(num), static_cast<int64_t>(den));
}

Rational Rational::Ratio(int64_t num, int64_t den) { return Reduce(num, den); }

Rational Rational::Gcd(Rational a, Rational b) {
  if (!a.ok() || !b.ok()) return Overflow();
  // In lowest terms: the gcd of the numerators over the lcm of denominators.
  auto den_gcd =
      static_cast<__int128>(GcdOf(static_cast<unsigned __int128>(a.den_),
                                  static_cast<unsigned __int128>(b.den_)));
  auto num_gcd =
      static_cast<__int128>(GcdOf(Magnitude(a.num_), Magnitude(b.num_)));
  return Reduce(num_gcd, Times(a.den_ / static_cast<int64_t>(den_gcd), b.den_));
}

Rational Rational::FromDouble(double value) {
  if (!std::isfinite(value)) return Overflow();
  int exponent = 0;
  // 53 bits of mantissa make the scaled value an integer.
  int64_t num =
      static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  while (num != 0 && num % 2 == 0 && exponent < 0) {
    num /= 2;
    ++exponent;
  }
  if (num == 0) return Rational();
  if (exponent < -62 || exponent > 62) return Overflow();
  if (exponent < 0) return Reduce(num, int64_t{1} << -exponent);
  return Reduce(Times(num, int64_t{1} << exponent), 1);
}

std::optional<int64_t> Rational::integer() const {
  if (den_ != 1) return std::nullopt;
  return num_;
}

Rational Rational::Floor() const {
  if (!ok()) return *this;
  int64_t q = num_ / den_;
  return q - (num_ % den_ < 0 ? 1 : 0);
}

double Rational::ToDouble() const {
  if (!ok()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(num_) / static_cast<double>(den_);
}

std::string Rational::ToString() const {
  if (!ok()) return "overflow";
  return den_ == 1 ? absl::StrCat(num_) : absl::StrCat(num_, "/", den_);
}

Rational Rational::operator-() const { return Rational(0) - *this; }

Rational operator+(Rational a, Rational b) {
  int64_t sum = 0;
  if (a.den_ == 1 && b.den_ == 1 &&
      !__builtin_add_overflow(a.num_, b.num_, &sum)) {
    return sum;
  }
  if (!a.ok() || !b.ok()) return Rational::Overflow();
  // Each product is at most 2^126 in magnitude, so the sum fits.
  return Rational::Reduce(Times(a.num_, b.den_) + Times(b.num_, a.den_),
                          Times(a.den_, b.den_));
}

Rational operator-(Rational a, Rational b) {
  int64_t difference = 0;
  if (a.den_ == 1 && b.den_ == 1 &&
      !__builtin_sub_overflow(a.num_, b.num_, &difference)) {
    return difference;
  }
  if (!a.ok() || !b.ok()) return Rational::Overflow();
  return Rational::Reduce(Times(a.num_, b.den_) - Times(b.num_, a.den_),
                          Times(a.den_, b.den_));
}

Rational operator*(Rational a, Rational b) {
  int64_t product = 0;
  if (a.den_ == 1 && b.den_ == 1 &&
      !__builtin_mul_overflow(a.num_, b.num_, &product)) {
    return product;
  }
  if (!a.ok() || !b.ok()) return Rational::Overflow();
  return Rational::Reduce(Times(a.num_, b.num_), Times(a.den_, b.den_));
}

Rational operator/(Rational a, Rational b) {
  if (!a.ok() || !b.ok()) return Rational::Overflow();
  return Rational::Reduce(Times(a.num_, b.den_), Times(a.den_, b.num_));
}

bool operator<(Rational a, Rational b) {
  if (!a.ok() || !b.ok()) return a.ok() && !b.ok();
  return Times(a.num_, b.den_) < Times(b.num_, a.den_);
}

}  // namespace isomer

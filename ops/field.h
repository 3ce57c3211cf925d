// Integers modulo the prime p = 2^61 - 3153: the scalar of fingerprints.
//
// Sums, products, quotients and integer powers are exact, and a double is a
// dyadic rational, so it has an exact image. Two expressions that agree on
// random points are equal up to an error of about degree / 2^61.
//
// Functions that are not rational are keyed random functions: they depend on
// their argument alone, are the same on every machine, and keep no relation
// between values but these true ones: f at 0 and 1 where it is rational there,
// exp(-x) = 1/exp(x), sin and erf odd, cos even. The field has no order that
// arithmetic respects; Max and Min pick by a keyed hash, which makes them
// associative, commutative and idempotent.
#ifndef ISOMER_OPS_FIELD_H_
#define ISOMER_OPS_FIELD_H_

#include <cstdint>
#include <string>

#include "ops/dtype.h"

namespace isomer {

class Field {
 public:
  static constexpr uint64_t kPrime = 2305843009213690799;

  constexpr Field() = default;

  static constexpr Field FromInt(int64_t value) {
    int64_t r = value % static_cast<int64_t>(kPrime);
    return Field(static_cast<uint64_t>(r < 0 ? r + int64_t{kPrime} : r));
  }
  // Takes any 128-bit number modulo p.
  static constexpr Field FromWide(unsigned __int128 value) {
    return Field(Reduce(value));
  }
  // Returns the exact image of a finite double; infinities and NaN give keyed
  // constants.
  static Field FromDouble(double value);

  // The representative in [0, p).
  constexpr uint64_t value() const { return value_; }
  // The representative nearest to 0: what a small integer came from.
  constexpr int64_t Signed() const {
    return static_cast<int64_t>(value_) -
           (value_ > kPrime / 2 ? static_cast<int64_t>(kPrime) : 0);
  }

  // Returns this to an integer power; a negative one inverts.
  constexpr Field Pow(int64_t exponent) const {
    Field base = exponent < 0 ? Inverse() : *this;
    uint64_t e = exponent < 0 ? 0 - static_cast<uint64_t>(exponent)
                              : static_cast<uint64_t>(exponent);
    return base.PowUnsigned(e);
  }

  // Returns 1/x; the inverse of 0 is defined as 0, so that every expression
  // has a value.
  constexpr Field Inverse() const { return PowUnsigned(kPrime - 2); }

  constexpr Field operator-() const {
    return Field(value_ == 0 ? 0 : kPrime - value_);
  }
  friend constexpr Field operator+(Field a, Field b) {
    uint64_t s = a.value_ + b.value_;
    return Field(s >= kPrime ? s - kPrime : s);
  }
  friend constexpr Field operator-(Field a, Field b) {
    return Field(a.value_ >= b.value_ ? a.value_ - b.value_
                                      : a.value_ + kPrime - b.value_);
  }
  friend constexpr Field operator*(Field a, Field b) {
    return Field(Reduce(static_cast<unsigned __int128>(a.value_) * b.value_));
  }
  friend constexpr Field operator/(Field a, Field b) { return a * b.Inverse(); }
  friend constexpr bool operator==(Field a, Field b) = default;

  std::string ToString() const;

 private:
  explicit constexpr Field(uint64_t value) : value_(value) {}

  // 2^61 is 3153 modulo p: fold the upper bits down twice, subtract once.
  static constexpr uint64_t Reduce(unsigned __int128 x) {
    constexpr uint64_t kLow = (uint64_t{1} << 61) - 1;
    x = (x >> 61) * 3153 + (static_cast<uint64_t>(x) & kLow);
    uint64_t y = static_cast<uint64_t>(x >> 61) * 3153 +
                 (static_cast<uint64_t>(x) & kLow);
    return y >= kPrime ? y - kPrime : y;
  }

  constexpr Field PowUnsigned(uint64_t e) const {
    Field result(1);
    for (Field base = *this; e != 0; e >>= 1, base = base * base) {
      if (e & 1) result = result * base;
    }
    return result;
  }

  uint64_t value_ = 0;
};

Field Exp(Field x);
Field Log(Field x);
Field Sqrt(Field x);
Field Erf(Field x);
Field Sin(Field x);
Field Cos(Field x);
Field Floor(Field x);

// Returns the image of a cast to a type that cannot hold every value: to bool
// it is exact (0 or 1), small integers that the type holds stay, and integer
// types give integers of theirs.
Field Narrow(DType type, Field x);

// The field has no NaN; a keyed coin keeps laws about is_nan from holding here
// by accident. False at 0 and 1.
bool IsNan(Field x);

// A strict total order without arithmetic meaning, and the choices it makes.
bool Less(Field a, Field b);
inline Field Max(Field a, Field b) { return Less(a, b) ? b : a; }
inline Field Min(Field a, Field b) { return Less(b, a) ? b : a; }

}  // namespace isomer

#endif  // ISOMER_OPS_FIELD_H_

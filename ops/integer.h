// Exact 64-bit integers that stand for real values: the scalar that sees
// order. max, min, sign and comparison are the true ones.
//
// What is not an integer, or does not fit (a quotient with a remainder, exp,
// an overflow), is poison: contagious, and equal to nothing. Sums and products
// that overflow still carry the number they wrap to, because integer tensors,
// whose elements are of this type too, have it as their value.
#ifndef ISOMER_OPS_INTEGER_H_
#define ISOMER_OPS_INTEGER_H_

#include <cstdint>
#include <string>

#include "ops/dtype.h"

namespace isomer {

class Int {
 public:
  constexpr Int() = default;

  static constexpr Int FromInt(int64_t value) { return Int(value, true); }
  // Returns the integer, or poison for a double that is none.
  static Int FromDouble(double value);
  static constexpr Int Poison() { return Int(0, false); }

  bool ok() const { return ok_; }
  // The value; for poison what integer tensors have: sums, differences and
  // products modulo 2^64, 0 for all else.
  int64_t value() const { return value_; }

  // Prints the value or "poison".
  std::string ToString() const;

  Int operator-() const { return Int() - *this; }
  friend Int operator+(Int a, Int b) {
    int64_t r = 0;
    bool bad = __builtin_add_overflow(a.value_, b.value_, &r);
    return Int(r, a.ok_ && b.ok_ && !bad);
  }
  friend Int operator-(Int a, Int b) {
    int64_t r = 0;
    bool bad = __builtin_sub_overflow(a.value_, b.value_, &r);
    return Int(r, a.ok_ && b.ok_ && !bad);
  }
  friend Int operator*(Int a, Int b) {
    int64_t r = 0;
    bool bad = __builtin_mul_overflow(a.value_, b.value_, &r);
    return Int(r, a.ok_ && b.ok_ && !bad);
  }
  friend Int operator/(Int a, Int b);
  friend bool operator==(Int a, Int b) {
    return a.ok_ && b.ok_ && a.value_ == b.value_;
  }

 private:
  constexpr Int(int64_t value, bool ok) : value_(value), ok_(ok) {}

  int64_t value_ = 0;
  bool ok_ = true;
};

inline Int Exp(Int) { return Int::Poison(); }
inline Int Log(Int) { return Int::Poison(); }
inline Int Sqrt(Int) { return Int::Poison(); }
inline Int Erf(Int) { return Int::Poison(); }
inline Int Sin(Int) { return Int::Poison(); }
inline Int Cos(Int) { return Int::Poison(); }
inline Int Floor(Int x) { return x; }

// Returns the value if the type holds it exactly, else poison; to bool it is
// 0 or 1.
Int Narrow(DType type, Int x);

// True if a < b; false if either is poison, so callers that branch on it look
// at ok() first.
inline bool Less(Int a, Int b) {
  return a.ok() && b.ok() && a.value() < b.value();
}
// Returns the quotient rounded towards zero, which is what integer types
// have; poison for a divisor of zero.
Int TruncDiv(Int a, Int b);

Int Max(Int a, Int b);
Int Min(Int a, Int b);

}  // namespace isomer

#endif  // ISOMER_OPS_INTEGER_H_

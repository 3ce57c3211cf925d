// The scalars that one reference kernel is evaluated over, and the functions
// it may use: float and double (running), Field (fingerprints), Int (order)
// and Term (bounded proofs).
//
// The primitives (Exp, Log, Sqrt, Erf, Sin, Cos, Floor, Max, Min, Narrow) are
// overloaded per scalar; everything else is derived from them here, once, so
// that identities between operators hold in every scalar. float and double
// have the direct library function where that is more accurate.
#ifndef ISOMER_OPS_SCALAR_H_
#define ISOMER_OPS_SCALAR_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "ops/accumulator.h"
#include "ops/dtype.h"
#include "ops/field.h"
#include "ops/integer.h"
#include "ops/real.h"
#include "ops/term.h"

namespace isomer {

// True where arithmetic has no rounding: kernels leave out what only serves
// numerical stability.
template <typename T>
inline constexpr bool kExact = !std::is_floating_point_v<T>;

// True where Less exists.
template <typename T>
inline constexpr bool kOrdered = !std::is_same_v<T, Term>;

// Returns the scalar of an integer; float and double round beyond 2^24 and
// 2^53.
template <typename T>
T FromInt(int64_t value) {
  if constexpr (kExact<T>) {
    return T::FromInt(value);
  } else {
    return static_cast<T>(value);
  }
}

// Returns the scalar of a real constant; float rounds, Int gives poison for
// what is not an integer.
template <typename T>
T FromDouble(double value) {
  if constexpr (kExact<T>) {
    return T::FromDouble(value);
  } else {
    return static_cast<T>(value);
  }
}

// Returns the value as a double; NaN for poison. Field and Term have none.
inline double ToDouble(float x) { return x; }
inline double ToDouble(double x) { return x; }
inline double ToDouble(Int x) {
  return x.ok() ? static_cast<double>(x.value())
                : std::numeric_limits<double>::quiet_NaN();
}

// True for a NaN. Int and Term have none; Field has its own coin.
template <typename T>
bool IsNan(const T& x) {
  if constexpr (kExact<T>) {
    return false;
  } else {
    return std::isnan(x);
  }
}

// 1 / sqrt(x).
template <typename T>
T Rsqrt(const T& x) {
  return FromInt<T>(1) / Sqrt(x);
}

// 1 / (1 + exp(-x)).
template <typename T>
T Sigmoid(const T& x) {
  if constexpr (!kExact<T>) {
    // The exponential of a negative number does not overflow.
    T e = std::exp(-std::fabs(x));
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
  } else {
    return FromInt<T>(1) / (FromInt<T>(1) + Exp(-x));
  }
}

// (exp(2x) - 1) / (exp(2x) + 1).
template <typename T>
T Tanh(const T& x) {
  if constexpr (!kExact<T>) {
    return std::tanh(x);
  } else {
    T e = Exp(x + x);
    return (e - FromInt<T>(1)) / (e + FromInt<T>(1));
  }
}

// max(x, 0).
template <typename T>
T Relu(const T& x) {
  return Max(x, FromInt<T>(0));
}

// max(x, -x).
template <typename T>
T Abs(const T& x) {
  if constexpr (!kExact<T>) {
    return std::fabs(x);
  } else {
    return Max(x, -x);
  }
}

// -floor(-x).
template <typename T>
T Ceil(const T& x) {
  if constexpr (!kExact<T>) {
    return std::ceil(x);
  } else {
    return -Floor(-x);
  }
}

// The nearest integer: halves go to the even one for float and double, and up
// (floor(x + 1/2)) for Field and Term.
template <typename T>
T Round(const T& x) {
  if constexpr (!kExact<T>) {
    return std::nearbyint(x);
  } else if constexpr (std::is_same_v<T, Int>) {
    return x;
  } else {
    return Floor(x + FromDouble<T>(0.5));
  }
}

// x / |x|, and 0 at 0.
template <typename T>
T Sign(const T& x) {
  if constexpr (!kExact<T>) {
    return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
  } else {
    return x == FromInt<T>(0) ? x : x / Abs(x);
  }
}

// log(1 + exp(x)).
template <typename T>
T Softplus(const T& x) {
  if constexpr (!kExact<T>) {
    return Max(x, T{0}) + std::log1p(std::exp(-std::fabs(x)));
  } else {
    return Log(FromInt<T>(1) + Exp(x));
  }
}

// x / (1 + |x|).
template <typename T>
T Softsign(const T& x) {
  return x / (FromInt<T>(1) + Abs(x));
}

// max(0, min(1, alpha * x + beta)).
template <typename T>
T HardSigmoid(const T& x, double alpha, double beta) {
  return Max(FromInt<T>(0), Min(FromInt<T>(1), FromDouble<T>(alpha) * x +
                                                   FromDouble<T>(beta)));
}

// max(x, 0) + alpha * (exp(min(x, 0)) - 1).
template <typename T>
T Elu(const T& x, double alpha) {
  const T below = Min(x, FromInt<T>(0));
  if constexpr (!kExact<T>) {
    return Relu(x) + static_cast<T>(alpha) * std::expm1(below);
  } else {
    return Relu(x) + FromDouble<T>(alpha) * (Exp(below) - FromInt<T>(1));
  }
}

// gamma * elu(x, alpha).
template <typename T>
T Selu(const T& x, double alpha, double gamma) {
  return FromDouble<T>(gamma) * Elu(x, alpha);
}

// max(x, 0) + alpha * min(x, 0).
template <typename T>
T LeakyRelu(const T& x, double alpha) {
  return Relu(x) + FromDouble<T>(alpha) * Min(x, FromInt<T>(0));
}

// x * (1 + erf(x / sqrt(2))) / 2.
template <typename T>
T Gelu(const T& x) {
  constexpr double kInverseSqrt2 = 0.70710678118654752440;
  return FromDouble<T>(0.5) * x *
         (FromInt<T>(1) + Erf(x * FromDouble<T>(kInverseSqrt2)));
}

// Returns x to an integer power, exactly for exact scalars.
template <typename T>
T PowInt(const T& x, int64_t exponent) {
  if constexpr (!kExact<T>) {
    return static_cast<T>(std::pow(x, static_cast<T>(exponent)));
  } else if constexpr (std::is_same_v<T, Int>) {
    T result = FromInt<T>(1);
    T base = exponent < 0 ? result / x : x;
    // The remainder keeps the sign, so this takes in the least exponent.
    for (int64_t e = exponent; e != 0; e /= 2) {
      if (e % 2 != 0) result = result * base;
      if (e / 2 != 0) base = base * base;
    }
    return result;
  } else {
    return x.Pow(exponent);
  }
}

// Returns the integer that an exponent stands for, if it is a small one.
std::optional<int64_t> SmallInteger(Field x);
std::optional<int64_t> SmallInteger(Int x);
std::optional<int64_t> SmallInteger(const Term& x);

// x to the power y: exact for integer y, a square root for y = 1/2 and -1/2,
// else exp(y * log(x)).
template <typename T>
T Pow(const T& x, const T& y) {
  if constexpr (!kExact<T>) {
    return std::pow(x, y);
  } else {
    if (std::optional<int64_t> n = SmallInteger(y)) return PowInt(x, *n);
    if (std::optional<int64_t> n = SmallInteger(y + y)) {
      if (*n == 1) return Sqrt(x);
      if (*n == -1) return Rsqrt(x);
    }
    return Exp(y * Log(x));
  }
}

}  // namespace isomer

#endif  // ISOMER_OPS_SCALAR_H_

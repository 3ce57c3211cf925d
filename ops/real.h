// float and double as scalars: the primitives, straight from the standard
// library. Max and Min hand NaN on, as the operators of the same name do.
#ifndef ISOMER_OPS_REAL_H_
#define ISOMER_OPS_REAL_H_

#include <cmath>
#include <concepts>

#include "ops/dtype.h"

namespace isomer {

template <std::floating_point T>
T Exp(T x) {
  return std::exp(x);
}
template <std::floating_point T>
T Log(T x) {
  return std::log(x);
}
template <std::floating_point T>
T Sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
T Erf(T x) {
  return std::erf(x);
}
template <std::floating_point T>
T Sin(T x) {
  return std::sin(x);
}
template <std::floating_point T>
T Cos(T x) {
  return std::cos(x);
}
template <std::floating_point T>
T Floor(T x) {
  return std::floor(x);
}
template <std::floating_point T>
bool Less(T a, T b) {
  return a < b;
}
template <std::floating_point T>
T Max(T a, T b) {
  return std::isnan(a) || b < a ? a : b;
}
template <std::floating_point T>
T Min(T a, T b) {
  return std::isnan(a) || a < b ? a : b;
}

// Returns the value of the narrower type: rounded for float types; truncated
// towards zero and wrapped for integer types, after clamping to the 64-bit
// range and with NaN as 0; 0 or 1 for bool.
double Narrow(DType type, double x);
float Narrow(DType type, float x);

}  // namespace isomer

#endif  // ISOMER_OPS_REAL_H_

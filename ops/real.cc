// Casts of real values to every element type.
#include "ops/real.h"

#include <cstdint>
#include <limits>

namespace isomer {
namespace {

// Truncates towards zero; values beyond 64 bits clamp.
int64_t Truncate(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (x <= -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

double ToUnsigned64(double x) {
  if (!(x > -1)) return 0;
  // Above 2^53 every double is an integer, so truncation changes nothing.
  return x >= 0x1p64 ? 0x1p64 : x >= 0x1p53 ? x : std::trunc(x);
}

}  // namespace

double Narrow(DType type, double x) {
  if (IsFloat(type)) return RoundTo(type, x);
  if (type == DType::kBool) return x != 0 ? 1 : 0;
  if (type == DType::kU64) return ToUnsigned64(x);
  return static_cast<double>(WrapTo(type, Truncate(x)));
}

float Narrow(DType type, float x) {
  return static_cast<float>(Narrow(type, static_cast<double>(x)));
}

}  // namespace isomer

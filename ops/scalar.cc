// Recognises exponents.
#include "ops/scalar.h"

namespace isomer {
namespace {

// Exponents of this size and below are computed by multiplication.
constexpr int64_t kGreatestExponent = 1024;

std::optional<int64_t> IfSmall(int64_t x) {
  if (x < -kGreatestExponent || x > kGreatestExponent) return std::nullopt;
  return x;
}

}  // namespace

std::optional<int64_t> SmallInteger(Field x) {
  const int64_t value = static_cast<int64_t>(x.value());
  const int64_t prime = static_cast<int64_t>(Field::kPrime);
  return IfSmall(value <= prime / 2 ? value : value - prime);
}

std::optional<int64_t> SmallInteger(Int x) {
  if (!x.ok()) return std::nullopt;
  return IfSmall(x.value());
}

std::optional<int64_t> SmallInteger(const Term& x) {
  std::optional<Rational> constant = x.constant();
  if (!constant || !constant->IsInteger()) return std::nullopt;
  return IfSmall(constant->num());
}

}  // namespace isomer

// Operations of Int that do not fit on a line.
#include "ops/integer.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace isomer {

Int Int::FromDouble(double value) {
  // The comparison is false for NaN too.
  if (!(std::fabs(value) < 0x1p63) || value != std::trunc(value)) {
    return Poison();
  }
  return FromInt(static_cast<int64_t>(value));
}

std::string Int::ToString() const {
  return ok_ ? absl::StrCat(value_) : "poison";
}

Int operator/(Int a, Int b) {
  if (!a.ok_ || !b.ok_ || b.value_ == 0) return Int::Poison();
  if (b.value_ == -1) return -a;
  if (a.value_ % b.value_ != 0) return Int::Poison();
  return Int::FromInt(a.value_ / b.value_);
}

Int Narrow(DType type, Int x) {
  if (!x.ok()) return x;
  const int64_t value = x.value();
  if (type == DType::kBool) return Int::FromInt(value != 0);
  if (IsInteger(type)) {
    const bool fits =
        WrapTo(type, value) == value && (IsSignedInteger(type) || value >= 0);
    return fits ? x : Int::Poison();
  }
  const double real = static_cast<double>(value);
  return Int::FromDouble(real) == x && RoundTo(type, real) == real
             ? x
             : Int::Poison();
}

Int TruncDiv(Int a, Int b) {
  if (!a.ok() || !b.ok() || b.value() == 0) return Int::Poison();
  if (b.value() == -1) return -a;
  return Int::FromInt(a.value() / b.value());
}

Int Max(Int a, Int b) {
  if (!a.ok() || !b.ok()) return Int::Poison();
  return Int::FromInt(std::max(a.value(), b.value()));
}

Int Min(Int a, Int b) {
  if (!a.ok() || !b.ok()) return Int::Poison();
  return Int::FromInt(std::min(a.value(), b.value()));
}

}  // namespace isomer

// Keyed functions of the field. The mix is a bijection of 64 bits, so the
// order it defines has no ties between different elements.
#include "ops/field.h"

#include <array>
#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace isomer {
namespace {

// One key for each function. The values are part of the format of stored
// fingerprints.
enum Key : uint64_t {
  kOrderKey = 0x243f6a8885a308d3,
  kExpKey = 0x13198a2e03707344,
  kLogKey = 0xa4093822299f31d0,
  kSqrtKey = 0x082efa98ec4e6c89,
  kErfKey = 0x452821e638d01377,
  kSinKey = 0xbe5466cf34e90c6c,
  kCosKey = 0xc0ac29b7c97c50dd,
  kFloorKey = 0x3f84d5b5b5470917,
  kNarrowKey = 0x9216d5d98979fb1b,
  kIsNanKey = 0x98dfb5ac2ffd72db,
  kNonFiniteKey = 0xd1310ba698dfb5ac,
};

constexpr Field kOne = Field::FromInt(1);

// Two rounds of multiply and shift, each a bijection, with the key added
// before both.
constexpr uint64_t Mix(uint64_t key, uint64_t x) {
  for (int round = 0; round < 2; ++round) {
    x += key;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    key = std::rotl(key, 29) ^ 0x9e3779b97f4a7c15;
  }
  return x;
}

Field Keyed(uint64_t key, Field x) {
  return Field::FromWide(Mix(key, x.value()));
}

uint64_t OrderOf(Field x) { return Mix(kOrderKey, x.value()); }

// True for exactly one of x and -x, if x is not 0.
bool IsCanonicalSign(Field x) { return OrderOf(x) < OrderOf(-x); }

constexpr int kLeastExponent = -1074;
constexpr int kGreatestExponent = 971;

// 2^e for every exponent of a double with an integer mantissa.
constexpr auto kPowersOfTwo = [] {
  std::array<Field, kGreatestExponent - kLeastExponent + 1> powers{};
  Field power = Field::FromInt(2).Pow(kLeastExponent);
  for (Field& p : powers) {
    p = power;
    power = power + power;
  }
  return powers;
}();

}  // namespace

Field Field::FromDouble(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const int64_t fraction =
      static_cast<int64_t>(bits & ((uint64_t{1} << 52) - 1));
  if (exponent == 0x7ff) {
    // 0 stands for NaN, whose sign means nothing.
    return Keyed(kNonFiniteKey, FromInt(fraction != 0 ? 0
                                        : value > 0   ? 1
                                                      : -1));
  }
  const int64_t mantissa =
      exponent == 0 ? fraction : fraction | (int64_t{1} << 52);
  const int power = exponent == 0 ? kLeastExponent : exponent - 1075;
  return FromInt(value < 0 ? -mantissa : mantissa) *
         kPowersOfTwo[static_cast<size_t>(power - kLeastExponent)];
}

std::string Field::ToString() const { return absl::StrCat(value_); }

Field Exp(Field x) {
  if (x == Field()) return kOne;
  return IsCanonicalSign(x) ? Keyed(kExpKey, x) : kOne / Keyed(kExpKey, -x);
}

Field Log(Field x) { return x == kOne ? Field() : Keyed(kLogKey, x); }

Field Sqrt(Field x) {
  return x == Field() || x == kOne ? x : Keyed(kSqrtKey, x);
}

Field Erf(Field x) {
  if (x == Field()) return x;
  return IsCanonicalSign(x) ? Keyed(kErfKey, x) : -Keyed(kErfKey, -x);
}

Field Sin(Field x) {
  if (x == Field()) return x;
  return IsCanonicalSign(x) ? Keyed(kSinKey, x) : -Keyed(kSinKey, -x);
}

Field Cos(Field x) {
  if (x == Field()) return kOne;
  return Keyed(kCosKey, IsCanonicalSign(x) ? x : -x);
}

Field Floor(Field x) {
  // Halves of small integers, which rounding meets, have their true floor.
  constexpr int64_t kSmall = int64_t{1} << 32;
  int64_t twice = static_cast<int64_t>((x + x).value());
  if (twice > kSmall) twice -= static_cast<int64_t>(Field::kPrime);
  if (twice >= -kSmall && twice <= kSmall) return Field::FromInt(twice >> 1);
  return Keyed(kFloorKey, x);
}

Field Narrow(DType type, Field x) {
  if (x == Field() || x == kOne) return x;
  if (type == DType::kBool) return kOne;
  // Small integers that the type holds stay, as they do in every scalar.
  constexpr int64_t kSmall = int64_t{1} << 24;
  const int64_t value = x.Signed();
  if (value >= -kSmall && value <= kSmall) {
    const double real = static_cast<double>(value);
    const bool held = IsFloat(type) ? RoundTo(type, real) == real
                                    : WrapTo(type, value) == value &&
                                          (IsSignedInteger(type) || value > 0);
    if (held) return x;
  }
  const Field keyed = Keyed(Mix(kNarrowKey, static_cast<uint64_t>(type)), x);
  if (IsFloat(type)) return keyed;
  return Field::FromInt(WrapTo(type, static_cast<int64_t>(keyed.value())));
}

bool IsNan(Field x) {
  return x != Field() && x != kOne && Keyed(kIsNanKey, x).value() % 2 != 0;
}

bool Less(Field a, Field b) { return OrderOf(a) < OrderOf(b); }

}  // namespace isomer

// One encoder serves both 16-bit floats and both source widths: it works on
// the bits of a double, to which a float converts exactly.
#include "ops/dtype.h"

#include <bit>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace isomer {
namespace {

struct DTypeInfo {
  absl::string_view name;
  int bytes;
};

// Indexed by the value of DType.
constexpr std::array<DTypeInfo, kAllDTypes.size()> kInfo = {{{"f32", 4},
                                                             {"f64", 8},
                                                             {"f16", 2},
                                                             {"bf16", 2},
                                                             {"i8", 1},
                                                             {"i16", 2},
                                                             {"i32", 4},
                                                             {"i64", 8},
                                                             {"u8", 1},
                                                             {"u16", 2},
                                                             {"u32", 4},
                                                             {"u64", 8},
                                                             {"bool", 1}}};

const DTypeInfo& Info(DType type) { return kInfo[static_cast<size_t>(type)]; }

// Rounds a double to a 16-bit float with that many exponent and mantissa bits.
uint16_t Encode(double value, int exponent_bits, int mantissa_bits) {
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = (bits >> 63) << 15;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t mantissa = bits & kMantissa;
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1)
                            << mantissa_bits;
  if (exponent == 0x7ff) {
    uint64_t nan = (mantissa >> (52 - mantissa_bits)) |
                   (uint64_t{1} << (mantissa_bits - 1));
    return static_cast<uint16_t>(sign | infinity | (mantissa ? nan : 0));
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int target = exponent - 1023 + bias;
  int shift = 52 - mantissa_bits + (target <= 0 ? 1 - target : 0);
  // Below half the smallest subnormal; this takes in all subnormal doubles.
  if (shift > 53) return static_cast<uint16_t>(sign);
  if (target >= (1 << exponent_bits)) {
    return static_cast<uint16_t>(sign | infinity);
  }
  const uint64_t significand = mantissa | (uint64_t{1} << 52);
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t result = significand >> shift;
  // A carry out of the mantissa steps to the next exponent by itself.
  if (rest > half || (rest == half && (result & 1))) ++result;
  if (target > 0) {
    result += static_cast<uint64_t>(target - 1) << mantissa_bits;
  }
  return static_cast<uint16_t>(sign | (result < infinity ? result : infinity));
}

}  // namespace

absl::string_view DTypeName(DType type) { return Info(type).name; }

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  std::string known;
  for (DType type : kAllDTypes) {
    if (DTypeName(type) == name) return type;
    absl::StrAppend(&known, known.empty() ? "" : ", ", DTypeName(type));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "element type \"", name, "\" is unknown; it must be one of ", known));
}

int ByteSize(DType type) { return Info(type).bytes; }

int BitWidth(DType type) { return 8 * Info(type).bytes; }

bool IsFloat(DType type) { return type <= DType::kBF16; }

bool IsInteger(DType type) { return type >= DType::kI8 && type <= DType::kU64; }

bool IsSignedInteger(DType type) {
  return type >= DType::kI8 && type <= DType::kI64;
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 0x1f) {
    uint32_t quiet = mantissa ? 0x400000 : 0;
    return std::bit_cast<float>(sign | 0x7f800000 | quiet | (mantissa << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                              (mantissa << 13));
}

float Bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToHalf(float value) { return Encode(value, 5, 10); }
uint16_t FloatToBf16(float value) { return Encode(value, 8, 7); }
uint16_t DoubleToHalf(double value) { return Encode(value, 5, 10); }
uint16_t DoubleToBf16(double value) { return Encode(value, 8, 7); }

double RoundTo(DType type, double value) {
  switch (type) {
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kF16:
      return HalfToFloat(DoubleToHalf(value));
    case DType::kBF16:
      return Bf16ToFloat(DoubleToBf16(value));
    default:
      return value;
  }
}

float RoundTo(DType type, float value) {
  return static_cast<float>(RoundTo(type, static_cast<double>(value)));
}

int64_t WrapTo(DType type, int64_t value) {
  switch (type) {
    case DType::kI8:
      return static_cast<int8_t>(value);
    case DType::kI16:
      return static_cast<int16_t>(value);
    case DType::kI32:
      return static_cast<int32_t>(value);
    case DType::kU8:
      return static_cast<uint8_t>(value);
    case DType::kU16:
      return static_cast<uint16_t>(value);
    case DType::kU32:
      return static_cast<uint32_t>(value);
    case DType::kBool:
      return value != 0;
    default:
      return value;
  }
}

}  // namespace isomer

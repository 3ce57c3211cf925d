// Every 16-bit pattern, and every rounding boundary between two neighbours,
// against an oracle that searches the table of all values.
#include "ops/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace isomer {
namespace {

TEST(DTypeTest, NamesParseBack) {
  std::string all;
  for (DType type : kAllDTypes) {
    absl::StatusOr<DType> parsed = ParseDType(DTypeName(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
    all += std::string(DTypeName(type)) + " ";
  }
  EXPECT_EQ(all, "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool ");
}

TEST(DTypeTest, RejectsUnknownNames) {
  for (const char* name : {"", "F32", "float", "f8", "i128", "f32 "}) {
    absl::StatusOr<DType> parsed = ParseDType(name);
    ASSERT_FALSE(parsed.ok()) << name;
    EXPECT_EQ(std::string(parsed.status().message()),
              std::string("element type \"") + name +
                  "\" is unknown; it must be one of f32, f64, f16, bf16, i8, "
                  "i16, i32, i64, u8, u16, u32, u64, bool");
  }
}

TEST(DTypeTest, SizesAndKinds) {
  std::string table;
  for (DType type : kAllDTypes) {
    table +=
        std::string(DTypeName(type)) + ":" + std::to_string(ByteSize(type)) +
        "/" + std::to_string(BitWidth(type)) + (IsFloat(type) ? "f" : "") +
        (IsInteger(type) ? "i" : "") + (IsSignedInteger(type) ? "s" : "") + " ";
  }
  EXPECT_EQ(table,
            "f32:4/32f f64:8/64f f16:2/16f bf16:2/16f i8:1/8is i16:2/16is "
            "i32:4/32is i64:8/64is u8:1/8i u16:2/16i u32:4/32i u64:8/64i "
            "bool:1/8 ");
}

// The value of a pattern from the definition of the format.
double SlowDecode(uint16_t bits, int exponent_bits, int mantissa_bits) {
  int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  int mantissa = bits & ((1 << mantissa_bits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa,
                           exponent - bias - mantissa_bits);
}

struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  float (*widen)(uint16_t);
  uint16_t (*from_float)(float);
  uint16_t (*from_double)(double);
  DType type;
};

class NarrowFloatTest : public testing::TestWithParam<Format> {};

TEST_P(NarrowFloatTest, WidensEveryPattern) {
  const Format& f = GetParam();
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    double expected = SlowDecode(static_cast<uint16_t>(bits), f.exponent_bits,
                                 f.mantissa_bits);
    float actual = f.widen(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << bits;
    } else {
      ASSERT_EQ(actual, expected) << bits;
    }
    ASSERT_EQ(std::signbit(actual), bits >= 0x8000) << bits;
  }
}

TEST_P(NarrowFloatTest, EveryPatternComesBack) {
  const Format& f = GetParam();
  const uint16_t quiet = static_cast<uint16_t>(1 << (f.mantissa_bits - 1));
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float value = f.widen(bits);
    // A signalling NaN comes back quiet, with the rest of its payload.
    const uint16_t expected =
        std::isnan(value) ? static_cast<uint16_t>(bits | quiet) : bits;
    ASSERT_EQ(f.from_float(value), expected) << bits;
    ASSERT_EQ(f.from_double(value), expected) << bits;
    if (!std::isnan(value)) {
      ASSERT_EQ(RoundTo(f.type, value), value) << bits;
      ASSERT_EQ(RoundTo(f.type, double{value}), value) << bits;
    }
  }
}

// Between neighbours a < b the midpoint goes to the even pattern, and the
// doubles next to it to the nearer one.
TEST_P(NarrowFloatTest, RoundsToNearestEven) {
  const Format& f = GetParam();
  const uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const double a = f.widen(static_cast<uint16_t>(bits));
    // The value that would follow the greatest one decides what overflows.
    const double b = bits + 1 == infinity
                         ? std::ldexp(1.0, 1 << (f.exponent_bits - 1))
                         : f.widen(static_cast<uint16_t>(bits + 1));
    const double middle = a + (b - a) / 2;
    const double up = std::nextafter(middle, b);
    const double down = std::nextafter(middle, a);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(f.from_double(middle), even) << bits;
    ASSERT_EQ(f.from_double(up), bits + 1) << bits;
    ASSERT_EQ(f.from_double(down), bits) << bits;
    ASSERT_EQ(f.from_double(-up), (bits + 1) | 0x8000) << bits;
    ASSERT_EQ(f.from_float(static_cast<float>(middle)), even) << bits;
    if (middle >= 0x1p-126) {
      const float center = static_cast<float>(middle);
      ASSERT_EQ(f.from_float(std::nextafterf(center, INFINITY)), bits + 1);
      ASSERT_EQ(f.from_float(std::nextafterf(center, 0.f)), bits);
    }
  }
}

TEST_P(NarrowFloatTest, SpecialValues) {
  const Format& f = GetParam();
  const double inf = std::numeric_limits<double>::infinity();
  const uint16_t infinity =
      f.from_float(std::numeric_limits<float>::infinity());
  EXPECT_EQ(f.from_double(inf), infinity);
  EXPECT_EQ(f.from_double(1e300), infinity);
  EXPECT_EQ(f.from_double(-1e300), infinity | 0x8000);
  EXPECT_EQ(f.from_double(-0.0), 0x8000);
  EXPECT_EQ(f.from_double(5e-324), 0);
  EXPECT_EQ(f.from_double(-1e-300), 0x8000);
  EXPECT_TRUE(std::isnan(f.widen(f.from_double(NAN))));
  EXPECT_TRUE(std::isnan(RoundTo(f.type, NAN)));
}

INSTANTIATE_TEST_SUITE_P(
    All, NarrowFloatTest,
    testing::Values(Format{"f16", 5, 10, HalfToFloat, FloatToHalf, DoubleToHalf,
                           DType::kF16},
                    Format{"bf16", 8, 7, Bf16ToFloat, FloatToBf16, DoubleToBf16,
                           DType::kBF16}),
    [](const auto& info) { return info.param.name; });

// The value just above a half-way point of the 16-bit grid rounds to the
// half-way point in float: a second rounding would then go the wrong way.
TEST(DTypeTest, DoubleRoundsOnce) {
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(DoubleToHalf(value), 0x3c01);
  EXPECT_EQ(FloatToHalf(static_cast<float>(value)), 0x3c00);
  const double wide = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(DoubleToBf16(wide), 0x3f81);
  EXPECT_EQ(FloatToBf16(static_cast<float>(wide)), 0x3f80);
}

#if defined(__FLT16_MANT_DIG__) || defined(__ARM_FP16_FORMAT_IEEE)
#if defined(__ARM_FP16_FORMAT_IEEE)
using HardwareHalf = __fp16;
#else
using HardwareHalf = _Float16;
#endif

TEST(DTypeTest, AgreesWithTheProcessor) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const HardwareHalf half =
        std::bit_cast<HardwareHalf>(static_cast<uint16_t>(i));
    ASSERT_EQ(std::bit_cast<uint32_t>(HalfToFloat(static_cast<uint16_t>(i))),
              std::bit_cast<uint32_t>(static_cast<float>(half)))
        << i;
  }
  // A stride that is odd visits every exponent with many mantissas.
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4093) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const HardwareHalf half = static_cast<HardwareHalf>(value);
    ASSERT_EQ(FloatToHalf(value), std::bit_cast<uint16_t>(half)) << bits;
  }
}
#endif

TEST(DTypeTest, RoundToLeavesWideTypesAlone) {
  EXPECT_EQ(RoundTo(DType::kF32, 0.1), double{0.1f});
  EXPECT_EQ(RoundTo(DType::kF64, 0.1), 0.1);
  EXPECT_EQ(RoundTo(DType::kF64, 0.1f), 0.1f);
  EXPECT_EQ(RoundTo(DType::kI32, 0.1), 0.1);
  EXPECT_EQ(RoundTo(DType::kF16, 65520.0), INFINITY);
  EXPECT_EQ(RoundTo(DType::kF16, 65519.9), 65504.0);
}

TEST(DTypeTest, WrapsIntegers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(WrapTo(DType::kI8, 128), -128);
  EXPECT_EQ(WrapTo(DType::kI8, -129), 127);
  EXPECT_EQ(WrapTo(DType::kU8, -1), 255);
  EXPECT_EQ(WrapTo(DType::kI16, 65535), -1);
  EXPECT_EQ(WrapTo(DType::kU16, 65536 + 7), 7);
  EXPECT_EQ(WrapTo(DType::kI32, int64_t{1} << 31), -(int64_t{1} << 31));
  EXPECT_EQ(WrapTo(DType::kU32, -1), 4294967295);
  EXPECT_EQ(WrapTo(DType::kI64, kMin), kMin);
  EXPECT_EQ(WrapTo(DType::kU64, -1), -1);
  EXPECT_EQ(WrapTo(DType::kBool, -4), 1);
  EXPECT_EQ(WrapTo(DType::kBool, 0), 0);
  EXPECT_EQ(WrapTo(DType::kF32, 1 << 30), 1 << 30);
}

}  // namespace
}  // namespace isomer

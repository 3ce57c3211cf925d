// NaN in max and min, and casts of real values to every type.
#include "ops/real.h"

#include <gtest/gtest.h>

#include <cmath>

namespace isomer {
namespace {

TEST(RealTest, ExtremesHandNanOn) {
  EXPECT_TRUE(std::isnan(Max(NAN, 1.f)));
  EXPECT_TRUE(std::isnan(Max(1.f, NAN)));
  EXPECT_TRUE(std::isnan(Min(double{NAN}, 1.0)));
  EXPECT_TRUE(std::isnan(Min(1.0, double{NAN})));
  EXPECT_EQ(Max(1.0, 2.0), 2.0);
  EXPECT_EQ(Min(1.0, 2.0), 1.0);
  EXPECT_EQ(Max(-INFINITY, 2.f), 2.f);
  EXPECT_FALSE(Less(1.0, double{NAN}));
}

TEST(RealTest, NarrowToFloats) {
  EXPECT_EQ(Narrow(DType::kF16, 1.0 + 0x1p-12), 1.0);
  EXPECT_EQ(Narrow(DType::kBF16, 3.141592f), 3.140625f);
  EXPECT_EQ(Narrow(DType::kF32, 0.1), double{0.1f});
  EXPECT_EQ(Narrow(DType::kF16, 1e6), INFINITY);
}

TEST(RealTest, NarrowToIntegers) {
  EXPECT_EQ(Narrow(DType::kI32, -2.9), -2.0);
  EXPECT_EQ(Narrow(DType::kI8, 130.0), -126.0);
  EXPECT_EQ(Narrow(DType::kU8, -1.0), 255.0);
  EXPECT_EQ(Narrow(DType::kI64, 1e30), 0x1p63);
  EXPECT_EQ(Narrow(DType::kI64, -1e30), -0x1p63);
  EXPECT_EQ(Narrow(DType::kI32, double{NAN}), 0.0);
  EXPECT_EQ(Narrow(DType::kU64, 0x1p63), 0x1p63);
  EXPECT_EQ(Narrow(DType::kU64, -5.0), 0.0);
  EXPECT_EQ(Narrow(DType::kU64, double{NAN}), 0.0);
  EXPECT_EQ(Narrow(DType::kU64, 2.75), 2.0);
  EXPECT_EQ(Narrow(DType::kBool, 0.25), 1.0);
  EXPECT_EQ(Narrow(DType::kBool, -0.0f), 0.0f);
  EXPECT_EQ(Narrow(DType::kBool, double{NAN}), 1.0);
}

}  // namespace
}  // namespace isomer

// Exact integers, and all the ways into poison.
#include "ops/integer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace isomer {
namespace {

Int I(int64_t value) { return Int::FromInt(value); }
const Int kLeast = I(std::numeric_limits<int64_t>::min());
const Int kGreatest = I(std::numeric_limits<int64_t>::max());

TEST(IntTest, Arithmetic) {
  EXPECT_EQ(I(2) + I(3), I(5));
  EXPECT_EQ(I(2) - I(3), I(-1));
  EXPECT_EQ(I(2) * I(3), I(6));
  EXPECT_EQ(I(-6) / I(3), I(-2));
  EXPECT_EQ(I(6) / I(-1), I(-6));
  EXPECT_EQ(Max(I(-4), I(3)), I(3));
  EXPECT_EQ(Min(I(-4), I(3)), I(-4));
  EXPECT_EQ(Floor(I(7)), I(7));
  EXPECT_TRUE(Less(I(1), I(2)));
  EXPECT_FALSE(Less(I(2), I(2)));
  EXPECT_FALSE(I(1) == I(2));
  EXPECT_EQ(I(-3).ToString(), "-3");
  EXPECT_EQ(Int::FromDouble(-3.0), I(-3));
  EXPECT_EQ(Int(), I(0));
}

TEST(IntTest, Poison) {
  for (Int x :
       {I(1) / I(0), I(7) / I(2), Exp(I(0)), Log(I(1)), Sqrt(I(4)), Erf(I(0)),
        Sin(I(0)), Cos(I(0)), Int::FromDouble(0.5), Int::FromDouble(0x1p63),
        Int::FromDouble(NAN), Int::FromDouble(-INFINITY),
        Narrow(DType::kI8, I(128)), Narrow(DType::kU8, I(-1)),
        Narrow(DType::kU64, I(-1)), Narrow(DType::kF16, I(2049)),
        Narrow(DType::kF16, I(70000)), Narrow(DType::kF64, kGreatest)}) {
    EXPECT_FALSE(x.ok());
    EXPECT_EQ(x.value(), 0);
    EXPECT_EQ(x.ToString(), "poison");
    EXPECT_FALSE(x == x);
    EXPECT_FALSE(x == I(0));
  }
}

TEST(IntTest, OverflowIsPoisonThatWraps) {
  const std::pair<Int, Int> cases[] = {
      {kGreatest + I(1), kLeast}, {kLeast - I(1), kGreatest},
      {kGreatest * I(2), I(-2)},  {-kLeast, kLeast},
      {kLeast / I(-1), kLeast},   {kGreatest + I(1) - I(1), kGreatest}};
  for (const auto& [x, wrapped] : cases) {
    EXPECT_FALSE(x.ok());
    EXPECT_FALSE(x == x);
    EXPECT_EQ(x.value(), wrapped.value());
  }
}

TEST(IntTest, PoisonIsContagious) {
  const Int bad = Int::Poison();
  for (Int x : {bad + I(1), I(1) - bad, bad * I(0), I(0) / bad, bad / I(-1),
                -bad, Max(bad, I(1)), Max(I(1), bad), Min(bad, I(1)),
                Min(I(1), bad), Floor(bad), Narrow(DType::kBool, bad)}) {
    EXPECT_FALSE(x.ok());
  }
  EXPECT_FALSE(Less(bad, I(1)));
  EXPECT_FALSE(Less(I(1), bad));
}

TEST(IntTest, NarrowKeepsWhatFits) {
  EXPECT_EQ(Narrow(DType::kI8, I(-128)), I(-128));
  EXPECT_EQ(Narrow(DType::kF16, I(2048)), I(2048));
  EXPECT_EQ(Narrow(DType::kBF16, I(256)), I(256));
  EXPECT_EQ(Narrow(DType::kBool, I(-2)), I(1));
  EXPECT_EQ(Narrow(DType::kBool, I(0)), I(0));
}

}  // namespace
}  // namespace isomer

// Arithmetic, and what happens at its edges.
#include "ops/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace isomer {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(RationalTest, Arithmetic) {
  Rational half = Rational::Ratio(1, 2);
  Rational third = Rational::Ratio(-2, -6);
  EXPECT_EQ((half + third).ToString(), "5/6");
  EXPECT_EQ((third - half).ToString(), "-1/6");
  EXPECT_EQ((half * Rational(4)).ToString(), "2");
  EXPECT_EQ((half / third).ToString(), "3/2");
  EXPECT_EQ((-half).ToString(), "-1/2");
  EXPECT_EQ(Rational::Ratio(3, -6).ToString(), "-1/2");
  EXPECT_EQ(Rational::Gcd(Rational::Ratio(3, 4), Rational::Ratio(1, 2)),
            Rational::Ratio(1, 4));
  EXPECT_EQ(Rational::Gcd(0, -6), Rational(6));
}

TEST(RationalTest, Floor) {
  EXPECT_EQ(Rational::Ratio(7, 2).Floor(), Rational(3));
  EXPECT_EQ(Rational::Ratio(-7, 2).Floor(), Rational(-4));
  EXPECT_EQ(Rational(-4).Floor(), Rational(-4));
}

TEST(RationalTest, Order) {
  EXPECT_LT(Rational::Ratio(1, 3), Rational::Ratio(1, 2));
  EXPECT_FALSE(Rational::Ratio(1, 2) < Rational::Ratio(2, 4));
  EXPECT_LT(Rational(kMax), Rational::Overflow());
  EXPECT_FALSE(Rational::Overflow() < Rational::Overflow());
}

TEST(RationalTest, IntegersOnly) {
  EXPECT_EQ(Rational(5).integer(), 5);
  EXPECT_EQ(Rational::Ratio(5, 2).integer(), std::nullopt);
  EXPECT_EQ(Rational::Overflow().integer(), std::nullopt);
}

TEST(RationalTest, FromDoubleIsExact) {
  EXPECT_EQ(Rational::FromDouble(0.375).ToString(), "3/8");
  EXPECT_EQ(Rational::FromDouble(-1048576.5).ToString(), "-2097153/2");
  EXPECT_EQ(Rational::FromDouble(0.0).ToString(), "0");
  EXPECT_EQ(Rational::FromDouble(-0x1p63).ToString(), "-9223372036854775808");
  EXPECT_EQ(Rational::FromDouble(0.1).ToDouble(), 0.1);
  EXPECT_EQ(Rational::FromDouble(double{0.1f}).ToDouble(), double{0.1f});
}

TEST(RationalTest, FromDoubleOverflows) {
  for (double value :
       {0x1p63, 1e-30, 1e30, double{INFINITY}, double{NAN}, 5e-324, 1e300}) {
    EXPECT_FALSE(Rational::FromDouble(value).ok()) << value;
  }
}

TEST(RationalTest, OverflowIsContagiousAndEqualToNothing) {
  const Rational bad = Rational(kMax) + Rational(1);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.ToString(), "overflow");
  EXPECT_FALSE(bad == bad);
  EXPECT_FALSE(bad.IsZero());
  EXPECT_TRUE(std::isnan(bad.ToDouble()));
  for (Rational r : {bad + 1, Rational(1) - bad, bad * 0, bad / 2, -bad,
                     bad.Floor(), Rational::Gcd(bad, 2)}) {
    EXPECT_FALSE(r.ok());
  }
}

TEST(RationalTest, Edges) {
  EXPECT_FALSE((-Rational(kMin)).ok());
  EXPECT_FALSE((Rational(kMin) / Rational(-1)).ok());
  EXPECT_FALSE((Rational(kMax) * Rational(2)).ok());
  EXPECT_FALSE((Rational(1) / Rational(0)).ok());
  EXPECT_FALSE(Rational::Ratio(1, 0).ok());
  EXPECT_FALSE(Rational::Ratio(1, kMin).ok());
  EXPECT_EQ(Rational::Ratio(kMin, kMin), Rational(1));
  EXPECT_EQ(Rational(kMin) + Rational(kMax), Rational(-1));
  Rational tiny = Rational::Ratio(1, kMax);
  EXPECT_FALSE((tiny * tiny).ok());
  EXPECT_EQ(tiny + tiny, Rational::Ratio(2, kMax));
  EXPECT_EQ(tiny * Rational(kMax), Rational(1));
}

}  // namespace
}  // namespace isomer

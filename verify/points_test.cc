// Values at many points at once are those at each point by itself.
#include "verify/points.h"

#include <random>

#include "gtest/gtest.h"
#include "ops/dim.h"

namespace isomer::verify {
namespace {

const Atom kN = Atom::Symbol("n"), kM = Atom::Symbol("m");
const DimExpr n = DimExpr::Symbol("n"), m = DimExpr::Symbol("m");

// (3, 2), (7, 5), (4, -1).
Points Three() {
  Points points(3);
  points.Set(kN, {3, 7, 4});
  points.Set(kM, {2, 5, -1});
  return points;
}

// What an expression is at the points, "?" where it is nothing.
std::string At(const Points& points, const Polynomial& p) {
  const Points::Values v = points.Evaluate(p);
  std::string out;
  for (int i = 0; i < points.size(); ++i) {
    if (i > 0) out += " ";
    out += (v.known >> i & 1) != 0 ? std::to_string(v.at[i]) : "?";
  }
  return out;
}
std::string At(const DimExpr& e) { return At(Three(), e.polynomial()); }

TEST(PointsTest, Values) {
  EXPECT_EQ(At(DimExpr(5)), "5 5 5");
  EXPECT_EQ(At(n * n - 2 * m), "5 39 18");
  EXPECT_EQ(At(MaxOf(n, m * m)), "4 25 4");
  EXPECT_EQ(At(MinOf(n, m * m)), "3 7 1");
  EXPECT_EQ(At(FloorDiv(n + m, DimExpr(2))), "2 6 1");
}

TEST(PointsTest, WhatHasNoValue) {
  EXPECT_EQ(At(FloorDiv(n, m)), "1 1 ?");  // a divisor is positive
  EXPECT_EQ(At(n + DimExpr::Symbol("k")), "? ? ?");
  const Polynomial half = n.polynomial() * Polynomial(Rational::Ratio(1, 2));
  EXPECT_EQ(At(Three(), half), "? ? 2");
  EXPECT_EQ(At(Three(), n.polynomial().Pow(-1)), "? ? ?");
  EXPECT_EQ(At(Three(), n.polynomial().Pow(60)), "? ? ?");
  EXPECT_EQ(At(Three(), Polynomial::Overflow()), "? ? ?");
}

TEST(PointsTest, Questions) {
  const Points points = Three();
  EXPECT_TRUE(points.SomeNegative(m.polynomial()));
  EXPECT_FALSE(points.SomeNegative(n.polynomial()));
  EXPECT_TRUE(points.SomeNonZero((n - 3).polynomial()));
  EXPECT_FALSE(points.SomeNonZero((n - n).polynomial()));
  EXPECT_EQ(points.CommonValue(Polynomial(4)), 4);
  EXPECT_EQ(points.CommonValue(n.polynomial()), std::nullopt);
  EXPECT_EQ(Points(0).CommonValue(Polynomial(4)), std::nullopt);
  EXPECT_TRUE(points.Knows(kN));
  EXPECT_FALSE(points.Knows(Atom::Symbol("k")));
}

TEST(PointsTest, SelectAndAppend) {
  Points points = Three().Select({2, 0});
  EXPECT_EQ(At(points, n.polynomial()), "4 3");
  points.Append(Three(), {1});
  EXPECT_EQ(At(points, m.polynomial()), "-1 2 5");
}

TEST(PointsTest, AgreeWithOneAtATime) {
  std::mt19937_64 random(5);
  const auto draw = [&](int below) {
    return static_cast<int>(random() % below);
  };
  for (int round = 0; round < 200; ++round) {
    Points points(Points::kMost);
    std::array<int64_t, Points::kMost> a, b;
    for (int64_t& v : a) v = draw(9) + 1;
    for (int64_t& v : b) v = draw(9) + 1;
    points.Set(kN, a);
    points.Set(kM, b);
    DimExpr e = n;
    for (int step = 0; step < 4; ++step) {
      const DimExpr other = draw(2) == 0 ? m + draw(3) : n * draw(4) + 1;
      switch (draw(5)) {
        case 0:
          e = e + other;
          break;
        case 1:
          e = e * other - draw(20);
          break;
        case 2:
          e = FloorDiv(e, other);
          break;
        case 3:
          e = MaxOf(e, other);
          break;
        case 4:
          e = MinOf(e, other);
          break;
      }
    }
    const Points::Values v = points.Evaluate(e.polynomial());
    for (int i = 0; i < points.size(); ++i) {
      const auto one = e.Evaluate({{"n", a[i]}, {"m", b[i]}});
      ASSERT_TRUE(one.has_value() && (v.known >> i & 1) != 0) << e.ToString();
      ASSERT_EQ(*one, v.at[i]) << e.ToString();
    }
  }
}

}  // namespace
}  // namespace isomer::verify

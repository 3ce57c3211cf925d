// The normal form of sizes as text, and its truth on all small values.
#include "ops/dim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

namespace isomer {
namespace {

const DimExpr h = DimExpr::Symbol("h"), k = DimExpr::Symbol("k"),
              n = DimExpr::Symbol("n"), s = DimExpr::Symbol("s"),
              x = DimExpr::Symbol("x");

TEST(DimExprTest, Arithmetic) {
  EXPECT_EQ((2 * n + 1 - n).ToString(), "n + 1");
  EXPECT_EQ((3 - n) * 2, 6 - 2 * n);
  EXPECT_EQ(n - n, 0);
  EXPECT_TRUE(n != n + 1);
  EXPECT_EQ(DimExpr(4).constant(), 4);
  EXPECT_EQ(n.constant(), std::nullopt);
  DimExpr total = 1;
  total *= n;
  total += 4;
  total -= h;
  EXPECT_EQ(total.ToString(), "-h + n + 4");
  EXPECT_EQ((n * h + n).Symbols(), (std::set<std::string>{"h", "n"}));
}

TEST(DimExprTest, DivisionByConstants) {
  EXPECT_EQ(FloorDiv(n, 1), n);
  EXPECT_EQ(FloorDiv(DimExpr(-7), 2), -4);
  EXPECT_EQ(FloorDiv(DimExpr(7), -2), -4);
  EXPECT_EQ(FloorDiv(4 * n + 7, 4), n + 1);
  EXPECT_EQ(FloorDiv(5 * n + 7, 4).ToString(), "n + floordiv(n + 3, 4) + 1");
  EXPECT_EQ(FloorDiv(2 * n + 3, 4).ToString(), "floordiv(n + 1, 2)");
  EXPECT_EQ(FloorDiv(-n, 2).ToString(), "-n + floordiv(n, 2)");
  EXPECT_EQ(FloorDiv(FloorDiv(n, 2), 3), FloorDiv(n, 6));
  EXPECT_EQ(FloorDiv(FloorDiv(n, 2) + 1, 3), FloorDiv(n + 2, 6));
  EXPECT_EQ(FloorDiv(n, -2), FloorDiv(-n, 2));
}

TEST(DimExprTest, DivisionBySymbols) {
  EXPECT_EQ(FloorDiv(s * n, s), n);
  EXPECT_EQ(FloorDiv(s * n + h, s), n + FloorDiv(h, s));
  EXPECT_EQ(FloorDiv(s, s), 1);
  EXPECT_EQ(FloorDiv(DimExpr(0), s), 0);
  EXPECT_EQ(FloorDiv(n * s - 1, s), n - 1);
  EXPECT_EQ(FloorDiv(n * s + s - 1, s), n);
  EXPECT_EQ(FloorDiv(FloorDiv(n, s), k), FloorDiv(n, s * k));
  EXPECT_EQ(FloorDiv(FloorDiv(n, s), k), FloorDiv(FloorDiv(n, k), s));
  EXPECT_EQ(FloorDiv(n * k, s * k), FloorDiv(n, s));
  EXPECT_EQ(FloorDiv(2 * n, 2 * s), FloorDiv(n, s));
  EXPECT_EQ(FloorDiv(2 * n + 1, 2 * s), FloorDiv(n, s));
  EXPECT_EQ(FloorDiv((s + 1) * n + h, s + 1), n + FloorDiv(h, s + 1));
  EXPECT_EQ(FloorDiv(n * n - 1, n - 1), n + 1);
}

TEST(DimExprTest, Remainders) {
  EXPECT_EQ(s * FloorDiv(n, s) + Mod(n, s), n);
  EXPECT_EQ(Mod(n * s, s), 0);
  EXPECT_EQ(Mod(n + s, s), Mod(n, s));
  EXPECT_EQ(Mod(Mod(n, s), s), Mod(n, s));
  EXPECT_EQ(Mod(2 * n, DimExpr(6)), 2 * Mod(n, 3));
  EXPECT_EQ(FloorDiv(Mod(n, s), s), 0);
  EXPECT_EQ(FloorDiv(Mod(n, 4), 8), 0);
  EXPECT_EQ(FloorDiv(Mod(n, s), s * k), 0);
  EXPECT_EQ(FloorDiv(s * h + Mod(n, s), s * k), FloorDiv(h, k));
  // The inner index of a reshape (h, s) -> (h*s) -> (h, s).
  EXPECT_EQ(Mod(h * s + Mod(n, s), s), Mod(n, s));
}

TEST(DimExprTest, CeilDiv) {
  EXPECT_EQ(CeilDiv(n * s, s), n);
  EXPECT_EQ(CeilDiv(n, 2).ToString(), "floordiv(n + 1, 2)");
  EXPECT_EQ(CeilDiv(n, s), FloorDiv(n - 1, s) + 1);
  EXPECT_EQ(CeilDiv(DimExpr(7), 2), 4);
  EXPECT_EQ(CeilDiv(DimExpr(7), -2), -3);
}

TEST(DimExprTest, Extremes) {
  EXPECT_EQ(MaxOf(n, n + 1), n + 1);
  EXPECT_EQ(MinOf(n, n + 1), n);
  EXPECT_EQ(MaxOf(DimExpr(3), 5), 5);
  EXPECT_EQ(MaxOf(n, n), n);
  EXPECT_EQ(MaxOf(n, h), MaxOf(h, n));
  EXPECT_EQ(MaxOf(MaxOf(n, h), s), MaxOf(n, MaxOf(s, h)));
  EXPECT_EQ(MaxOf(MaxOf(n, h), n + 2), MaxOf(h, n + 2));
  EXPECT_EQ(MinOf(n, 0).ToString(), "min(0, n)");
  EXPECT_FALSE(MaxOf(n, h) == MinOf(n, h));
}

TEST(DimExprTest, UnlikeThingsStayUnlike) {
  EXPECT_FALSE(FloorDiv(n, 2) == FloorDiv(n + 1, 2));
  EXPECT_FALSE(FloorDiv(n, s) == FloorDiv(s, n));
  EXPECT_FALSE(FloorDiv(n, 2) * 2 == n);
  EXPECT_FALSE(Mod(n, 2) == Mod(n, 4));
  EXPECT_FALSE(FloorDiv(n + h, 2) == FloorDiv(n, 2) + FloorDiv(h, 2));
  EXPECT_FALSE(FloorDiv(n + 1, s) == FloorDiv(n, s));
  EXPECT_FALSE(FloorDiv(n * k + 1, s * k) == FloorDiv(n, s));
}

TEST(DimExprTest, NoValue) {
  const DimExpr undefined = FloorDiv(n, DimExpr(0));
  EXPECT_EQ(undefined.ToString(), "floordiv(n, 0)");
  EXPECT_EQ(undefined.Evaluate({{"n", 4}}), std::nullopt);
  EXPECT_EQ(FloorDiv(n, s).Evaluate({{"n", 4}, {"s", 0}}), std::nullopt);
  EXPECT_EQ(n.Evaluate({}), std::nullopt);
  EXPECT_EQ((n * n).Evaluate({{"n", int64_t{1} << 40}}), std::nullopt);
  const DimExpr big = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE((big + 1).ok());
  EXPECT_FALSE(big + 1 == big + 1);
  EXPECT_EQ((big + 1).constant(), std::nullopt);
  EXPECT_EQ((big + 1).Evaluate({}), std::nullopt);
  EXPECT_FALSE(FloorDiv(big + 1, 2).ok());
  EXPECT_FALSE(MaxOf(big + 1, 2).ok());
  EXPECT_FALSE(FloorDiv(FloorDiv(n, big), big).ok());
}

TEST(DimExprTest, SubstitutionNormalisesAgain) {
  const DimExpr out = FloorDiv(h - k, s) + 1;
  EXPECT_EQ(out.Substitute({{"h", DimExpr(224)}, {"k", 7}, {"s", 2}}), 109);
  EXPECT_EQ(out.Substitute({{"h", s * n + k}}), n + 1);
  EXPECT_EQ(MaxOf(n, h).Substitute({{"n", h + 1}}), h + 1);
  EXPECT_EQ(MinOf(n, h).Substitute({{"n", h + 1}}), h);
  EXPECT_EQ(MaxOf(n, h).Substitute({{"n", MaxOf(s, h)}}), MaxOf(s, h));
  EXPECT_EQ(FloorDiv(n, s).Substitute({{"s", DimExpr(0)}}).Evaluate({{"n", 1}}),
            std::nullopt);
  EXPECT_EQ(out.Substitute({}), out);
}

TEST(DimExprTest, Elements) {
  const DimExpr e = DimExpr::Element(1, {n, k + 1});
  EXPECT_EQ(e.ToString(), "element(1, n, k + 1)");
  std::optional<DimExpr::ElementRef> ref = e.element();
  ASSERT_TRUE(ref.has_value());
  EXPECT_EQ(ref->input, 1);
  EXPECT_EQ(ref->indices, (std::vector<DimExpr>{n, k + 1}));
  EXPECT_EQ((e + 1).element().has_value(), false);
  EXPECT_EQ(n.element().has_value(), false);
  EXPECT_EQ(FloorDiv(n, 2).element().has_value(), false);
  EXPECT_EQ(e, DimExpr::Element(1, {n, 1 + k}));
  EXPECT_FALSE(e == DimExpr::Element(2, {n, k + 1}));
  EXPECT_EQ(e.Substitute({{"k", n}}), DimExpr::Element(1, {n, n + 1}));
  EXPECT_EQ(e.Evaluate({{"n", 1}, {"k", 1}}), std::nullopt);
  auto value = [](int input,
                  const std::vector<int64_t>& i) -> std::optional<int64_t> {
    if (i[1] > 5) return std::nullopt;
    return 100 * input + 10 * i[0] + i[1];
  };
  EXPECT_EQ((2 * e).Evaluate({{"n", 3}, {"k", 4}}, value), 270);
  EXPECT_EQ(e.Evaluate({{"n", 3}, {"k", 9}}, value), std::nullopt);
  EXPECT_EQ(e.Evaluate({{"n", 3}}, value), std::nullopt);
}

TEST(DimTest, Integers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -5; b <= 5; ++b) {
      if (b == 0) continue;
      ASSERT_EQ(FloorDiv(a, b), std::floor(double(a) / double(b)));
      ASSERT_EQ(CeilDiv(a, b), std::ceil(double(a) / double(b)));
      ASSERT_EQ(Mod(a, b), a - b * FloorDiv(a, b));
      ASSERT_EQ(FloorDiv(DimExpr(a), DimExpr(b)), FloorDiv(a, b));
      ASSERT_EQ(CeilDiv(DimExpr(a), DimExpr(b)), CeilDiv(a, b));
      ASSERT_EQ(Mod(DimExpr(a), DimExpr(b)), Mod(a, b));
      ASSERT_EQ(MaxOf(DimExpr(a), DimExpr(b)), MaxOf(a, b));
      ASSERT_EQ(MinOf(DimExpr(a), DimExpr(b)), MinOf(a, b));
    }
  }
  EXPECT_EQ(FloorDiv(int64_t{5}, int64_t{0}), 0);
  EXPECT_EQ(Mod(int64_t{5}, int64_t{0}), 5);
  EXPECT_EQ(FloorDiv(kMin, int64_t{-1}), kMin);
  EXPECT_EQ(Mod(kMin, int64_t{-1}), 0);
}

// Builds a random expression twice, as DimExpr and as a function of values.
struct Sample {
  DimExpr expr;
  std::function<int64_t(const std::map<std::string, int64_t>&)> value;
};

// Returns a positive divisor.
Sample RandomDivisor(std::mt19937_64& rng) {
  const char* names[] = {"k", "s"};
  std::string name = names[rng() % 2];
  int64_t c = 1 + static_cast<int64_t>(rng() % 4);
  switch (rng() % 4) {
    case 0:
      return {c, [c](const auto&) { return c; }};
    case 1:
      return {DimExpr::Symbol(name) * c,
              [=](const auto& v) { return c * v.at(name); }};
    case 2:
      return {DimExpr::Symbol(name) + c,
              [=](const auto& v) { return c + v.at(name); }};
    default:
      return {k * s, [](const auto& v) { return v.at("k") * v.at("s"); }};
  }
}

Sample RandomExpr(std::mt19937_64& rng, int depth) {
  const char* names[] = {"k", "s", "n", "h"};
  if (depth == 0 || rng() % 6 == 0) {
    std::string name = names[rng() % 4];
    int64_t c = static_cast<int64_t>(rng() % 9) - 4;
    if (rng() % 3 == 0) return {c, [c](const auto&) { return c; }};
    return {DimExpr::Symbol(name), [=](const auto& v) { return v.at(name); }};
  }
  Sample a = RandomExpr(rng, depth - 1);
  uint64_t kind = rng() % 8;
  if (kind < 3) {
    Sample b = RandomDivisor(rng);
    if (kind == 0) {
      return {FloorDiv(a.expr, b.expr),
              [=](const auto& v) { return FloorDiv(a.value(v), b.value(v)); }};
    }
    if (kind == 1) {
      return {Mod(a.expr, b.expr),
              [=](const auto& v) { return Mod(a.value(v), b.value(v)); }};
    }
    return {CeilDiv(a.expr, b.expr),
            [=](const auto& v) { return CeilDiv(a.value(v), b.value(v)); }};
  }
  Sample b = RandomExpr(rng, depth - 1);
  switch (kind) {
    case 3:
      return {MaxOf(a.expr, b.expr),
              [=](const auto& v) { return MaxOf(a.value(v), b.value(v)); }};
    case 4:
      return {MinOf(a.expr, b.expr),
              [=](const auto& v) { return MinOf(a.value(v), b.value(v)); }};
    case 5:
      return {a.expr * b.expr,
              [=](const auto& v) { return a.value(v) * b.value(v); }};
    case 6:
      return {a.expr - b.expr,
              [=](const auto& v) { return a.value(v) - b.value(v); }};
    default:
      return {a.expr + b.expr,
              [=](const auto& v) { return a.value(v) + b.value(v); }};
  }
}

TEST(DimExprTest, NormalFormKeepsTheValue) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 400; ++i) {
    Sample e = RandomExpr(rng, 4);
    for (int j = 0; j < 6; ++j) {
      std::map<std::string, int64_t> v;
      std::map<std::string, DimExpr> constants;
      for (const char* name : {"k", "s", "n", "h"}) {
        v[name] = 1 + static_cast<int64_t>(rng() % 12);
        constants[name] = v[name];
      }
      ASSERT_EQ(e.expr.Evaluate(v), e.value(v)) << e.expr;
      ASSERT_EQ(e.expr.Substitute(constants).constant(), e.value(v)) << e.expr;
    }
  }
}

}  // namespace
}  // namespace isomer

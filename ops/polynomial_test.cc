// Normal forms as text, algebraic laws on random polynomials, and overflow.
#include "ops/polynomial.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace isomer {
namespace {

Polynomial Sym(absl::string_view name) { return Polynomial::Symbol(name); }

const Polynomial a = Sym("a"), b = Sym("b"), n = Sym("n"), x = Sym("x");

TEST(PolynomialTest, Prints) {
  Polynomial f = Polynomial::Apply("floordiv", {Sym("h") - 3, Sym("s")});
  EXPECT_EQ((2 * n * Sym("c") + f + 1).ToString(),
            "2*c*n + floordiv(h - 3, s) + 1");
  EXPECT_EQ(Polynomial().ToString(), "0");
  EXPECT_EQ((-x).ToString(), "-x");
  EXPECT_EQ((-x * x - 1).ToString(), "-x^2 - 1");
  EXPECT_EQ((x * Rational::Ratio(-1, 2) + Rational::Ratio(3, 4)).ToString(),
            "-1/2*x + 3/4");
  EXPECT_EQ((a.Pow(-1) * b).ToString(), "a^-1*b");
  EXPECT_EQ(Polynomial::Apply("f", {}).ToString(), "f()");
  EXPECT_EQ((1 + a + a * b + b * b + a * a).ToString(),
            "a^2 + a*b + b^2 + a + 1");
}

TEST(PolynomialTest, EqualExpressionsAreEqual) {
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ((a + b).Pow(3),
            a * a * a + 3 * a * a * b + 3 * a * b * b + b * b * b);
  EXPECT_EQ(a - a, Polynomial());
  EXPECT_EQ(a * a.Pow(-1), Polynomial(1));
  EXPECT_EQ(Polynomial::Apply("f", {a + b}), Polynomial::Apply("f", {b + a}));
}

TEST(PolynomialTest, DifferentExpressionsDiffer) {
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == a + 1);
  EXPECT_FALSE(a == 2 * a);
  EXPECT_FALSE(a == a * a);
  EXPECT_FALSE(a == Polynomial());
  EXPECT_FALSE(Polynomial::Apply("f", {a}) == Polynomial::Apply("f", {b}));
  EXPECT_FALSE(Polynomial::Apply("f", {a}) == Polynomial::Apply("g", {a}));
  EXPECT_FALSE(Polynomial::Apply("f", {a}) == Polynomial::Apply("f", {a, a}));
  EXPECT_FALSE(Polynomial::Apply("f", {}) == Sym("f"));
}

TEST(PolynomialTest, OverflowEqualsNothing) {
  const Polynomial big(std::numeric_limits<int64_t>::max());
  for (const Polynomial& p :
       {big + 1, big * x * 2, big * big, (x + 1).Pow(100), Polynomial().Pow(-1),
        (x + 1).Pow(-1), x.Pow(int64_t{1} << 40), x.Pow(1 << 30).Pow(4),
        Polynomial::Overflow() + x, Polynomial::Overflow() * 0,
        Polynomial::Apply("f", {Polynomial::Overflow()}),
        -Polynomial::Overflow(), Polynomial::Overflow().Pow(0),
        Polynomial::Overflow().Coefficient(Atom::Symbol("x"))}) {
    EXPECT_FALSE(p.ok()) << p.ToString();
    EXPECT_FALSE(p == p);
    EXPECT_FALSE(p == Polynomial());
    EXPECT_EQ(p.ToString(), "overflow");
    EXPECT_EQ(p.constant(), std::nullopt);
    EXPECT_TRUE(p.monomials().empty());
  }
}

TEST(PolynomialTest, TooManyMonomialsOverflow) {
  std::vector<Monomial> symbols;
  for (int i = 0; i < 1100; ++i) {
    symbols.push_back({1, {{Atom::Symbol("x" + std::to_string(i)), 1}}});
  }
  Polynomial sum = Polynomial::Sum(symbols);
  EXPECT_TRUE(sum.ok());
  EXPECT_FALSE((sum * sum).ok());
}

TEST(PolynomialTest, Parts) {
  Polynomial p = 3 * a * a * b + 2 * a * b + 5 * a + b + 7;
  EXPECT_EQ(p.constant_term(), Rational(7));
  EXPECT_EQ(p.monomials().size(), 4u);
  EXPECT_EQ(p.AllMonomials().size(), 5u);
  EXPECT_EQ(p.Coefficient(Atom::Symbol("a")).ToString(), "2*b + 5");
  EXPECT_EQ(p.Coefficient(Atom::Symbol("a"), 2).ToString(), "3*b");
  EXPECT_EQ(p.Coefficient(Atom::Symbol("a"), 0).ToString(), "b + 7");
  EXPECT_EQ(p.Coefficient(Atom::Symbol("z")).ToString(), "0");
  EXPECT_EQ(p.Degree(), 3);
  EXPECT_EQ(p.Degree(Atom::Symbol("a")), 2);
  EXPECT_EQ(p.Degree(Atom::Symbol("z")), 0);
  EXPECT_EQ(Polynomial(4).Degree(), 0);
  EXPECT_EQ(a.Pow(-2).Degree(), -2);
  EXPECT_EQ(a.atom()->name(), "a");
  EXPECT_EQ((2 * a).atom(), std::nullopt);
  EXPECT_EQ((a + 1).atom(), std::nullopt);
  EXPECT_EQ((a * b).atom(), std::nullopt);
  EXPECT_EQ(a.Pow(2).atom(), std::nullopt);
  EXPECT_EQ(Polynomial(4).constant(), Rational(4));
  EXPECT_EQ(a.constant(), std::nullopt);
}

TEST(PolynomialTest, SubstitutesInsideArguments) {
  Polynomial p =
      Polynomial::Apply("f", {a + Polynomial::Apply("g", {a, b})}) + a * a;
  EXPECT_EQ(p.Substitute({{"a", n + 1}}).ToString(),
            "n^2 + 2*n + f(n + g(n + 1, b) + 1) + 1");
  EXPECT_EQ(p.Substitute({{"z", n}}), p);
  EXPECT_EQ(a.Pow(-1).Substitute({{"a", 2 * b}}).ToString(), "1/2*b^-1");
  EXPECT_FALSE(a.Pow(-1).Substitute({{"a", b + 1}}).ok());
  EXPECT_FALSE(a.Pow(-1).Substitute({{"a", Polynomial()}}).ok());
  EXPECT_EQ(p.Symbols(), (std::set<std::string>{"a", "b"}));
}

TEST(PolynomialTest, Evaluates) {
  auto value = [](const Atom& atom) -> std::optional<Rational> {
    if (atom.name() == "a") return Rational(3);
    if (atom.name() == "b") return Rational(0);
    return std::nullopt;
  };
  EXPECT_EQ((a * a + b + 1).Evaluate(value), Rational(10));
  EXPECT_EQ(a.Pow(-1).Evaluate(value), Rational::Ratio(1, 3));
  EXPECT_EQ(b.Pow(-1).Evaluate(value), std::nullopt);
  EXPECT_EQ((a + n).Evaluate(value), std::nullopt);
  EXPECT_EQ(a.Pow(60).Evaluate(value), std::nullopt);
  EXPECT_EQ(Polynomial::Overflow().Evaluate(value), std::nullopt);
}

TEST(PolynomialTest, DividesExactly) {
  EXPECT_EQ(DivideExactly(a * a - b * b, a + b)->ToString(), "a - b");
  EXPECT_EQ(DivideExactly((a + b + 1).Pow(4), (a + b + 1).Pow(2)),
            (a + b + 1).Pow(2));
  EXPECT_EQ(DivideExactly(3 * a, 2 * b)->ToString(), "3/2*a*b^-1");
  EXPECT_EQ(DivideExactly(Polynomial(), a + 1)->ToString(), "0");
  EXPECT_EQ(DivideExactly(a + a * a.Pow(2) * b, 2 * a.Pow(2) * b + 2),
            a * Rational::Ratio(1, 2));
  EXPECT_EQ(DivideExactly(a * a + b * b, a + b), std::nullopt);
  EXPECT_EQ(DivideExactly(a, a + 1), std::nullopt);
  EXPECT_EQ(DivideExactly(Polynomial(1), a + 1), std::nullopt);
  EXPECT_EQ(DivideExactly(a, Polynomial()), std::nullopt);
  EXPECT_EQ(DivideExactly(Polynomial::Overflow(), a), std::nullopt);
}

TEST(PolynomialTest, Content) {
  auto content = [](const Polynomial& p) {
    return Polynomial::Sum({Content(p)}).ToString();
  };
  EXPECT_EQ(content(4 * a * a * b - 6 * a * b), "2*a*b");
  EXPECT_EQ(content(-4 * a * a + 6 * b), "-2");
  EXPECT_EQ(content(a * Rational::Ratio(1, 2) + Rational::Ratio(1, 3)), "1/6");
  EXPECT_EQ(content(a.Pow(-1) + 1), "a^-1");
  EXPECT_EQ(content(a + b), "1");
  EXPECT_EQ(content(Polynomial()), "1");
}

// The hash may be stored, so its value is part of the format.
TEST(PolynomialTest, HashIsStable) {
  EXPECT_EQ(Polynomial(7).hash(), uint64_t{14828122337144542073u});
  EXPECT_EQ((2 * a * b + Polynomial::Apply("f", {n - 1})).hash(),
            uint64_t{16012023536195654260u});
}

Polynomial Random(std::mt19937_64& rng) {
  const Polynomial atoms[] = {a, b, n, Polynomial::Apply("f", {a - b})};
  Polynomial sum = static_cast<int64_t>(rng() % 5) - 2;
  for (uint64_t terms = rng() % 4; terms > 0; --terms) {
    Polynomial product = static_cast<int64_t>(rng() % 7) - 3;
    for (uint64_t factors = rng() % 3; factors > 0; --factors) {
      product = product * atoms[rng() % 4];
    }
    sum = sum + product;
  }
  return sum;
}

TEST(PolynomialTest, RingLaws) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 150; ++i) {
    Polynomial p = Random(rng), q = Random(rng), r = Random(rng);
    ASSERT_EQ(p + q, q + p);
    ASSERT_EQ((p + q) + r, p + (q + r));
    ASSERT_EQ(p * q, q * p);
    ASSERT_EQ((p * q) * r, p * (q * r));
    ASSERT_EQ(p * (q + r), p * q + p * r);
    ASSERT_EQ(p - q, -(q - p));
    ASSERT_EQ((p * q).hash(), (q * p).hash());
    if (!q.IsZero()) {
      ASSERT_EQ(DivideExactly(p * q, q), p);
    }
  }
}

TEST(PolynomialTest, OrderIsTotalAndAgreesWithEquality) {
  std::mt19937_64 rng(2);
  std::vector<Polynomial> all;
  for (int i = 0; i < 25; ++i) all.push_back(Random(rng));
  for (const Polynomial& p : all) {
    for (const Polynomial& q : all) {
      ASSERT_EQ(Polynomial::Compare(p, q), -Polynomial::Compare(q, p));
      ASSERT_EQ(Polynomial::Compare(p, q) == 0, p == q);
      ASSERT_EQ(p == q, p.ToString() == q.ToString());
      for (const Polynomial& r : all) {
        if (p < q && q < r) {
          ASSERT_LT(p, r);
        }
      }
    }
  }
}

}  // namespace
}  // namespace isomer

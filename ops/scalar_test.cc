// The derived functions: identities in the exact scalars, agreement with the
// formulas in floating point, and the accumulators.
#include "ops/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace isomer {
namespace {

class Points {
 public:
  Field NextField() { return Field::FromWide(rng_()); }
  double NextDouble() {
    return static_cast<double>(rng_() >> 11) * 0x1p-50 - 4;  // in [-4, 4)
  }

 private:
  std::mt19937_64 rng_{5};
};

TEST(ScalarTest, Traits) {
  EXPECT_FALSE(kExact<float> || kExact<double>);
  EXPECT_TRUE(kExact<Field> && kExact<Int> && kExact<Term>);
  EXPECT_TRUE(kOrdered<float> && kOrdered<Field> && kOrdered<Int>);
  EXPECT_FALSE(kOrdered<Term>);
}

TEST(ScalarTest, Conversions) {
  EXPECT_EQ(FromInt<float>(3), 3.f);
  EXPECT_EQ(FromInt<Field>(-3), Field::FromInt(-3));
  EXPECT_EQ(FromDouble<float>(0.1), 0.1f);
  EXPECT_EQ(FromDouble<Term>(0.5).ToString(), "1/2");
  EXPECT_FALSE(FromDouble<Int>(0.5).ok());
  EXPECT_EQ(ToDouble(0.5f), 0.5);
  EXPECT_EQ(ToDouble(Int::FromInt(-2)), -2.0);
  EXPECT_TRUE(std::isnan(ToDouble(Int::Poison())));
  EXPECT_TRUE(IsNan(NAN));
  EXPECT_FALSE(IsNan(1.0));
  EXPECT_FALSE(IsNan(Int::Poison()));
  EXPECT_FALSE(IsNan(Term::Symbol("x")));
}

// Identities over the reals that follow from the definitions, for a scalar
// type in which == is exact.
template <typename T>
void ExpectIdentities(const T& x, const T& y) {
  const T zero = FromInt<T>(0), one = FromInt<T>(1), two = FromInt<T>(2);
  EXPECT_EQ(Rsqrt(x) * Sqrt(x), one);
  EXPECT_EQ(Sigmoid(x) * (one + Exp(-x)), one);
  EXPECT_EQ(Sigmoid(-x), one - Sigmoid(x));
  EXPECT_EQ(Tanh(x), two * Sigmoid(two * x) - one);
  EXPECT_EQ(Tanh(-x), -Tanh(x));
  EXPECT_EQ(Relu(Relu(x)), Relu(x));
  EXPECT_EQ(Max(Relu(x), y), Max(Max(x, zero), y));
  EXPECT_EQ(Abs(-x), Abs(x));
  EXPECT_EQ(Sign(x) * Abs(x), x);
  EXPECT_EQ(Sign(zero), zero);
  EXPECT_EQ(Ceil(x), -Floor(-x));
  EXPECT_EQ(Softplus(x), Log(one + Exp(x)));
  EXPECT_EQ(Softsign(-x), -Softsign(x));
  EXPECT_EQ(LeakyRelu(x, 0), Relu(x));
  EXPECT_EQ(Selu(x, 1.5, 2), two * Elu(x, 1.5));
  EXPECT_EQ(Elu(zero, 1.5), zero);
  EXPECT_EQ(Gelu(x) - Gelu(-x), x);
  EXPECT_EQ(HardSigmoid(x, 0, 1), Max(zero, one));
  EXPECT_EQ(Pow(x, FromInt<T>(3)), x * x * x);
  EXPECT_EQ(Pow(x, FromInt<T>(-2)) * x * x, one);
  EXPECT_EQ(Pow(x, zero), one);
  EXPECT_EQ(Pow(x, FromDouble<T>(0.5)), Sqrt(x));
  EXPECT_EQ(Pow(x, FromDouble<T>(-0.5)), one / Sqrt(x));
  EXPECT_EQ(Pow(x, y), Exp(y * Log(x)));
  EXPECT_EQ(PowInt(x, 5), x * x * x * x * x);
  EXPECT_EQ(Round(FromInt<T>(7)), FromInt<T>(7));
}

// What is not true must not come out as equal.
template <typename T>
void ExpectNonIdentities(const T& x, const T& y) {
  EXPECT_FALSE(Sigmoid(x) == Sigmoid(y));
  EXPECT_FALSE(Tanh(x) == Sigmoid(x));
  EXPECT_FALSE(Gelu(x) == x);
  EXPECT_FALSE(Softplus(x) == Relu(x));
  EXPECT_FALSE(Pow(x, y) == Pow(y, x));
  EXPECT_FALSE(Floor(x) == Ceil(x));
}

TEST(ScalarTest, FieldIdentities) {
  Points points;
  for (int i = 0; i < 50; ++i) {
    Field x = points.NextField(), y = points.NextField();
    ExpectIdentities(x, y);
    ExpectNonIdentities(x, y);
  }
}

// A law that fails only where x is on one side of 0 needs several points.
TEST(ScalarTest, FieldSeesBothSidesOfZero) {
  Points points;
  int elu = 0;
  int leaky = 0;
  for (int i = 0; i < 50; ++i) {
    Field x = points.NextField();
    elu += Elu(x, 1) == Elu(x, 2) ? 1 : 0;
    leaky += LeakyRelu(x, 0.5) == Relu(x) ? 1 : 0;
  }
  EXPECT_GT(elu, 0);
  EXPECT_LT(elu, 50);
  EXPECT_EQ(leaky, elu);
}

TEST(ScalarTest, TermIdentities) {
  ExpectIdentities(Term::Symbol("x"), Term::Symbol("y"));
  ExpectNonIdentities(Term::Symbol("x"), Term::Symbol("y"));
}

TEST(ScalarTest, IntsSeeOrder) {
  for (int64_t v = -5; v <= 5; ++v) {
    const Int x = Int::FromInt(v);
    EXPECT_EQ(Relu(x), Int::FromInt(v > 0 ? v : 0));
    EXPECT_EQ(Abs(x), Int::FromInt(v < 0 ? -v : v));
    EXPECT_EQ(Sign(x), Int::FromInt((v > 0) - (v < 0)));
    EXPECT_EQ(Round(x), x);
    EXPECT_EQ(Floor(x), x);
    EXPECT_EQ(Ceil(x), x);
    EXPECT_EQ(LeakyRelu(x, 3), Int::FromInt(v > 0 ? v : 3 * v));
    EXPECT_EQ(HardSigmoid(x, 1, 0), Int::FromInt(v > 0 ? 1 : 0));
    EXPECT_EQ(Pow(x, Int::FromInt(3)), Int::FromInt(v * v * v));
  }
  EXPECT_EQ(PowInt(Int::FromInt(-1), -3), Int::FromInt(-1));
  EXPECT_EQ(PowInt(Int::FromInt(3), 39), Int::FromInt(4052555153018976267));
}

TEST(ScalarTest, IntsPoison) {
  const Int x = Int::FromInt(2);
  for (Int r : {Sigmoid(x), Tanh(x), Rsqrt(x), Softplus(x), Softsign(x),
                Gelu(x), Elu(x, 1), LeakyRelu(x, 0.5), PowInt(x, 63),
                PowInt(x, -1), PowInt(x, INT64_MIN), Pow(x, Int::Poison()),
                Pow(x, Int::FromInt(5000)), Abs(Int::FromInt(INT64_MIN)),
                Sign(Int::Poison()), Relu(Int::Poison())}) {
    EXPECT_FALSE(r.ok()) << r.ToString();
  }
}

// The direct functions of float and double against the defining formulas.
template <typename T>
void ExpectFormulas(T x, double tolerance) {
  const double v = x;
  auto near = [&](T actual, double expected) {
    EXPECT_NEAR(actual, expected, tolerance * (1 + std::fabs(expected))) << x;
  };
  near(Sigmoid(x), 1 / (1 + std::exp(-v)));
  near(Tanh(x), (std::exp(2 * v) - 1) / (std::exp(2 * v) + 1));
  near(Relu(x), v > 0 ? v : 0);
  near(Abs(x), std::fabs(v));
  near(Ceil(x), -std::floor(-v));
  near(Sign(x), v > 0 ? 1 : v < 0 ? -1 : 0);
  near(Softplus(x), std::log(1 + std::exp(v)));
  near(Softsign(x), v / (1 + std::fabs(v)));
  near(HardSigmoid(x, 0.2, 0.5), std::fmax(0, std::fmin(1, 0.2 * v + 0.5)));
  near(Elu(x, 1.5), v > 0 ? v : 1.5 * (std::exp(v) - 1));
  near(Selu(x, 1.5, 2), 2 * (v > 0 ? v : 1.5 * (std::exp(v) - 1)));
  near(LeakyRelu(x, 0.01), v > 0 ? v : 0.01 * v);
  near(Gelu(x), v / 2 * (1 + std::erf(v / std::sqrt(2.0))));
  near(Rsqrt(Abs(x) + 1), 1 / std::sqrt(std::fabs(v) + 1));
  near(Pow(Abs(x), T{1.5}), std::exp(1.5 * std::log(std::fabs(v))));
  near(PowInt(x, 3), v * v * v);
}

TEST(ScalarTest, FloatsFollowTheFormulas) {
  Points points;
  for (int i = 0; i < 500; ++i) {
    const double x = points.NextDouble();
    ExpectFormulas<double>(x, 1e-13);
    ExpectFormulas<float>(static_cast<float>(x), 1e-5);
  }
}

TEST(ScalarTest, FloatsAtTheEdges) {
  EXPECT_EQ(Sigmoid(-1000.f), 0.f);
  EXPECT_EQ(Sigmoid(1000.f), 1.f);
  EXPECT_GT(Sigmoid(-80.f), 0.f);
  EXPECT_EQ(Softplus(1000.f), 1000.f);
  EXPECT_EQ(Tanh(1000.0), 1.0);
  EXPECT_EQ(Round(0.5), 0.0);
  EXPECT_EQ(Round(1.5), 2.0);
  EXPECT_EQ(Round(-2.5f), -2.f);
  EXPECT_EQ(Elu(1000.f, 1), 1000.f);
  for (double r : {Sigmoid(double{NAN}), Relu(double{NAN}), Sign(double{NAN}),
                   Softplus(double{NAN}), Gelu(double{NAN}),
                   LeakyRelu(double{NAN}, 0.1), Elu(double{NAN}, 1)}) {
    EXPECT_TRUE(std::isnan(r));
  }
}

// + - * / agree between double and the field where nothing rounds.
TEST(ScalarTest, FieldAgreesWithDoublesOnDyadics) {
  std::mt19937_64 rng(9);
  for (int i = 0; i < 200; ++i) {
    const double a = static_cast<double>(rng() % 2048) / 64 - 16;
    const double b = static_cast<double>(rng() % 2048) / 128 - 8;
    const Field p = FromDouble<Field>(a), q = FromDouble<Field>(b);
    ASSERT_EQ(FromDouble<Field>(a + b), p + q);
    ASSERT_EQ(FromDouble<Field>(a - b), p - q);
    ASSERT_EQ(FromDouble<Field>(a * b), p * q);
    ASSERT_EQ(FromDouble<Field>(a / 32), p / FromInt<Field>(32));
    ASSERT_EQ(FromDouble<Field>(PowInt(a, 3)), PowInt(p, 3));
  }
}

TEST(AccumulatorTest, FieldReducesLate) {
  Points points;
  for (int length : {0, 1, 31, 32, 33, 63, 64, 65, 1000}) {
    Accumulator<Field> late;
    Field plain;
    for (int i = 0; i < length; ++i) {
      // Alternates the largest product with random ones.
      Field x = i % 2 ? points.NextField() : FromInt<Field>(-1);
      Field y = i % 2 ? points.NextField() : FromInt<Field>(-1);
      late.AddProduct(x, y);
      late.Add(x);
      plain = plain + x * y + x;
    }
    EXPECT_EQ(late.Result(), plain) << length;
  }
  Accumulator<Field> worst;
  for (int i = 0; i < 1000; ++i) {
    worst.AddProduct(FromInt<Field>(-1), FromInt<Field>(-1));
  }
  EXPECT_EQ(worst.Result(), FromInt<Field>(1000));
}

TEST(AccumulatorTest, FloatSumsInDouble) {
  Accumulator<float> sum;
  sum.Add(0x1p24f);
  sum.Add(1.f);
  sum.AddProduct(1.f, 1.f);
  EXPECT_EQ(sum.Result(), 0x1p24f + 2.f);
}

TEST(AccumulatorTest, OthersSumPlainly) {
  Accumulator<Term> term;
  term.AddProduct(Term::Symbol("a"), Term::Symbol("x"));
  term.Add(Term::Symbol("b"));
  EXPECT_EQ(term.Result().ToString(), "a*x + b");
  Accumulator<Int> poison;
  poison.Add(Int::Poison());
  poison.Add(Int::FromInt(1));
  EXPECT_FALSE(poison.Result().ok());
  Accumulator<double> real;
  real.AddProduct(2, 3);
  EXPECT_EQ(real.Result(), 6);
}

}  // namespace
}  // namespace isomer

// Normal forms of symbolic scalars as text, identities, and non-identities.
#include "ops/term.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace isomer {
namespace {

Term I(int64_t value) { return Term::FromInt(value); }
const Term x = Term::Symbol("x"), y = Term::Symbol("y"), z = Term::Symbol("z");

TEST(TermTest, Prints) {
  EXPECT_EQ((x * y + I(1)).ToString(), "x*y + 1");
  EXPECT_EQ((x / I(4)).ToString(), "1/4*x");
  EXPECT_EQ((x / y).ToString(), "x*y^-1");
  EXPECT_EQ((x / (y + z)).ToString(), "x*inv(y + z)");
  EXPECT_EQ((I(1) / (I(2) * x * y + I(4) * x)).ToString(),
            "1/2*x^-1*inv(y + 2)");
  EXPECT_EQ((I(1) / (y - x)).ToString(), "-inv(x - y)");
  EXPECT_EQ(Exp(x + y).ToString(), "exp(x + y)");
  EXPECT_EQ(Max(y, Max(x, I(0))).ToString(), "max(0, y, x)");
  EXPECT_EQ(Narrow(DType::kF16, x).ToString(), "narrow_f16(x)");
}

TEST(TermTest, QuotientsCancel) {
  EXPECT_EQ((x / x).ToString(), "1");
  EXPECT_EQ(((I(2) * x) / (I(2) * x)).ToString(), "1");
  EXPECT_EQ((x * (I(1) / x)).ToString(), "1");
  EXPECT_EQ(((x + y) * (I(1) / (x + y))).ToString(), "1");
  EXPECT_EQ((x / (x + y) + y / (x + y)).ToString(), "1");
  EXPECT_EQ(((x * x - y * y) / (x - y)).ToString(), "x + y");
  EXPECT_EQ((I(1) / (I(1) / (x + y))).ToString(), "x + y");
  EXPECT_EQ((I(1) / (I(1) + I(1) / x)).ToString(), "x*inv(x + 1)");
  EXPECT_EQ((x + y).Pow(-2) * (x + y).Pow(3), x + y);
  EXPECT_EQ(x.Pow(-2).ToString(), "x^-2");
  EXPECT_EQ(((x + y) / (I(2) * x + I(2) * y)).ToString(), "1/2");
}

TEST(TermTest, EqualityClearsDenominators) {
  EXPECT_EQ(x / (x + I(1)), I(1) - I(1) / (x + I(1)));
  EXPECT_EQ(I(1) / (x * (x + I(1))), I(1) / x - I(1) / (x + I(1)));
  EXPECT_EQ(I(1) / (x + I(1)) / (x + I(2)),
            I(1) / (x + I(1)) - I(1) / (x + I(2)));
  EXPECT_EQ(I(1) / (I(1) + I(1) / (x + y)), (x + y) / (x + y + I(1)));
  // A softmax sums to one.
  Term sum = Exp(x) + Exp(y) + Exp(z);
  EXPECT_EQ(Exp(x) / sum + Exp(y) / sum + Exp(z) / sum, I(1));
}

TEST(TermTest, FunctionsFoldAndKeepTheirSymmetry) {
  EXPECT_EQ(Exp(I(0)), I(1));
  EXPECT_EQ(Log(I(1)), I(0));
  EXPECT_EQ(Sqrt(I(0)), I(0));
  EXPECT_EQ(Sqrt(I(1)), I(1));
  EXPECT_EQ(Erf(I(0)), I(0));
  EXPECT_EQ(Sin(I(0)), I(0));
  EXPECT_EQ(Cos(I(0)), I(1));
  EXPECT_EQ(Floor(I(-7) / I(2)), I(-4));
  EXPECT_EQ(Exp(y - x) * Exp(x - y), I(1));
  EXPECT_EQ(Erf(y - x), -Erf(x - y));
  EXPECT_EQ(Sin(-x), -Sin(x));
  EXPECT_EQ(Cos(y - x), Cos(x - y));
  EXPECT_EQ(Exp(x + y), Exp(y + x));
}

TEST(TermTest, ExtremesAreSets) {
  EXPECT_EQ(Max(x, y), Max(y, x));
  EXPECT_EQ(Max(Max(x, y), z), Max(x, Max(y, z)));
  EXPECT_EQ(Max(x, x), x);
  EXPECT_EQ(Max(Max(x, I(0)), I(0)), Max(x, I(0)));
  EXPECT_EQ(Max(Max(x, I(1)), I(3)), Max(x, I(3)));
  EXPECT_EQ(Max(I(2), I(3)), I(3));
  EXPECT_EQ(Min(I(2), I(3)), I(2));
  EXPECT_EQ(Min(Min(x, I(1)), I(3)), Min(x, I(1)));
}

TEST(TermTest, UnlikeTermsStayUnlike) {
  const std::vector<Term> different = {x,
                                       y,
                                       -x,
                                       x + I(1),
                                       x * x,
                                       x / y,
                                       y / x,
                                       I(1) / (x + y),
                                       I(0),
                                       I(1),
                                       Exp(x),
                                       Exp(y),
                                       Exp(-x),
                                       Log(x),
                                       Sqrt(x),
                                       Erf(x),
                                       Sin(x),
                                       Cos(x),
                                       Floor(x),
                                       Max(x, y),
                                       Min(x, y),
                                       Max(x, I(0)),
                                       Max(x, I(1)),
                                       Narrow(DType::kF16, x),
                                       Narrow(DType::kBF16, x),
                                       Exp(x) * Exp(y),
                                       Sqrt(x) * Sqrt(x),
                                       I(1) / (x - y),
                                       Term::FromDouble(0.1),
                                       Term::FromDouble(1e-30),
                                       Term::FromDouble(2e-30),
                                       Term::FromDouble(INFINITY),
                                       Term::FromDouble(NAN)};
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t j = 0; j < different.size(); ++j) {
      EXPECT_EQ(different[i] == different[j], i == j)
          << different[i] << " and " << different[j];
    }
  }
}

TEST(TermTest, Constants) {
  EXPECT_EQ(Term::FromDouble(0.375).ToString(), "3/8");
  EXPECT_EQ(Term::FromDouble(1e-30).ToString(), "1.0000000000000001e-30");
  EXPECT_EQ(Term::FromDouble(-1e-30) + Term::FromDouble(1e-30), I(0));
  EXPECT_EQ(Term::FromDouble(-INFINITY).ToString(), "-inf");
  EXPECT_EQ(Narrow(DType::kF16, I(2048)), I(2048));
  EXPECT_EQ(Narrow(DType::kF16, I(2049)).ToString(), "narrow_f16(2049)");
  EXPECT_EQ(Narrow(DType::kU8, I(-1)).ToString(), "narrow_u8(-1)");
  EXPECT_EQ(Narrow(DType::kI32, I(1) / I(2)).ToString(), "narrow_i32(1/2)");
  EXPECT_EQ(Narrow(DType::kBool, I(5)), I(1));
  EXPECT_EQ(Narrow(DType::kBool, I(0)), I(0));
}

TEST(TermTest, NoValueEqualsNothing) {
  const Term bad = I(1) / I(0);
  for (const Term& t :
       {bad, bad + x, bad * I(0), x / bad, x / (x - x), Exp(bad), Max(bad, x),
        Floor(bad), I(0).Pow(-1), I(int64_t{1} << 62) * I(4),
        Narrow(DType::kF16, bad), Cos(bad)}) {
    EXPECT_FALSE(t.ok()) << t;
    EXPECT_FALSE(t == t);
  }
}

}  // namespace
}  // namespace isomer

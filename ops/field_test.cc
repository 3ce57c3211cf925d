// The modulus is prime, the axioms hold, and the keyed functions keep their
// values from run to run.
#include "ops/field.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace isomer {
namespace {

constexpr uint64_t kP = Field::kPrime;

Field F(int64_t value) { return Field::FromInt(value); }

class Random {
 public:
  Field Next() { return Field::FromWide(rng_()); }

 private:
  std::mt19937_64 rng_{42};
};

uint64_t PowMod(uint64_t base, uint64_t e, uint64_t m) {
  unsigned __int128 result = 1;
  unsigned __int128 b = base % m;
  for (; e != 0; e >>= 1, b = b * b % m) {
    if (e & 1) result = result * b % m;
  }
  return static_cast<uint64_t>(result);
}

// Miller and Rabin's test; these bases decide every 64-bit number.
bool IsPrime(uint64_t n) {
  const int shift = __builtin_ctzll(n - 1);
  const uint64_t odd = (n - 1) >> shift;
  for (uint64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
    if (n == base) return true;
    if (n % base == 0) return false;
    unsigned __int128 x = PowMod(base, odd, n);
    bool witness = x != 1 && x != n - 1;
    for (int i = 1; i < shift && witness; ++i) {
      x = x * x % n;
      witness = x != n - 1;
    }
    if (witness) return false;
  }
  return true;
}

TEST(FieldTest, ModulusIsPrime) {
  EXPECT_TRUE(IsPrime(kP));
  EXPECT_EQ(kP, (uint64_t{1} << 61) - 3153);
  // The test itself can say no.
  EXPECT_FALSE(IsPrime(kP + 4));
  EXPECT_FALSE(IsPrime(uint64_t{4294967291} * 4294967279));
  EXPECT_TRUE(IsPrime((uint64_t{1} << 61) - 1));
}

TEST(FieldTest, ReducesAnyWideNumber) {
  std::mt19937_64 rng(1);
  std::vector<unsigned __int128> samples = {
      0,
      1,
      kP - 1,
      kP,
      kP + 1,
      ~static_cast<unsigned __int128>(0),
      static_cast<unsigned __int128>(kP) * kP,
      static_cast<unsigned __int128>(kP) * kP - 1};
  for (int i = 0; i < 10000; ++i) {
    samples.push_back(static_cast<unsigned __int128>(rng()) << 64 | rng());
  }
  for (unsigned __int128 x : samples) {
    ASSERT_EQ(Field::FromWide(x).value(), static_cast<uint64_t>(x % kP));
  }
}

TEST(FieldTest, FieldAxioms) {
  Random random;
  for (int i = 0; i < 2000; ++i) {
    Field a = random.Next(), b = random.Next(), c = random.Next();
    ASSERT_LT(a.value(), kP);
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ(a + (-a), F(0));
    ASSERT_EQ(a - b, a + (-b));
    ASSERT_EQ(a * a.Inverse(), F(1));
    ASSERT_EQ(a / b * b, a);
    ASSERT_EQ(a.Pow(5), a * a * a * a * a);
    ASSERT_EQ(a.Pow(-3) * a.Pow(3), F(1));
  }
}

TEST(FieldTest, ZeroHasInverseZero) {
  EXPECT_EQ(F(0).Inverse(), F(0));
  EXPECT_EQ(F(7) / F(0), F(0));
  EXPECT_EQ(F(0).Pow(-2), F(0));
  EXPECT_EQ(F(0).Pow(0), F(1));
  EXPECT_EQ(F(0).Pow(3), F(0));
  EXPECT_EQ(-F(0), F(0));
}

TEST(FieldTest, Integers) {
  EXPECT_EQ(F(-1).value(), kP - 1);
  EXPECT_EQ(F(-5) + F(5), F(0));
  EXPECT_EQ(F(static_cast<int64_t>(kP)), F(0));
  EXPECT_EQ(F(std::numeric_limits<int64_t>::min()), -F(2).Pow(63));
  EXPECT_EQ(F(std::numeric_limits<int64_t>::max()), F(2).Pow(63) - F(1));
  EXPECT_EQ(F(12).ToString(), "12");
}

TEST(FieldTest, DoublesAreExact) {
  auto d = [](double value) { return Field::FromDouble(value); };
  EXPECT_EQ(d(0.5) + d(0.5), F(1));
  EXPECT_EQ(d(-0.75) * F(4), F(-3));
  EXPECT_EQ(d(0.0), F(0));
  EXPECT_EQ(d(-0.0), F(0));
  EXPECT_EQ(d(0x1p1023), F(2).Pow(1023));
  EXPECT_EQ(d(5e-324), F(2).Pow(-1074));
  EXPECT_EQ(d(-0x1.8p-1060), F(-3) * F(2).Pow(-1061));
  std::mt19937_64 rng(3);
  for (int i = 0; i < 2000; ++i) {
    int exponent = 0;
    double value = std::ldexp(static_cast<double>(rng()) - 0x1p63,
                              static_cast<int>(rng() % 400) - 200);
    double mantissa = std::frexp(value, &exponent);
    ASSERT_EQ(d(value), F(static_cast<int64_t>(std::ldexp(mantissa, 53))) *
                            F(2).Pow(exponent - 53));
  }
}

TEST(FieldTest, NonFiniteDoublesAreConstants) {
  auto d = [](double value) { return Field::FromDouble(value); };
  EXPECT_EQ(d(INFINITY), d(INFINITY));
  EXPECT_EQ(d(NAN), d(-NAN));
  EXPECT_FALSE(d(INFINITY) == d(-INFINITY));
  EXPECT_FALSE(d(INFINITY) == d(NAN));
  EXPECT_FALSE(d(INFINITY) == F(0));
}

// Fingerprints are stored, so these values are part of the format.
TEST(FieldTest, KeyedFunctionsKeepTheirValues) {
  const Field x = F(3);
  EXPECT_EQ(Exp(x).ToString(), "933826219094702473");
  EXPECT_EQ(Log(x).ToString(), "341577810041701241");
  EXPECT_EQ(Sqrt(x).ToString(), "363409663360448007");
  EXPECT_EQ(Erf(x).ToString(), "404258174255996870");
  EXPECT_EQ(Sin(x).ToString(), "1589086777830904971");
  EXPECT_EQ(Cos(x).ToString(), "1748017659008058264");
  EXPECT_EQ(Floor(F(3) / F(7)).ToString(), "233549538544745195");
  EXPECT_EQ(Narrow(DType::kF16, F(3) / F(7)).ToString(), "331677740456941032");
  EXPECT_EQ(Narrow(DType::kI8, F(3) / F(7)).ToString(), "39");
  EXPECT_EQ(Field::FromDouble(INFINITY).ToString(), "1200729788784833851");
  EXPECT_EQ(Max(F(1), F(2)).ToString(), "1");
  EXPECT_EQ(Max(F(0), F(3)).ToString(), "0");
}

TEST(FieldTest, KeyedFunctionsKeepTrueRelations) {
  EXPECT_EQ(Exp(F(0)), F(1));
  EXPECT_EQ(Log(F(1)), F(0));
  EXPECT_EQ(Sqrt(F(0)), F(0));
  EXPECT_EQ(Sqrt(F(1)), F(1));
  EXPECT_EQ(Erf(F(0)), F(0));
  EXPECT_EQ(Sin(F(0)), F(0));
  EXPECT_EQ(Cos(F(0)), F(1));
  for (int64_t n = -9; n <= 9; ++n) {
    EXPECT_EQ(Floor(F(n) / F(2)), F(static_cast<int64_t>(std::floor(n / 2.0))));
  }
  Random random;
  for (int i = 0; i < 200; ++i) {
    Field x = random.Next();
    ASSERT_EQ(Exp(x) * Exp(-x), F(1));
    ASSERT_EQ(Erf(-x), -Erf(x));
    ASSERT_EQ(Sin(-x), -Sin(x));
    ASSERT_EQ(Cos(-x), Cos(x));
  }
}

// What does not hold over the reals must not hold by accident.
TEST(FieldTest, KeyedFunctionsKeepNoOtherRelation) {
  Random random;
  for (int i = 0; i < 200; ++i) {
    Field x = random.Next(), y = random.Next();
    ASSERT_FALSE(Exp(x) == Exp(y));
    ASSERT_FALSE(Sqrt(x) == Log(x));
    ASSERT_FALSE(Sin(x) == Erf(x));
    ASSERT_FALSE(Sqrt(-x) == -Sqrt(x));
    ASSERT_FALSE(Exp(x) == x);
    ASSERT_FALSE(Narrow(DType::kF16, x) == Narrow(DType::kBF16, x));
    ASSERT_FALSE(Narrow(DType::kF16, x) == x);
    ASSERT_FALSE(Max(x, y) == Min(x, y));
    ASSERT_EQ(Narrow(DType::kBool, x), F(1));
  }
  EXPECT_EQ(Narrow(DType::kBool, F(0)), F(0));
}

TEST(FieldTest, NarrowKeepsSmallIntegersThatTheTypeHolds) {
  EXPECT_EQ(Narrow(DType::kI64, F(-3)), F(-3));
  EXPECT_EQ(Narrow(DType::kF16, F(2048)), F(2048));
  EXPECT_FALSE(Narrow(DType::kF16, F(2049)) == F(2049));
  EXPECT_FALSE(Narrow(DType::kU8, F(-3)) == F(-3));
  EXPECT_FALSE(Narrow(DType::kI8, F(128)) == F(128));
  EXPECT_EQ(F(-3).Signed(), -3);
}

TEST(FieldTest, IsNanIsACoin) {
  Random random;
  int nans = 0;
  for (int i = 0; i < 1000; ++i) {
    Field x = random.Next();
    ASSERT_EQ(IsNan(x), IsNan(x + F(0)));
    nans += IsNan(x) ? 1 : 0;
  }
  EXPECT_GT(nans, 400);
  EXPECT_LT(nans, 600);
  EXPECT_FALSE(IsNan(F(0)) || IsNan(F(1)));
}

TEST(FieldTest, ExtremesFormALattice) {
  Random random;
  int larger = 0;
  for (int i = 0; i < 2000; ++i) {
    Field a = random.Next(), b = random.Next(), c = random.Next();
    ASSERT_EQ(Max(a, b), Max(b, a));
    ASSERT_EQ(Max(Max(a, b), c), Max(a, Max(b, c)));
    ASSERT_EQ(Max(a, a), a);
    ASSERT_EQ(Min(a, Max(a, b)), a);
    ASSERT_EQ(Max(a, b) + Min(a, b), a + b);
    ASSERT_EQ(Less(a, b), Max(a, b) == b);
    ASSERT_NE(Less(a, b), Less(b, a));
    ASSERT_FALSE(Less(a, a));
    larger += Max(a, F(0)) == a ? 1 : 0;
  }
  // Neither side of relu is rare.
  EXPECT_GT(larger, 200);
  EXPECT_LT(larger, 1800);
}

}  // namespace
}  // namespace isomer

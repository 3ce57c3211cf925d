// One element that is infinite, no number or not above zero is noticed wherever
// it lies.
#include "graph/constant_facts.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace isomer::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::shared_ptr<const Constant> Of(DType dtype, std::vector<double> values) {
  const TensorType type{dtype, {static_cast<int64_t>(values.size())}};
  return Constant::FromTensor(FromDoubles(type, values));
}

class ConstantFactsTest : public testing::TestWithParam<DType> {};

TEST_P(ConstantFactsTest, OneElementAmongMany) {
  // More than a few words of a register, and not a whole number of them.
  for (size_t n : {1, 7, 67}) {
    for (size_t at = 0; at < n; ++at) {
      for (double odd :
           {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<double> values(n, 1.5);
        values[at] = odd;
        ConstantFacts facts;
        EXPECT_FALSE(facts.Finite(Of(GetParam(), values))) << odd << " " << at;
      }
      for (double odd : {0.0, -0.0, -2.0}) {
        std::vector<double> values(n, 1.5);
        values[at] = odd;
        ConstantFacts facts;
        const auto c = Of(GetParam(), values);
        EXPECT_TRUE(facts.Finite(c)) << odd << " " << at;
        EXPECT_FALSE(facts.Positive(c)) << odd << " " << at;
      }
    }
  }
}

TEST_P(ConstantFactsTest, LargeAndSmallNumbersAreFiniteAndPositive) {
  std::vector<double> values(67, 1);
  values[3] = GetParam() == DType::kF16 ? 65504 : 3e38;
  values[40] = GetParam() == DType::kF16 ? 6e-8 : 1e-38;
  ConstantFacts facts;
  const auto c = Of(GetParam(), values);
  EXPECT_TRUE(facts.Finite(c));
  EXPECT_TRUE(facts.Positive(c));
}

INSTANTIATE_TEST_SUITE_P(Floats, ConstantFactsTest,
                         testing::Values(DType::kF16, DType::kBF16, DType::kF32,
                                         DType::kF64));

TEST(ConstantFactsOfIntegers, AreFinite) {
  ConstantFacts facts;
  const auto c = Constant::FromTensor(FromInts({DType::kI64, {3}}, {1, 2, 0}));
  EXPECT_TRUE(facts.Finite(c));
  EXPECT_FALSE(facts.Positive(c));
}

}  // namespace
}  // namespace isomer::ir

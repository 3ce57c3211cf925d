// Elements as values: what is built, printed and folded on the way.
#include "ops/elem.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

const DimExpr i = DimExpr::Symbol("i");
const DimExpr n = DimExpr::Symbol("n");

TEST(ElemTest, PrintsWhatItIs) {
  const Elem x = Elem::Input(0, {i, 2}), y = Elem::Input(1, {n - i});
  EXPECT_EQ((x + y).ToString(), "(in0[i,2] + in1[-i + n])");
  EXPECT_EQ((x * y).ToString(), "in0[i,2]*in1[-i + n]");
  EXPECT_EQ((x / Exp(x)).ToString(), "in0[i,2]/(exp(in0[i,2]))");
  EXPECT_EQ(Max(x, Elem(0.5)).ToString(), "max(in0[i,2], 0.5)");
  EXPECT_EQ(Narrow(DType::kF16, x).ToString(), "narrow_f16(in0[i,2])");
  EXPECT_EQ(Elem::FromIndex(i + 1).ToString(), "(i + 1)");
  EXPECT_EQ(Elem::Reduce(Elem::Fold::kSum, "k", n, x).ToString(),
            "sum{k<n} in0[i,2]");
  EXPECT_EQ(Elem::Reduce(Elem::Fold::kMax, "k", n, x).ToString(),
            "max{k<n} in0[i,2]");
}

TEST(ElemTest, PrintsConditions) {
  const Elem x = Elem::Input(0, {i}), zero(0.0);
  EXPECT_EQ(Elem::If(ElemCond::Ge0(i - 1), x, zero).ToString(),
            "(i - 1 >= 0 ? in0[i] : 0)");
  EXPECT_EQ(
      ElemCond::Or(ElemCond::Not(ElemCond::Eq0(i)), ElemCond::Truth(2, {i}))
          .ToString(),
      "(not (i == 0) or in2[i])");
  EXPECT_EQ(ElemCond::And(ElemCond::Less(x, zero), ElemCond::Equal(x, zero))
                .ToString(),
            "(in0[i] < 0 and in0[i] = 0)");
}

TEST(ElemTest, NeutralNumbersVanish) {
  const Elem x = Elem::Input(0, {i});
  EXPECT_EQ((x + Elem(0.0)).ToString(), "in0[i]");
  EXPECT_EQ((Elem(1.0) * x).ToString(), "in0[i]");
  EXPECT_EQ((x / Elem(1.0)).ToString(), "in0[i]");
  EXPECT_EQ((x - Elem(0.0)).ToString(), "in0[i]");
  EXPECT_EQ((-x).ToString(), "-1*in0[i]");
  // Not so a product with 0: the other factor may be infinite.
  EXPECT_EQ((Elem(0.0) * x).ToString(), "0*in0[i]");
}

TEST(ElemTest, AnIndexThatIsANumberIsAConstant) {
  EXPECT_EQ(Elem::FromIndex(DimExpr(3)).kind(), Elem::Kind::kConst);
  EXPECT_EQ(Elem::FromInt(3).value(), 3.0);
  EXPECT_EQ(Elem::FromIndex(i).kind(), Elem::Kind::kIndex);
}

}  // namespace
}  // namespace isomer

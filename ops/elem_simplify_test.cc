// What follows from ranges, and what does not.
#include "ops/elem_simplify.h"

#include <gtest/gtest.h>

namespace isomer {
namespace {

const DimExpr i = DimExpr::Symbol("i");
const DimExpr j = DimExpr::Symbol("j");
const DimExpr n = DimExpr::Symbol("n");
const DimExpr m = DimExpr::Symbol("m");
const DimExpr p = DimExpr::Symbol("p");  // nothing is known about it

Ranges Known() { return {{{"i", n}, {"j", DimExpr(3)}}, {"n", "m"}}; }

TEST(ElemSimplifyTest, ShowsWhatIsNotNegative) {
  for (const DimExpr& e :
       {i, n - 1, n - 1 - i, 2 - j, n * m - m * i - 1, n * 3 - 3 * i - j - 1,
        i * j, DimExpr(0), n + m - 2}) {
    EXPECT_TRUE(NonNegative(e, Known())) << e.ToString();
  }
}

TEST(ElemSimplifyTest, DoesNotShowWhatMayBeNegative) {
  for (const DimExpr& e : {i - 1, n - 2, m - 1 - i, 1 - j, p, p * p, n - m, -i,
                           DimExpr(-1), n - i * i, FloorDiv(n, m)}) {
    EXPECT_FALSE(NonNegative(e, Known())) << e.ToString();
  }
}

std::string Simple(const Elem& e) { return Simplify(e, Known()).ToString(); }

TEST(ElemSimplifyTest, FoldsGuards) {
  const Elem x = Elem::Input(0, {i}), zero(0.0);
  auto guard = [&](const ElemCond& c) { return Simple(Elem::If(c, x, zero)); };
  EXPECT_EQ(guard(ElemCond::Ge0(n - 1 - i)), "in0[i]");
  EXPECT_EQ(guard(ElemCond::Ge0(i - n)), "0");
  EXPECT_EQ(guard(ElemCond::Ge0(i - 1)), "(i - 1 >= 0 ? in0[i] : 0)");
  EXPECT_EQ(guard(ElemCond::Not(ElemCond::Eq0(i + 1))), "in0[i]");
  EXPECT_EQ(guard(ElemCond::Eq0(i - j)), "(i - j == 0 ? in0[i] : 0)");
  EXPECT_EQ(guard(ElemCond::And(ElemCond::Ge0(i), ElemCond::Ge0(p))),
            "(p >= 0 ? in0[i] : 0)");
  EXPECT_EQ(guard(ElemCond::Or(ElemCond::Ge0(p), ElemCond::Ge0(i))), "in0[i]");
  EXPECT_EQ(guard(ElemCond::Or(ElemCond::Ge0(p), ElemCond::Truth(1, {i}))),
            "((p >= 0 or in1[i]) ? in0[i] : 0)");
}

TEST(ElemSimplifyTest, FoldsQuotientsOfSmallIndices) {
  EXPECT_EQ(Simple(Elem::Input(0, {FloorDiv(i * 3 + j, 3), Mod(j, 3)})),
            "in0[i,j]");
  EXPECT_EQ(Simple(Elem::Input(0, {FloorDiv(i, n), FloorDiv(i, m)})),
            "in0[0,floordiv(i, m)]");
  EXPECT_EQ(Simple(Elem::FromIndex(DimExpr::Element(1, {FloorDiv(i, n) + j}))),
            Elem::FromIndex(DimExpr::Element(1, {j})).ToString());
}

TEST(ElemSimplifyTest, BoundVariablesHaveTheirOwnRange) {
  const DimExpr k = DimExpr::Symbol("k");
  const Elem sum = Elem::Reduce(
      Elem::Fold::kSum, "k", m,
      Elem::If(ElemCond::Ge0(m - 1 - k), Elem::Input(0, {k}), Elem(0.0)));
  EXPECT_EQ(Simple(sum), "sum{k<m} in0[k]");
}

}  // namespace
}  // namespace isomer

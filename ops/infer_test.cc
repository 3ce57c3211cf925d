// Demands of inference: decided over numbers, kept over expressions.
#include "ops/infer.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace isomer {
namespace {

const DimExpr n = DimExpr::Symbol("n");
const DimExpr m = DimExpr::Symbol("m");

std::string Text(const absl::Status& s) {
  return s.ok() ? "ok" : std::string(s.message());
}

std::string Demands(const InferContext<DimExpr>& c) {
  return absl::StrJoin(c.obligations(), ", ",
                       [](std::string* out, const Obligation& o) {
                         absl::StrAppend(out, ObligationText(o));
                       });
}

TEST(InferTest, NumbersAreDecided) {
  const std::vector<TensorType> in = {*ParseType("f32[2,3]"),
                                      *ParseType("i64[2,4]")};
  InferContext<int64_t> c("op", in, {});
  EXPECT_EQ(Text(c.Equal(3, 3, "sizes differ")), "ok");
  EXPECT_EQ(Text(c.Equal(3, 4, "sizes differ")),
            "op: sizes differ (3 and 4): f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.AtLeast(3, 4, "too small")),
            "op: too small (3 is below 4): f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.Divides(2, 4, "uneven")), "ok");
  EXPECT_EQ(Text(c.Divides(2, 3, "uneven")),
            "op: uneven (2 does not divide 3): f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.Divides(0, 3, "uneven")),
            "op: uneven (division by zero): f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.SameShape(0, 1)),
            "op: inputs differ in dimension 1 (3 and 4): f32[2,3] and "
            "i64[2,4]");
  EXPECT_EQ(Text(c.SameDType(0, 1)),
            "op: element types differ: f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.Rank(0, 2)), "ok");
  EXPECT_EQ(Text(c.Rank(0, 3)),
            "op: input 0 must have rank 3: f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.RankAtLeast(1, 3)),
            "op: input 1 must have rank 3 or more: f32[2,3] and i64[2,4]");
  EXPECT_EQ(Text(c.Float(0)), "ok");
  EXPECT_FALSE(c.Float(1).ok());
  EXPECT_EQ(Text(c.Numeric(1)), "ok");
  EXPECT_FALSE(c.HasDType(1, DType::kI32).ok());
  EXPECT_TRUE(c.obligations().empty());
}

TEST(InferTest, ExpressionsAreDecidedOrKept) {
  const std::vector<SymType> in = {{DType::kF32, {n, m}}};
  InferContext<DimExpr> c("op", in, {});
  EXPECT_EQ(Text(c.Equal(n + 1, 1 + n, "sizes differ")), "ok");
  EXPECT_EQ(Text(c.AtLeast(n + 1, n, "too small")), "ok");
  EXPECT_EQ(Text(c.Divides(2, 2 * n, "uneven")), "ok");
  EXPECT_EQ(Demands(c), "");
  EXPECT_EQ(Text(c.Equal(n, n + 1, "sizes differ")),
            "op: sizes differ (n and n + 1): f32[n,m]");
  EXPECT_EQ(Text(c.Equal(n, m, "sizes differ")), "ok");
  EXPECT_EQ(Text(c.Equal(n, m, "sizes differ")), "ok");
  EXPECT_EQ(Text(c.AtLeast(n, 2, "too small")), "ok");
  ASSERT_EQ(c.obligations().size(), 2u);  // each demand once
  EXPECT_EQ(c.obligations()[0].kind, Obligation::kZero);
  EXPECT_EQ(ObligationText(c.obligations()[1]), "n - 2 >= 0");
}

TEST(InferTest, AxesBecomeCanonical) {
  const std::vector<TensorType> in = {*ParseType("f32[2,3,4]")};
  InferContext<int64_t> c("op", in,
                          {{"axis", int64_t{-1}},
                           {"axes", std::vector<int64_t>{-1, 0}},
                           {"perm", std::vector<int64_t>{-1, 0, 1}}});
  EXPECT_EQ(c.Axis("axis", 3).value(), 2);
  EXPECT_EQ(c.Axes("axes", 3).value(), (std::vector<int>{0, 2}));
  EXPECT_EQ(c.Axes("perm", 3, false).value(), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(AttrsText<int64_t>(c.attrs()), "axis=2, axes=[0 2], perm=[2 0 1]");
}

TEST(InferTest, AxesOutsideTheRankAreRefused) {
  const std::vector<TensorType> in = {*ParseType("f32[2]")};
  InferContext<int64_t> c("op", in,
                          {{"axis", int64_t{1}},
                           {"axes", std::vector<int64_t>{0, -1}},
                           {"far", std::vector<int64_t>{-2}}});
  EXPECT_EQ(Text(c.Axis("axis", 1).status()),
            "op: axis 1 is not in [-1, 1): f32[2] with axis=1, axes=[0 -1], "
            "far=[-2]");
  EXPECT_EQ(Text(c.Axes("axes", 1).status()),
            "op: axes names a dimension twice: f32[2] with axis=1, "
            "axes=[0 -1], far=[-2]");
  EXPECT_FALSE(c.Axes("far", 1).ok());
}

TEST(InferTest, NumbersMayNotBeSymbols) {
  const std::vector<SymType> in = {{DType::kF32, {n}}};
  InferContext<DimExpr> c("op", in, {{"axis", m}, {"k", DimExpr(3)}});
  EXPECT_EQ(c.Number("k").value(), 3);
  EXPECT_EQ(Text(c.Axis("axis", 1).status()),
            "op: attribute 'axis' must be a number here, not m: f32[n] with "
            "axis=m, k=3");
}

}  // namespace
}  // namespace isomer

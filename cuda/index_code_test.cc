// Index expressions: what follows from ranges, and the C that comes out.
#include "cuda/index_code.h"

#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

const DimExpr kI = DimExpr::Symbol("i"), kJ = DimExpr::Symbol("j"),
              kU = DimExpr::Symbol("u");
const Intervals kKnown = {{"i", {0, 11}}, {"j", {0, 63}}};

TEST(IndexCode, QuotientsLoseWhatCannotCarry) {
  EXPECT_EQ(Tidy(FloorDiv(kI * 64 + kJ, DimExpr(64)), kKnown), kI);
  EXPECT_EQ(Tidy(FloorDiv(kI * 64 + kJ, DimExpr(128)), kKnown),
            FloorDiv(kI, DimExpr(2)));
  EXPECT_EQ(Tidy(FloorDiv(kJ, DimExpr(64)), kKnown), DimExpr(0));
  EXPECT_EQ(Tidy(FloorDiv(kI * 8 + 5, DimExpr(64)), kKnown),
            FloorDiv(kI, DimExpr(8)));
  EXPECT_EQ(Tidy(Mod(kI * 64 + kJ, DimExpr(64)), kKnown), kJ);
}

TEST(IndexCode, QuotientsKeepWhatMayCarry) {
  const DimExpr q = FloorDiv(kJ + 1, DimExpr(64));
  EXPECT_EQ(Tidy(q, kKnown), q);
  const DimExpr unknown = FloorDiv(kI * 64 + kU, DimExpr(64));
  EXPECT_EQ(Tidy(unknown, kKnown), unknown);
  const DimExpr negative = FloorDiv(kJ - 1, DimExpr(64));
  EXPECT_EQ(Tidy(negative, kKnown), negative);
}

TEST(IndexCode, Intervals) {
  auto range = [](const DimExpr& e) {
    const auto r = IntervalOf(e, kKnown);
    return r ? std::make_pair(r->low, r->high)
             : std::make_pair(int64_t{0}, int64_t{-1});
  };
  EXPECT_EQ(range(kI * 64 + kJ), std::make_pair(int64_t{0}, int64_t{767}));
  EXPECT_EQ(range(kI - kJ), std::make_pair(int64_t{-63}, int64_t{11}));
  EXPECT_EQ(range(Mod(kI * 7, DimExpr(5))),
            std::make_pair(int64_t{0}, int64_t{4}));
  EXPECT_FALSE(IntervalOf(kU, kKnown).has_value());
  EXPECT_FALSE(IntervalOf(kI * (int64_t{1} << 60), kKnown).has_value());
}

TEST(IndexCode, Text) {
  EXPECT_EQ(IndexText(DimExpr(0), kKnown), "0");
  EXPECT_EQ(IndexText(kI * 3 - kJ + 2, kKnown), "(i * 3 - j + 2)");
  EXPECT_EQ(IndexText(FloorDiv(kI, DimExpr(5)), kKnown),
            "((int)((unsigned)(i) / 5u))");
  EXPECT_EQ(IndexText(FloorDiv(kI - 1, DimExpr(5)), kKnown),
            "((int)((unsigned)(i + 4) / 5u) - 1)");
  EXPECT_EQ(IndexText(FloorDiv(kU, DimExpr(5)), kKnown),
            "(iso_floordiv((u), (5)))");
}

}  // namespace
}  // namespace isomer::cuda

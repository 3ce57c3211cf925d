// Attribute schemas: defaults, coercions, and what is refused.
#include "ops/attr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace isomer {
namespace {

std::vector<AttrSpec> Schema() {
  return {
      AxisAttr("axis"),
      IntsAttr("pad").Default(std::vector<int64_t>{0, 0}),
      FloatAttr("alpha").Default(0.5),
      FloatsAttr("scales").Default(std::vector<double>{}),
      StringAttr("mode", {"nearest", "linear"}).Default(std::string("nearest")),
      DTypeAttr("to").Default(DType::kF32)};
}

std::string Completed(const Attrs& given) {
  absl::StatusOr<Attrs> attrs = Complete<int64_t>(Schema(), given, "op");
  return attrs.ok() ? AttrsText<int64_t>(*attrs)
                    : std::string(attrs.status().message());
}

TEST(AttrTest, FillsInDefaultsInSchemaOrder) {
  EXPECT_EQ(Completed({{"axis", int64_t{1}}}),
            "axis=1, pad=[0 0], alpha=0.5, scales=[], mode=nearest, to=f32");
  EXPECT_EQ(Completed({{"mode", std::string("linear")}, {"axis", int64_t{-1}}}),
            "axis=-1, pad=[0 0], alpha=0.5, scales=[], mode=linear, to=f32");
}

TEST(AttrTest, ReadsAmbiguousTextAsTheDeclaredKind) {
  EXPECT_EQ(Completed({{"axis", int64_t{0}},
                       {"pad", int64_t{3}},
                       {"alpha", int64_t{2}},
                       {"scales", std::vector<int64_t>{1, 2}},
                       {"to", std::string("f16")}}),
            "axis=0, pad=[3], alpha=2, scales=[1 2], mode=nearest, to=f16");
  EXPECT_EQ(Completed({{"axis", int64_t{0}}, {"scales", 0.5}}),
            "axis=0, pad=[0 0], alpha=0.5, scales=[0.5], mode=nearest, to=f32");
}

TEST(AttrTest, RefusesWhatTheSchemaDoesNotHave) {
  EXPECT_EQ(Completed({}), "op: attribute 'axis' is missing");
  EXPECT_EQ(Completed({{"axis", int64_t{0}}, {"axes", int64_t{0}}}),
            "op: no attribute 'axes'; it has axis, pad, alpha, scales, mode, "
            "to");
  EXPECT_EQ(Completed({{"axis", 0.5}}),
            "op: attribute 'axis' is 0.5; expected int");
  EXPECT_EQ(Completed({{"axis", std::vector<int64_t>{1}}}),
            "op: attribute 'axis' is [1]; expected int");
  EXPECT_EQ(Completed({{"axis", int64_t{0}}, {"mode", std::string("cubic")}}),
            "op: attribute 'mode' is cubic; expected one of nearest, linear");
  EXPECT_EQ(Completed({{"axis", int64_t{0}}, {"to", std::string("f8")}}),
            "op: attribute 'to' is f8; expected dtype");
}

TEST(AttrTest, ExpressionsArePrintedAndChecked) {
  const DimExpr n = DimExpr::Symbol("n");
  absl::StatusOr<SymAttrs> attrs = Complete<DimExpr>(
      Schema(),
      SymAttrs{{"axis", DimExpr(1)}, {"pad", std::vector<DimExpr>{n, n + 1}}},
      "op");
  ASSERT_TRUE(attrs.ok()) << attrs.status();
  EXPECT_EQ(AttrText<DimExpr>(*attrs->Find("pad")), "[n (n + 1)]");
  // A float is a number, never an expression.
  EXPECT_EQ(Complete<DimExpr>(
                Schema(), SymAttrs{{"axis", DimExpr(1)}, {"alpha", n}}, "op")
                .status()
                .message(),
            "op: attribute 'alpha' is n; expected float");
}

TEST(AttrTest, SymbolicFormKeepsValues) {
  const Attrs attrs{{"axis", int64_t{1}}, {"mode", std::string("linear")}};
  EXPECT_EQ(AttrsText<DimExpr>(ToSymbolic(attrs)), "axis=1, mode=linear");
}

TEST(AttrTest, NumbersReadBack) {
  EXPECT_EQ(DoubleText(0.1), "0.1");
  EXPECT_EQ(DoubleText(1e-05), "1e-05");
  EXPECT_EQ(DoubleText(-2), "-2");
  EXPECT_EQ(DoubleText(std::nan("")), "nan");
  EXPECT_EQ(DoubleText(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(AttrKindName(AttrKind::kFloats), "floats");
}

}  // namespace
}  // namespace isomer

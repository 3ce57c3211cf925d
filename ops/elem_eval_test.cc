// Elements at numbers, over several scalars.
#include "ops/elem_eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using ::testing::HasSubstr;

const DimExpr i = DimExpr::Symbol("i");
const DimExpr k = DimExpr::Symbol("k");
const DimExpr n = DimExpr::Symbol("n");

template <class T>
absl::StatusOr<T> At(const Elem& e, absl::string_view tensor, Interp interp,
                     std::map<std::string, int64_t> symbols) {
  const Tensor t = *Reinterpret(*ParseTensor(tensor), interp);
  const Tensor* inputs[] = {&t};
  return EvalElem<T>(e, inputs, std::move(symbols));
}

double Real(const Elem& e, absl::string_view tensor,
            std::map<std::string, int64_t> symbols) {
  return At<double>(e, tensor, Interp::kReal, std::move(symbols)).value();
}

std::string Error(const Elem& e, absl::string_view tensor,
                  std::map<std::string, int64_t> symbols) {
  return std::string(At<double>(e, tensor, Interp::kReal, std::move(symbols))
                         .status()
                         .message());
}

Elem Over(Elem::Fold fold, Elem body) {
  return Elem::Reduce(fold, "k", n, std::move(body));
}

TEST(ElemEvalTest, FoldsAndFunctions) {
  const Elem x = Elem::Input(0, {k});
  EXPECT_EQ(Real(Over(Elem::Fold::kSum, x), "[1 2 4]", {{"n", 3}}), 7);
  EXPECT_EQ(Real(Over(Elem::Fold::kProd, x), "[1 2 4]", {{"n", 3}}), 8);
  EXPECT_EQ(Real(Over(Elem::Fold::kMax, x), "[1 -2 -4]", {{"n", 3}}), 1);
  EXPECT_EQ(Real(Over(Elem::Fold::kMin, x), "[1 -2 -4]", {{"n", 3}}), -4);
  EXPECT_EQ(Real(Over(Elem::Fold::kSum, x), "[1]", {{"n", 0}}), 0);
  EXPECT_EQ(Real(Exp(Elem::Input(0, {i})), "[0 1]", {{"i", 0}}), 1);
  EXPECT_EQ(Real(Elem::Input(0, {i}) / Elem(2.0), "[0 1]", {{"i", 1}}), 0.5);
}

TEST(ElemEvalTest, OnlyTheChosenBranchIsRead) {
  const Elem guarded =
      Elem::If(ElemCond::Ge0(i - 1), Elem::Input(0, {i - 1}), Elem(9.0));
  EXPECT_EQ(Real(guarded, "[5]", {{"i", 0}}), 9);
  EXPECT_EQ(Real(guarded, "[5]", {{"i", 1}}), 5);
}

TEST(ElemEvalTest, ScalarsSeeTheSameElement) {
  const Elem square =
      Over(Elem::Fold::kSum, Elem::Input(0, {k}) * Elem::Input(0, {k}));
  EXPECT_EQ(*At<Field>(square, "[1 2 -3]", Interp::kField, {{"n", 3}}),
            Field::FromInt(14));
  EXPECT_EQ(At<Int>(square, "[1 2 -3]", Interp::kInteger, {{"n", 3}})->value(),
            14);
  EXPECT_EQ(
      At<Term>(square, "[1 2 -3]", Interp::kSymbolic, {{"n", 3}})->ToString(),
      "14");
}

TEST(ElemEvalTest, IntegersAreReadAsIndices) {
  const Elem gather = Elem::FromIndex(DimExpr::Element(0, {i}) * 2);
  EXPECT_EQ(Real(gather, "[3 4]:i64", {{"i", 1}}), 8);
  // The least index is an integer also where values have no true order.
  const Elem first = Over(
      Elem::Fold::kMin,
      Elem::If(ElemCond::Ge0(k - 1), Elem::FromIndex(k), Elem::FromIndex(n)));
  EXPECT_EQ(*At<Field>(first, "[1]", Interp::kField, {{"n", 3}}),
            Field::FromInt(1));
}

TEST(ElemEvalTest, ErrorsNameTheElement) {
  const Elem x = Elem::Input(0, {i});
  EXPECT_EQ(Error(x, "[1 2]", {{"i", 2}}),
            "element in0[i]: element [2] lies outside input 0 of type f32[2]");
  EXPECT_THAT(Error(x, "[1 2]", {{"i", -1}}), HasSubstr("lies outside"));
  EXPECT_THAT(Error(x, "[[1 2]]", {{"i", 0}}), HasSubstr("lies outside"));
  EXPECT_THAT(Error(x, "[1 2]", {}), HasSubstr("index 'i' has no value"));
  EXPECT_THAT(Error(Elem::Input(1, {i}), "[1]", {{"i", 0}}),
              HasSubstr("there is no input 1"));
  EXPECT_THAT(Error(Elem::Fn("gamma", {x}), "[1]", {{"i", 0}}),
              HasSubstr("there is no function 'gamma'"));
  EXPECT_THAT(Error(Over(Elem::Fold::kMax, x), "[1]", {{"i", 0}, {"n", 0}}),
              HasSubstr("an extreme over no elements"));
  EXPECT_THAT(
      Error(Elem::FromIndex(DimExpr::Element(0, {i})), "[1]", {{"i", 0}}),
      HasSubstr("input 0 is read as integers but is f32[1]"));
}

}  // namespace
}  // namespace isomer

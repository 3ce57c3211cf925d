// Candidates as text, at the sizes they were seen with, and the rules they
// become. Candidates that hold by accident of sizes get the condition; those
// that do not hold are refused.
#include "xfer_gen/generalise.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "graph/rule.h"
#include "xfer_gen/generalise_fare.h"
#include "xfer_gen/generalise_fold.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {
namespace {

// "x f32[2,4], y f32[4,4]" are the leaves.
Candidate Make(const std::string& body, const std::string& leaves) {
  Candidate c;
  auto rule = ir::ParseRuleBody(body);
  EXPECT_TRUE(rule.ok()) << rule.status();
  if (rule.ok()) c.text = ir::PrintRule(*rule);
  for (absl::string_view leaf : absl::StrSplit(leaves, ", ")) {
    const std::vector<std::string> parts = absl::StrSplit(leaf, ' ');
    auto type = ParseType(parts[1]);
    EXPECT_TRUE(type.ok()) << type.status();
    if (type.ok()) c.leaves.push_back({parts[0], false, *type});
  }
  return c;
}

std::string Generalised(const std::string& body, const std::string& leaves) {
  auto rule = Generalise(Make(body, leaves), {});
  return rule.ok() ? ir::PrintRule(*rule) : std::string("refused");
}

TEST(GeneraliseTest, RanksAndSizesAreFree) {
  EXPECT_EQ(Generalised("add(add(x1, x2), x3) <=> add(x1, add(x2, x3))",
                        "x1 f32[2,4], x2 f32[2,4], x3 f32[2,4]"),
            "add(add(x, y), z) <=> add(x, add(y, z))");
}

TEST(GeneraliseTest, AxesBecomeVariables) {
  EXPECT_EQ(Generalised("concat(relu(x1), relu(x2), axis=1) <=>"
                        " relu(concat(x1, x2, axis=1))",
                        "x1 f32[2,4], x2 f32[2,4]"),
            "concat(relu(x), relu(y), axis=a) <=>"
            " relu(concat(x, y, axis=a))");
  EXPECT_EQ(Generalised("slice(concat(x1, x2, axis=1), axis=1, from=0,"
                        " to=dim(x1, 1)) <=> x1",
                        "x1 f32[2,4], x2 f32[2,4]"),
            "slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x");
}

// Bounds and shapes come as numbers; which sizes they are, trials tell.
TEST(GeneraliseTest, NumbersBecomeSizes) {
  const std::string xs = "x1 f32[2,4], x2 f32[2,4]";
  EXPECT_EQ(Generalised("slice(concat(x1, x2, axis=1), axis=1, from=0, to=4)"
                        " <=> x1",
                        xs),
            "slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x");
  EXPECT_EQ(Generalised("slice(concat(x1, x2, axis=1), axis=1, from=4, to=8)"
                        " <=> x2",
                        xs),
            "slice(concat(x, y, axis=a), axis=a, from=dim(x, a), to=end) => y");
  EXPECT_EQ(Generalised("matmul(x1, eye(shape=[4 4])) <=> x1", "x1 f32[2,4]"),
            "matmul(x, eye(shape=[dim(x, 1) dim(x, 1)])) => x");
  EXPECT_EQ(Generalised("mul(x1, fill(value=1, shape=[2 4 4])) <=> x1",
                        "x1 f32[2,4,4]"),
            "mul(x, fill(value=1, shape=[dim(x, 0) dim(x, 1) dim(x, 2)]))"
            " => x");
}

// Shapes that templates give by sizes stay so; a number that counts parts is no
// size.
TEST(GeneraliseTest, ShapesBySizesHoldWhateverTheNumbers) {
  EXPECT_EQ(Generalised("let t1 = concat(x1, x2, axis=1) in"
                        " reduce_sum(reshape(t1, shape=[dim(t1, 0) 2"
                        " (dim(t1, 1) / 2)]), axis=1) <=> add(x1, x2)",
                        "x1 f32[2,4], x2 f32[2,4]"),
            "let t1 = concat(x, y, axis=1) in\n"
            "reduce_sum(reshape(t1, shape=[dim(t1, 0) 2 (dim(t1, 1) / 2)]),"
            " axis=1)\n<=> add(x, y)");
}

// The same in numbers is of use only if it holds for any shape.
TEST(GeneraliseTest, SaidBySizesItMustHoldForAllShapes) {
  Candidate any =
      Make("relu(reshape(x1, shape=[4 2])) <=> reshape(relu(x1), shape=[4 2])",
           "x1 f32[2,4]");
  any.said_by_sizes = true;
  auto rule = Generalise(any, {});
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(ir::PrintRule(*rule),
            "relu(reshape(x, shape=s)) <=> reshape(relu(x), shape=s)");
  Candidate some = Make(
      "reduce_sum(reshape(concat(x1, x2, axis=1), shape=[2 2 4]), axis=1)"
      " <=> add(x1, x2)",
      "x1 f32[2,4], x2 f32[2,4]");
  some.said_by_sizes = true;
  EXPECT_EQ(Generalise(some, {}).status().message(),
            "it holds for some shapes alone");
}

TEST(GeneraliseTest, WhatIsNotWorthwhileIsLeft) {
  std::string asked;
  GeneraliseOptions options;
  options.worthwhile = [&](const ir::RuleSyntax& seen) {
    asked = ir::PrintRule(seen);
    return false;
  };
  auto rule = Generalise(
      Make("matmul(x1, eye(shape=[4 4])) <=> x1", "x1 f32[2,4]"), options);
  EXPECT_TRUE(absl::IsAborted(rule.status())) << rule.status();
  EXPECT_EQ(asked,
            "matmul(x1, eye(shape=[dim(x1, 1) dim(x1, 1)])) => x1"
            " where rank(x1) == 2");
}

// Over how many devices the whole is cut is up to who cuts it.
TEST(GeneraliseTest, TheDegreeOfACutMayBeForgotten) {
  EXPECT_EQ(Generalised("reduce(matmul(partition(x1, dim=1, axis=m, degree=2),"
                        " partition(x2, dim=0, axis=m, degree=2)), axis=m) <=>"
                        " matmul(x1, x2)",
                        "x1 f32[3,4], x2 f32[4,5]"),
            "reduce(matmul(partition(x, dim=a, axis=m, degree=d), partition(y, "
            "dim=a2, axis=m, degree=d)), axis=m)\n=> matmul(x, y)");
}

TEST(GeneraliseTest, OrCountFromTheEnd) {
  EXPECT_EQ(
      Generalised("add(matmul(x1, w1), matmul(x2, w2)) <=>"
                  " matmul(concat(x1, x2, axis=1), concat(w1, w2, axis=0))",
                  "x1 f32[2,4], w1 f32[4,4], x2 f32[2,4], w2 f32[4,4]"),
      "add(matmul(x, y), matmul(z, w))\n"
      "<=> matmul(concat(x, z, axis=-1), concat(y, w, axis=-2))");
}

TEST(GeneraliseTest, TwoAxesMayHaveToDiffer) {
  EXPECT_EQ(Generalised("concat(concat(x1, x2, axis=1), concat(x3, x4, axis=1),"
                        " axis=0) <=> concat(concat(x1, x3, axis=0),"
                        " concat(x2, x4, axis=0), axis=1)",
                        "x1 f32[2,4], x2 f32[2,4], x3 f32[2,4], x4 f32[2,4]"),
            "concat(concat(x, y, axis=a2), concat(z, w, axis=a2), axis=a)\n"
            "<=> concat(concat(x, z, axis=a), concat(y, w, axis=a), axis=a2)\n"
            "where a != a2");
}

TEST(GeneraliseTest, AttributesLeftAtTheirDefaultAreFreedToo) {
  EXPECT_EQ(Generalised("conv2d(i1, add(w1, w2), pad=[1 1 1 1]) <=>"
                        " add(conv2d(i1, w1, pad=[1 1 1 1]),"
                        " conv2d(i1, w2, pad=[1 1 1 1]))",
                        "i1 f32[2,4,5,5], w1 f32[4,4,3,3], w2 f32[4,4,3,3]"),
            "conv2d(x, add(y, z), pad=p, stride=s, dilation=d, group=g)\n"
            "<=> add(conv2d(x, y, pad=p, stride=s, dilation=d, group=g), "
            "conv2d(x, z, pad=p, stride=s, dilation=d, group=g))");
}

// More filters need a concat of them, which groups do not allow.
TEST(GeneraliseTest, WhatMustStayStays) {
  const std::string rule = Generalised(
      "concat(conv2d(i1, w1, pad=[1 1 1 1]), conv2d(i1, w2, pad=[1 1 1 1]),"
      " axis=1) <=> conv2d(i1, concat(w1, w2, axis=0), pad=[1 1 1 1])",
      "i1 f32[2,4,5,5], w1 f32[4,4,3,3], w2 f32[4,4,3,3]");
  EXPECT_TRUE(absl::StrContains(rule, "axis=1)")) << rule;
  EXPECT_TRUE(absl::StrContains(rule, "axis=0)")) << rule;
  EXPECT_TRUE(absl::StrContains(rule, "stride=s")) << rule;
  EXPECT_FALSE(absl::StrContains(rule, "group")) << rule;
}

// Two convolutions side by side are one with two groups, if they have as many
// filters: TASO's rules 99, 100, 130 and 131 do not ask.
TEST(GeneraliseTest, AccidentsOfSizesBecomeConditions) {
  const std::string rule = Generalised(
      "concat(conv2d(i1, w1, pad=[1 1 1 1]), conv2d(i2, w2, pad=[1 1 1 1]),"
      " axis=1) <=> conv2d(concat(i1, i2, axis=1), concat(w1, w2, axis=0),"
      " pad=[1 1 1 1], group=2)",
      "i1 f32[2,4,5,5], w1 f32[4,4,3,3], i2 f32[2,4,5,5], w2 f32[4,4,3,3]");
  EXPECT_TRUE(absl::EndsWith(rule, "where dim(y, 0) == dim(w, 0)")) << rule;
}

TEST(GeneraliseTest, FalseCandidatesAreRefused) {
  const std::string x = "x1 f32[2,4], x2 f32[2,4]";
  for (const char* body : {
           "mul(x2, relu(x1)) <=> add(add(x2, mul(x1, x2)),"
           " mul(x1, mul(x1, x2)))",
           "relu(x1) <=> add(mul(x1, x1), add(x1, x2))",
           "relu(add(x1, x2)) <=> add(relu(x1), relu(x2))",
           "mul(x1, x2) <=> x2",
       }) {
    EXPECT_EQ(Generalised(body, x), "refused") << body;
  }
}

TEST(GeneraliseTest, ALeafWithoutATypeIsAnError) {
  const auto rule =
      Generalise(Make("add(x1, x2) <=> add(x2, x1)", "x1 f32[2]"), {});
  EXPECT_FALSE(rule.ok());
  EXPECT_EQ(rule.status().message(), "candidate: there is no leaf 'x2'");
}

bool FoldsText(const std::string& body) {
  auto rule = ir::ParseRuleBody(body);
  EXPECT_TRUE(rule.ok()) << rule.status();
  return rule.ok() && Folds(*rule);
}

TEST(FoldTest, MergesOfSiblingsFold) {
  EXPECT_TRUE(FoldsText(
      "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1))"
      " in slice(m, axis=-1, from=0, to=dim(y, -1)),"
      " slice(m, axis=-1, from=dim(y, -1), to=end)"));
}

TEST(FoldTest, OthersDoNot) {
  EXPECT_FALSE(
      FoldsText("matmul(x, add(y, z)) => add(matmul(x, y),"
                " matmul(x, z))"));
  EXPECT_FALSE(FoldsText("add(x, y), mul(x, y) => add(y, x), mul(y, x)"));
  EXPECT_FALSE(FoldsText("relu(x), exp(y) => let c = relu(x) in c, exp(y)"));
}

TEST(TrialTest, CasesFailOnTheirOwn) {
  auto rules = ir::ReadRuleBody("concat(x, y, axis=0) => concat(y, x, axis=0)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  for (const CaseTrial& t : TryCases((*rules)[0])) {
    EXPECT_TRUE(t.failure.has_value());
    EXPECT_TRUE(t.solid);
  }
  rules = ir::ReadRuleBody("add(x, y) => add(y, x)");
  ASSERT_TRUE(rules.ok());
  EXPECT_FALSE(FindFailure((*rules)[0]).has_value());
}

// A transposed matrix has its one case with the condition and without; other
// ranks, sizes or sides are other trials.
TEST(FaresTest, TrialsOfTheSameCasesAreSharedAndOfNoOthers) {
  Fares fares(1);
  auto trials = [&](const std::string& text) {
    auto rules = ir::ReadRuleBody(text);
    EXPECT_TRUE(rules.ok()) << rules.status();
    return &fares.Trials((*rules)[0], {});
  };
  const std::string flat =
      "transpose(x, perm=[1 0]) => transpose(x, perm=[1 0])";
  EXPECT_EQ(trials(flat), trials(flat + " where rank(x) == 2"));
  EXPECT_NE(trials(flat), trials(flat + " where dim(x, 0) == dim(x, 1)"));
  EXPECT_NE(trials(flat), trials("transpose(x, perm=[1 0]) => x"));
  const std::string any = "relu(x) => x";
  EXPECT_NE(trials(any), trials(any + " where rank(x) == 2"));
  EXPECT_NE(trials(any + " where rank(x) == 1"),
            trials(any + " where rank(x) == 2"));
  EXPECT_NE(trials(any), trials(any + " where positive(x)"));
  EXPECT_TRUE((*trials(any))[0].failure.has_value());
  EXPECT_FALSE((*trials(any + " where positive(x)"))[0].failure.has_value());
}

// In the field alone relu is a pick by hash; integers see its sign.
TEST(TrialTest, OrderIsSeen) {
  auto rules = ir::ReadRuleBody("relu(x) => max(x, 1)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_TRUE(FindFailure((*rules)[0]).has_value());
  rules = ir::ReadRuleBody("relu(x) => x where positive(x)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_FALSE(FindFailure((*rules)[0]).has_value());
}

}  // namespace
}  // namespace isomer::gen

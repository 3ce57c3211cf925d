// Attribute expressions at numbers: values, and what has none.
#include "graph/rule_value.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/rule.h"

namespace isomer::ir {
namespace {

// A rule that brings the integers i and j and the list p, and says `condition`.
Rule With(absl::string_view condition) {
  auto rules = ReadRuleBody(
      absl::StrCat("slice(pad(x, begin=p, end=p), axis=0, from=i, to=j) => "
                   "slice(pad(x, begin=p, end=p), axis=0, from=i, to=j) where ",
                   condition));
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules->front();
}

struct Values {
  int64_t i = 7, j = -2;
  std::vector<int64_t> p = {1, 2};
  TensorType x = {DType::kF32, {4, 6}};
};

template <class Use>
auto InContext(const Rule& rule, const Values& values, Use use) {
  std::vector<std::optional<Attr>> attrs;
  for (const RuleVariable& v : rule.attrs()) {
    if (v.name == "i") attrs.push_back(Attr(values.i));
    if (v.name == "j") attrs.push_back(Attr(values.j));
    if (v.name == "p") attrs.push_back(Attr(values.p));
  }
  auto type = [&](RuleOperand) { return &values.x; };
  return use(ValueContext<int64_t>{attrs, type, nullptr});
}

std::string Value(absl::string_view text, const Values& values = {}) {
  const Rule rule = With(absl::StrCat(text, " != [99 99 99]"));
  auto value = InContext(rule, values, [&](const auto& context) {
    return EvalValue<int64_t>(rule.where()[0].left, context);
  });
  if (!value.ok()) return std::string(value.status().message());
  return AttrText<int64_t>(*value);
}

TEST(RuleValueTest, Arithmetic) {
  EXPECT_EQ(Value("i + 2 * j - 1"), "2");
  EXPECT_EQ(Value("floordiv(j, 3)"), "-1");
  EXPECT_EQ(Value("mod(j, 3)"), "1");
  EXPECT_EQ(Value("(i + 1) / 4"), "2");
  EXPECT_EQ(Value("-i"), "-7");
  EXPECT_EQ(Value("dim(x, -1) * rank(x)"), "12");
}

TEST(RuleValueTest, ListsGoElementByElement) {
  EXPECT_EQ(Value("p + 1"), "[2 3]");
  EXPECT_EQ(Value("2 * p"), "[2 4]");
  EXPECT_EQ(Value("p - [0 (i - 6)]"), "[1 1]");
  EXPECT_EQ(Value("-p"), "[-1 -2]");
  EXPECT_EQ(Value("range(1, 4)"), "[1 2 3]");
  EXPECT_EQ(Value("range(4, 1)"), "[]");
}

TEST(RuleValueTest, WhatHasNoValue) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Value("i / 2"), "2 does not divide 7");
  EXPECT_EQ(Value("floordiv(i, j + 2)"), "division by zero");
  EXPECT_EQ(Value("p + [1 2 3]"), "lists [1 2] and [1 2 3] differ in length");
  EXPECT_EQ(Value("i + 1", {.i = kMax}), "a value leaves 64 bits");
  EXPECT_EQ(Value("i * i", {.i = kMax}), "a value leaves 64 bits");
  EXPECT_EQ(Value("floordiv(i, j)", {.i = kMin, .j = -1}),
            "a value leaves 64 bits");
  EXPECT_EQ(Value("mod(i, j)", {.i = kMin, .j = -1}), "0");
  EXPECT_EQ(Value("-i", {.i = kMin}), "a value leaves 64 bits");
  EXPECT_EQ(Value("dim(x, i)"), "there is no dimension 7 in f32[4,6]");
  EXPECT_EQ(Value("range(0, i)", {.i = 1000}),
            "range(0, 1000) is longer than 64");
}

bool Holds(absl::string_view text, const Values& values = {}) {
  const Rule rule = With(text);
  auto holds = InContext(rule, values, [&](const auto& context) {
    return isomer::ir::Holds(rule.where()[0], context);
  });
  EXPECT_TRUE(holds.ok()) << holds.status();
  return holds.ok() && *holds;
}

TEST(RuleValueTest, Conditions) {
  EXPECT_TRUE(Holds("i == 7"));
  EXPECT_FALSE(Holds("i != 7"));
  EXPECT_TRUE(Holds("j < i"));
  EXPECT_FALSE(Holds("i <= j"));
  EXPECT_TRUE(Holds("i >= 7"));
  EXPECT_FALSE(Holds("i > 7"));
  EXPECT_TRUE(Holds("j divides dim(x, 0)"));
  EXPECT_FALSE(Holds("i divides dim(x, 0)"));
  EXPECT_FALSE(Holds("i divides j", {.i = 0}));
}

TEST(RuleValueTest, ConditionsOnListsSpeakOfAllElements) {
  EXPECT_TRUE(Holds("p == [1 2]"));
  EXPECT_FALSE(Holds("p == 1"));
  EXPECT_TRUE(Holds("p == 1", {.p = {1, 1}}));
  EXPECT_TRUE(Holds("p != 1"));
  EXPECT_FALSE(Holds("p != 1", {.p = {1, 1}}));
  EXPECT_TRUE(Holds("p >= 1"));
  EXPECT_FALSE(Holds("p >= 2"));
}

}  // namespace
}  // namespace isomer::ir

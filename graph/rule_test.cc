// Checked rules: what they say about sizes, and what is refused, with its
// place.
#include "graph/rule.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::ir {
namespace {

std::string Types(const Rule& rule, const RuleCase& c) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < c.tensors.size(); ++i) {
    parts.push_back(
        absl::StrCat(rule.tensors()[i], ":", TypeText(c.tensors[i])));
  }
  for (size_t i = 0; i < c.attrs.size(); ++i) {
    parts.push_back(
        absl::StrCat(rule.attrs()[i].name, "=", AttrText<DimExpr>(c.attrs[i])));
  }
  std::string s = absl::StrJoin(parts, " ");
  for (RuleOperand o : rule.target().outputs) {
    absl::StrAppend(&s, " -> ", TypeText(c.target[o.node].types[o.output]));
  }
  for (const Obligation& o : c.facts) {
    absl::StrAppend(&s, " given ", ObligationText(o));
  }
  for (const Obligation& o : c.obligations) {
    absl::StrAppend(&s, " if ", ObligationText(o));
  }
  return s;
}

// The cases of a rule, one to a line; or the error.
std::string Cases(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  if (!rules.ok()) return std::string(rules.status().message());
  std::string s;
  for (const RuleCase& c : (*rules)[0].cases()) {
    absl::StrAppend(&s, Types((*rules)[0], c), "\n");
  }
  return s;
}

std::string Error(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  return rules.ok() ? "no error" : std::string(rules.status().message());
}

TEST(RuleTest, SizesOfBothSidesBecomeTheSameSymbols) {
  EXPECT_EQ(Cases("matmul(x, matmul(y, z)) => matmul(matmul(x, y), z) "
                  "where rank(x) == 3"),
            "x:f32[x.0,x.1,y.0] y:f32[y.0,z.0] z:f32[z.0,z.1] -> "
            "f32[x.0,x.1,z.1]\n"
            "x:f32[y.0,x.1,y.1] y:f32[y.0,y.1,z.0] z:f32[z.0,z.1] -> "
            "f32[y.0,x.1,z.1]\n"
            "x:f32[z.0,x.1,y.1] y:f32[z.0,y.1,z.1] z:f32[z.0,z.1,z.2] -> "
            "f32[z.0,x.1,z.2]\n");
}

TEST(RuleTest, SlicesOfAConcatHaveTheSizesOfItsParts) {
  EXPECT_EQ(Cases("matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, "
                  "z, axis=-1)) in slice(m, axis=-1, from=0, to=dim(y, -1)), "
                  "slice(m, axis=-1, from=dim(y, -1), to=end) "
                  "where rank(x) == 2"),
            "x:f32[x.0,z.0] y:f32[z.0,y.1] z:f32[z.0,z.1] -> f32[x.0,y.1] -> "
            "f32[x.0,z.1] if y.1 >= 0 if z.1 >= 0\n");
}

TEST(RuleTest, DivisionsAreTakenApart) {
  EXPECT_EQ(Cases("reshape(x, shape=[dim(x, 0) g (dim(x, 1) / g)]) => "
                  "reshape(x, shape=[dim(x, 0) g (dim(x, 1) / g)])"
                  " where rank(x) == 2"),
            "x:f32[x.0,g*x.1'] g=g -> f32[x.0,g,x.1'] given x.0 >= 0 given g "
            ">= 0 given x.1' >= 0 given g*x.1' >= 0\n");
}

TEST(RuleTest, AxesAreNumbers) {
  EXPECT_EQ(Cases("concat(relu(x), relu(y), axis=a) => "
                  "relu(concat(x, y, axis=a)) where rank(x) == 2"),
            "x:f32[x.0,y.1] y:f32[y.0,y.1] a=0 -> f32[x.0 + y.0,y.1]\n"
            "x:f32[y.0,x.1] y:f32[y.0,y.1] a=1 -> f32[y.0,x.1 + y.1]\n");
}

TEST(RuleTest, OtherElementTypesAreTriedWhereFloatsDoNotType) {
  EXPECT_EQ(Cases("where(c, x, x) => x where rank(x) == 1"),
            "c:bool[x.0] x:f32[x.0] -> f32[x.0]\n");
  EXPECT_EQ(Cases("not(not(x)) => x where rank(x) == 0"),
            "x:bool[] -> bool[]\n");
}

TEST(RuleTest, WordsAndFloats) {
  EXPECT_EQ(Cases("pad(x, begin=b, end=e, value=v, mode=constant) => "
                  "pad(x, begin=b, end=e, value=v) where rank(x) == 1"),
            "x:f32[x.0] b=[b.0] e=[e.0] v=0 -> f32[b.0 + e.0 + x.0] given b.0 "
            ">= 0 given e.0 >= 0\n");
}

std::string NumericsText(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  if (!rules.ok()) return std::string(rules.status().message());
  return rules->front().numerics() == Numerics::kExact ? "exact"
                                                       : "reassociating";
}

TEST(RuleTest, RulesThatOnlyMoveElementsAreExact) {
  EXPECT_EQ(NumericsText("slice(concat(x, y, axis=a), axis=a, from=0, "
                         "to=dim(x, a)) => x"),
            "exact");
  EXPECT_EQ(NumericsText("matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)"),
            "reassociating");
  EXPECT_EQ(NumericsText("relu(relu(x)) => relu(x)"), "reassociating");
}

std::string SymmetriesText(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  if (!rules.ok()) return std::string(rules.status().message());
  std::string s;
  for (const Symmetry& m : rules->front().symmetries()) {
    absl::StrAppend(&s, absl::StrJoin(m.outputs, ""), "/",
                    absl::StrJoin(m.tensors, ""), "/",
                    absl::StrJoin(m.attrs, ""), " ");
  }
  return s;
}

TEST(RuleTest, Symmetries) {
  EXPECT_EQ(SymmetriesText("add(x, y) => add(y, x)"), "0/10/ ");
  EXPECT_EQ(SymmetriesText("add(x, y) => sub(x, neg(y))"), "");
  EXPECT_EQ(SymmetriesText("matmul(x, y), matmul(x, z) => let m = matmul(x, "
                           "concat(y, z, axis=-1)) in slice(m, axis=-1, "
                           "from=0, to=dim(y, -1)), slice(m, axis=-1, "
                           "from=dim(y, -1), to=end)"),
            "10/021/ ");
  EXPECT_EQ(SymmetriesText("add(add(x, y), z) => add(x, add(y, z))"), "");
  EXPECT_EQ(SymmetriesText("add(mul(x, z), mul(y, z)) => mul(add(x, y), z)"),
            "0/210/ ");
}

TEST(RuleTest, NamesMustBeBound) {
  EXPECT_EQ(Error("relu(x) => add(x, y)"),
            "1:19: variable 'y' is not bound: the source does not have it");
  EXPECT_EQ(Error("relu(x) =>\n  transpose(x, perm=p)"),
            "2:21: variable 'p' is not bound: the source does not have it, and "
            "no choose brings it");
  EXPECT_EQ(Error("relu(x) => relu(x) where dim(y, 0) == 1"),
            "1:26: variable 'y' is not bound: the source does not have it");
  EXPECT_EQ(Error("x => relu(x)"),
            "1:1: a source must be an operator: a bare variable or number "
            "matches everything");
  EXPECT_EQ(Error("identity(x) <=> x"),
            "1:17: a source must be an operator: a bare variable or number "
            "matches everything [read from right to left]");
  EXPECT_EQ(Error("concat(x, axis=x) => x"),
            "1:16: 'x' is both a tensor and an attribute");
  EXPECT_EQ(Error("relu(x) => let x = relu(x) in x"),
            "1:16: 'x' is bound already");
  EXPECT_EQ(Error("relu(x) => choose x in 1..2: x"),
            "1:12: 'x' is bound already: choose must bring a new variable");
  EXPECT_EQ(Error("choose e in 1..2: relu(x) => x"),
            "1:1: a source cannot choose: only the target may");
  EXPECT_EQ(Error("relu(x) => reshape(x, shape=x)"),
            "1:29: 'x' is a tensor, not an attribute");
  EXPECT_EQ(Error("concat(x, axis=a) => a"),
            "1:22: 'a' is an attribute, not a tensor");
}

TEST(RuleTest, OperatorsMustBeKnownAndWellFormed) {
  EXPECT_EQ(Error("relu(x) => no_such(x)"),
            "1:12: there is no operator 'no_such'");
  EXPECT_EQ(Error("no_such(x) => x"), "1:1: there is no operator 'no_such'");
  EXPECT_EQ(Error("relu(x, y) => x"), "1:1: relu: takes 1 inputs, given 2");
  EXPECT_EQ(Error("concat(axis=0) => x"),
            "1:1: concat: takes 1 or more inputs, given 0");
  EXPECT_EQ(Error("concat(x, y) => x"),
            "1:1: concat: attribute 'axis' is missing");
  EXPECT_EQ(Error("matmul(x, y, axis=1) => x"),
            "1:19: matmul: no attribute 'axis'; it has none");
  EXPECT_EQ(Error("concat(x, axis=0, axis=1) => x"),
            "1:24: concat: attribute 'axis' is given twice");
  EXPECT_EQ(Error("concat(x, y, [0 1], [1 2]) => x"),
            "1:21: concat: more lists than attributes");
  EXPECT_EQ(Error("relu(x).1 => x"), "1:1: relu: has no output 1");
  EXPECT_EQ(Error("relu(x), relu(x) => x, x"),
            "1:10: the source has this output twice");
  EXPECT_EQ(Error("relu(x) => relu(x), x"),
            "1:12: the source has 1 outputs, the target 2");
  EXPECT_EQ(Error("slice(x, axes=a, from=[0], to=[end]) => x"),
            "1:32: 'end' stands for the size of a sliced dimension: the call "
            "must list its axes one by one");
}

TEST(RuleTest, ASourceMustBeSolvable) {
  EXPECT_EQ(Error("slice(x, axis=0, from=f + g, to=4) => x"),
            "1:25: a source cannot be solved for 'f', 'g' at once: one unbound "
            "variable to an expression");
  EXPECT_EQ(Error("slice(x, axis=0, from=f * f, to=4) => x"),
            "1:25: a source cannot be solved for 'f': it is not linear in it");
  EXPECT_EQ(Error("slice(x, axis=0, from=mod(f, 2), to=4) => x"),
            "1:23: a source cannot be solved for 'f': it is not linear in it");
}

TEST(RuleTest, SidesMustType) {
  EXPECT_EQ(Error("relu(x) => reduce_sum(x, axes=[0])"),
            "1:12: output 0 is f32[x.0] in the source and f32[] in the target "
            "(no ranks up to 5 type both sides)");
  EXPECT_EQ(Error("add(relu(x), slice(x, axis=0, from=0, to=dim(x, 0) + 1)) "
                  "=> x"),
            "1:14: slice: to is past the dimension (x.0 is below x.0 + 1): "
            "f32[x.0] with axes=[0], from=[0], to=[(x.0 + 1)], step=[] (no "
            "ranks up to 5 type both sides)");
  EXPECT_EQ(Error("relu(0.5) => relu(1)"),
            "1:6: the type of a literal comes from the operand beside it or "
            "the output it stands for; here is neither (no ranks up to 5 type "
            "both sides)");
  EXPECT_EQ(Error("relu(x) => relu(x) where rank(x) == 9"),
            "1:26: a condition does not hold: 1 and 9 (no ranks up to 5 type "
            "both sides)");
}

TEST(RuleTest, CheckingIsBounded) {
  auto syntax = ParseRuleBody(
      "transpose(transpose(transpose(x, perm=p), perm=q), perm=r) => "
      "transpose(x, perm=[9])");
  ASSERT_TRUE(syntax.ok());
  auto rule = Rule::Create(*syntax, false, Ops(), {.steps = 1000});
  EXPECT_TRUE(absl::IsResourceExhausted(rule.status())) << rule.status();
  // What was found before the end is kept, lower ranks first.
  syntax = ParseRuleBody(
      "transpose(transpose(x, perm=p), perm=q) => "
      "transpose(transpose(x, perm=p), perm=q)");
  ASSERT_TRUE(syntax.ok());
  rule = Rule::Create(*syntax, false, Ops(), {.steps = 300});
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_TRUE(rule->Covers({2}, {Attr(std::vector<int64_t>{1, 0}),
                                 Attr(std::vector<int64_t>{0, 1})}));
  EXPECT_FALSE(rule->Covers({5}, {Attr(std::vector<int64_t>{4, 3, 2, 1, 0}),
                                  Attr(std::vector<int64_t>{4, 3, 2, 1, 0})}));
}

TEST(RuleTest, FilesNameTheRuleOfAnError) {
  auto set = ReadRules(
      "rule good: relu(relu(x)) => relu(x)\n\n"
      "rule bad: relu(x) => y\n");
  EXPECT_EQ(set.status().message(),
            "3:22: variable 'y' is not bound: the source does not have it "
            "[rule bad]");
}

TEST(RuleTest, BothWaysGiveTwoRules) {
  auto set = ReadRules(
      "# Comment.\nrule assoc: add(add(x, y), z) <=> add(x, add(y, z))\n"
      "fold assoc\n");
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->rules.size(), 2u);
  EXPECT_EQ(PrintRule(set->rules[0].syntax()),
            "# Comment.\nrule assoc: add(add(x, y), z) => add(x, add(y, z))");
  EXPECT_EQ(PrintRule(set->Find("assoc'")->syntax()),
            "# Comment.\nrule assoc: add(x, add(y, z)) => add(add(x, y), z)");
  EXPECT_EQ(set->folds, std::vector<std::string>{"assoc"});
  EXPECT_EQ(set->Find("other"), nullptr);
}

}  // namespace
}  // namespace isomer::ir

// Rules as text: what parses prints canonically and parses back to the same
// tree; what does not parse is refused at the right place.
#include "graph/rule_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace isomer::ir {
namespace {

// The canonical text of a file after checking that it reads back to the same
// tree; or the error.
std::string Canonical(absl::string_view text) {
  auto file = ParseRuleFile(text);
  if (!file.ok()) return std::string(file.status().message());
  const std::string printed = PrintRuleFile(*file);
  auto again = ParseRuleFile(printed);
  if (!again.ok()) return "not read back: " + again.status().ToString();
  EXPECT_TRUE(*again == *file) << printed;
  EXPECT_EQ(PrintRuleFile(*again), printed);
  return printed;
}

std::string CanonicalBody(absl::string_view text) {
  auto rule = ParseRuleBody(text);
  if (!rule.ok()) return std::string(rule.status().message());
  const std::string printed = PrintRule(*rule);
  auto again = ParseRuleBody(printed);
  if (!again.ok()) return "not read back: " + again.status().ToString();
  EXPECT_TRUE(*again == *rule) << printed;
  return printed;
}

TEST(RuleSyntaxTest, PrintsAsTheDesignWritesIt) {
  constexpr absl::string_view kText =
      R"(# Two products with the same left factor become one wider product.
rule merge_matmuls:
  matmul(x, y), matmul(x, z)
  => let m = matmul(x, concat(y, z, axis=-1)) in
     slice(m, axis=-1, from=0, to=dim(y, -1)), slice(m, axis=-1, from=dim(y, -1), to=end)

fold merge_matmuls

rule enlarge_kernel:
  conv2d(x, w, stride=s, pad=p, dilation=1, group=g)
  => choose e in 1..3:
     conv2d(x, pad(w, [0 0 e e], [0 0 e e]), stride=s, pad=p + e, dilation=1, group=g)

rule matmul_assoc: matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)

# The end.
)";
  EXPECT_EQ(Canonical(kText), kText);
}

TEST(RuleSyntaxTest, IndentationAndLinesAreFree) {
  EXPECT_EQ(Canonical("rule\nr\n:\n relu(\nx)\n=>max(x,0)"),
            "rule r: relu(x) => max(x, 0)\n");
}

TEST(RuleSyntaxTest, CommentsInsideARuleGoToItsHead) {
  EXPECT_EQ(Canonical("# a\n\n\n#b\nrule r: f(x) # c\n => g(x)\n# d"),
            "# a\n\n# b\n# c\nrule r: f(x) => g(x)\n\n# d\n");
  EXPECT_EQ(Canonical("rule r: f(x) => g(x) # of s\nrule s: f(x) => h(x)"),
            "rule r: f(x) => g(x)\n\n# of s\nrule s: f(x) => h(x)\n");
  EXPECT_EQ(Canonical("# head\n\n\nrule r: f(x) => g(x)"),
            "# head\n\nrule r: f(x) => g(x)\n");
  EXPECT_EQ(Canonical("# nothing else\n\n"), "# nothing else\n");
  EXPECT_EQ(Canonical(""), "");
}

TEST(RuleSyntaxTest, ValuesKeepTheirStructure) {
  EXPECT_EQ(CanonicalBody("f(x, a=(b + c) - (d - 1) * -2) => x"),
            "f(x, a=b + c - (d - 1) * -2) => x");
  EXPECT_EQ(CanonicalBody("f(x, a=b / (c / d) / e, g=-(h+1)) => x"),
            "f(x, a=b / (c / d) / e, g=-(h + 1)) => x");
  EXPECT_EQ(CanonicalBody("f(x, a=[0 -1 (b+1) c (d) -e dim(x, -1) end]) => x"),
            "f(x, a=[0 -1 (b + 1) c d -e dim(x, -1) end]) => x");
  EXPECT_EQ(CanonicalBody("f(x, axes=range(1, rank(x)), m=mod(a, 2)) => x"),
            "f(x, axes=range(1, rank(x)), m=mod(a, 2)) => x");
  EXPECT_EQ(CanonicalBody("f(x, e=1e-5, g=2.0, h=-inf, t=f16) => x"),
            "f(x, e=1e-05, g=2.0, h=-inf, t=f16) => x");
  EXPECT_EQ(CanonicalBody("f(x, p=p + [1 2]) => f(x, p=floordiv(p, [2 2]))"),
            "f(x, p=p + [1 2]) => f(x, p=floordiv(p, [2 2]))");
}

TEST(RuleSyntaxTest, OperandsMayBeNumbers) {
  EXPECT_EQ(CanonicalBody("mul(x, -0.5) => real(dim(x, 0))"),
            "mul(x, -0.5) => real(dim(x, 0))");
  EXPECT_EQ(CanonicalBody("max(x, -inf) => min(2, x)"),
            "max(x, -inf) => min(2, x)");
}

TEST(RuleSyntaxTest, OutputsAreNumbered) {
  EXPECT_EQ(CanonicalBody("topk(x, k=k).1, topk(x, k=k).0 => "
                          "let t = topk(x, k=k) in t.1, t"),
            "topk(x, k=k).1, topk(x, k=k)\n=> let t = topk(x, k=k) in\n   "
            "t.1, t");
}

TEST(RuleSyntaxTest, OperatorsMayBeCalledLikeWords) {
  EXPECT_EQ(CanonicalBody("where(c, x, x) => x where const(c), 2 divides n"),
            "where(c, x, x) => x where const(c), 2 divides n");
  EXPECT_EQ(CanonicalBody("mod(x, y) => range()"), "mod(x, y) => range()");
}

TEST(RuleSyntaxTest, ConditionsAreAClosedSet) {
  EXPECT_EQ(CanonicalBody("f(x, a=a) => x where a == 1, a != b, dim(x, 0) < 2,"
                          "1 <= a, a >= 0, a > rank(x), positive(x), "
                          "finite(x)"),
            "f(x, a=a)\n=> x\nwhere a == 1, a != b, dim(x, 0) < 2, 1 <= a, "
            "a >= 0, a > rank(x), positive(x), finite(x)");
}

TEST(RuleSyntaxTest, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_EQ(Canonical("relu(x) => x"),
            "1:1: expected 'rule' or 'fold', found 'relu'");
  EXPECT_EQ(Canonical("rule : f(x) => x"),
            "1:6: expected the name of the rule, found ':'");
  EXPECT_EQ(Canonical("rule let: f(x) => x"),
            "1:6: expected the name of the rule; 'let' is a word of the "
            "language");
  EXPECT_EQ(Canonical("rule r f(x) => x"), "1:8: expected ':', found 'f'");
  EXPECT_EQ(Canonical("rule r:\n  f(x) -> x"),
            "2:8: expected ',', '=>' or '<=>', found '-'");
  EXPECT_EQ(Canonical("rule r: f(x) =>"),
            "1:16: expected an operator, a variable or a number, found the "
            "end of the text");
  EXPECT_EQ(Canonical("rule r: f(x => x"),
            "1:13: expected ',' or ')', found '=>'");
  EXPECT_EQ(Canonical("rule r: f(a=1, x) => x"),
            "1:16: expected an attribute: operands come before attributes, "
            "found 'x'");
  EXPECT_EQ(Canonical("rule r: f(x, a=[1, 2]) => x"),
            "1:18: expected an item of the list or ']', found ','");
  EXPECT_EQ(Canonical("rule r: f(x, a=) => x"),
            "1:16: expected a value, found ')'");
  EXPECT_EQ(Canonical("rule r: f(-x) => x"),
            "1:12: expected a number after '-', found 'x'");
  EXPECT_EQ(Canonical("rule r: f(x) => let y = x g(y)"),
            "1:27: expected 'in', found 'g'");
  EXPECT_EQ(Canonical("rule r: f(x) => choose e in 1..3 g(x)"),
            "1:34: expected ':', found 'g'");
  EXPECT_EQ(Canonical("rule r: f(x) => choose e in 1: g(x)"),
            "1:30: expected '..', found ':'");
  EXPECT_EQ(Canonical("rule r: f(x) => x where a"),
            "1:26: expected '==', '!=', '<', '<=', '>', '>=' or 'divides', "
            "found the end of the text");
  EXPECT_EQ(Canonical("rule r: f(x) => x where const(1)"),
            "1:31: expected a tensor variable, found '1'");
  EXPECT_EQ(Canonical("rule r: f(x).y => x"),
            "1:14: expected the number of an output, found 'y'");
}

TEST(RuleSyntaxTest, NamesAreUniqueAndFoldsFollowTheirRule) {
  EXPECT_EQ(Canonical("rule r: f(x) => x\nrule r: g(x) => x"),
            "2:6: there are two rules called 'r'");
  EXPECT_EQ(Canonical("fold r\nrule r: f(x) => x"),
            "1:6: no rule 'r' comes before its fold");
}

TEST(RuleSyntaxTest, DeepAndLongTextsAreRefused) {
  std::string deep = "rule r: ";
  for (int i = 0; i < 100000; ++i) deep += "f(";
  EXPECT_EQ(Canonical(deep), "1:209: nested more than 100 deep");
  std::string parentheses = "rule r: f(x, a=";
  for (int i = 0; i < 100000; ++i) parentheses += "(";
  EXPECT_EQ(Canonical(parentheses), "1:115: nested more than 100 deep");
  std::string sum = "rule r: f(x, a=1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_EQ(Canonical(sum),
            "1:2017: more than 1000 arithmetic signs in one rule");
}

TEST(RuleSyntaxTest, ABodyIsOneRule) {
  EXPECT_EQ(CanonicalBody("f(x) => x rule"),
            "1:11: expected the end of the rule, found 'rule'");
}

}  // namespace
}  // namespace isomer::ir

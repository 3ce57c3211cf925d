// Rules in text are derived from rules in text; the steps are compared as
// text. What does not follow must not be derived: rules that are false, rules
// that hold at special sizes alone, rules that need more steps than allowed.
#include "xfer_gen/derive.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_join.h"
#include "graph/rule.h"
#include "xfer_gen/derive_theory.h"

namespace isomer::gen {
namespace {

Theory Read(const std::string& text) {
  Theory theory;
  auto file = ir::ParseRuleFile(text);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return theory;
  const absl::Status s = theory.AddFile(*file);
  EXPECT_TRUE(s.ok()) << s;
  return theory;
}

// The steps, "instance of NAME", "nothing to do", or "no".
std::string Derived(const std::string& body, const Theory& theory,
                    const DeriveLimits& limits = {}) {
  auto rules = ir::ReadRuleBody(body);
  EXPECT_TRUE(rules.ok()) << rules.status();
  if (!rules.ok()) return "";
  const auto d = DeriveRule((*rules)[0], theory, limits);
  if (!d) return "no";
  if (d->steps() == 0) return "nothing to do";
  const std::string steps = absl::StrJoin(StepNames(*d, theory), " ");
  return d->whole ? "instance of " + steps : steps;
}

constexpr char kAlgebra[] = R"(
rule assoc: add(add(x, y), z) <=> add(x, add(y, z))
rule factor: add(mul(x, z), mul(y, z)) <=> mul(add(x, y), z)
rule dist: matmul(x, add(y, z)) <=> add(matmul(x, y), matmul(x, z))
rule mm: matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)
)";

TEST(DeriveTest, InstancesUpToNamesOrderAndDirection) {
  const Theory t = Read(kAlgebra);
  EXPECT_EQ(Derived("add(a, add(b, c)) => add(add(a, b), c)", t),
            "instance of assoc");
  EXPECT_EQ(Derived("matmul(a, matmul(b, c)) => matmul(matmul(a, b), c)", t),
            "instance of mm");
  EXPECT_EQ(Derived("matmul(matmul(a, b), c) => matmul(a, matmul(b, c))", t),
            "instance of mm'");
  EXPECT_EQ(Derived("add(c, add(b, a)) => add(b, add(c, a))", t),
            "instance of assoc");
  EXPECT_EQ(Derived("mul(w, add(u, v)) => add(mul(v, w), mul(w, u))", t),
            "instance of factor'");
  EXPECT_EQ(Derived("add(a, b) => add(b, a)", t), "nothing to do");
}

TEST(DeriveTest, ATermInPlaceOfAVariableIsAnInstance) {
  const Theory t = Read(kAlgebra);
  EXPECT_EQ(Derived("matmul(relu(x), add(y, exp(z))) => "
                    "add(matmul(relu(x), y), matmul(relu(x), exp(z)))",
                    t),
            "instance of dist");
}

TEST(DeriveTest, StepsAreNamedFromSourceToTarget) {
  const Theory t = Read(kAlgebra);
  EXPECT_EQ(Derived("relu(matmul(x, add(y, z))) => "
                    "relu(add(matmul(x, y), matmul(x, z)))",
                    t),
            "dist");
  EXPECT_EQ(Derived("let t = matmul(x, y) in add(t, matmul(t, z)) => "
                    "matmul(x, add(y, matmul(y, z)))",
                    t),
            "mm' dist'");
}

TEST(DeriveTest, TheLimitOnStepsCounts) {
  const Theory t = Read(kAlgebra);
  const std::string four =
      "add(add(add(a, b), c), add(d, e)) => add(e, add(a, add(c, add(d, b))))";
  EXPECT_NE(Derived(four, t), "no");
  DeriveLimits two;
  two.steps = 2;
  EXPECT_EQ(Derived(four, t, two), "no");
  DeriveLimits few;
  few.graphs = 3;
  EXPECT_EQ(Derived(four, t, few), "no");
}

TEST(DeriveTest, FalseRulesAreNotDerived) {
  const Theory t = Read(kAlgebra);
  for (const char* body : {
           "matmul(x, add(y, z)) => add(matmul(x, y), matmul(x, y))",
           "add(mul(x, z), mul(y, z)) => mul(add(x, z), y)",
           "matmul(matmul(x, y), z) => matmul(matmul(x, z), y)",
           "add(x, mul(y, z)) => mul(add(x, y), z)",
           "relu(add(x, y)) => add(relu(x), relu(y))",
       }) {
    EXPECT_EQ(Derived(body, t), "no") << body;
  }
}

// A rule for operands of equal size says nothing about others.
TEST(DeriveTest, SizesThatHappenToAgreeDoNotCount) {
  const Theory t = Read(
      "rule equal: relu(concat(x, y, axis=0)) <=>"
      " concat(relu(x), relu(y), axis=0) where dim(x, 0) == dim(y, 0)");
  const std::string body =
      "relu(concat(x, y, axis=0)) => concat(relu(x), relu(y), axis=0)";
  EXPECT_EQ(Derived(body, t), "no");
  EXPECT_EQ(Derived(body + " where dim(y, 0) == dim(x, 0)", t),
            "instance of equal");
}

// A rule for matrices says nothing about tensors of rank 3.
TEST(DeriveTest, EveryRankMustFollow) {
  const Theory t = Read(
      "rule flat: relu(concat(x, y, axis=0)) <=>"
      " concat(relu(x), relu(y), axis=0) where rank(x) == 2");
  EXPECT_EQ(Derived("relu(concat(x, y, axis=0)) =>"
                    " concat(relu(x), relu(y), axis=0) where rank(x) == 2",
                    t),
            "instance of flat");
  EXPECT_EQ(Derived("relu(concat(x, y, axis=0)) =>"
                    " concat(relu(x), relu(y), axis=0)",
                    t),
            "no");
}

TEST(DeriveTest, ConditionsOfTheRulesUsedAreChecked) {
  const Theory t = Read(
      "rule even: reshape(reshape(x, shape=s), shape=t) => reshape(x, shape=t)"
      " where rank(x) == 2\n"
      "rule positive: relu(x) => x where positive(x)");
  EXPECT_EQ(Derived("relu(x) => x", t), "no");
}

TEST(DeriveTest, DetoursVanishFirst) {
  Theory t;
  ASSERT_TRUE(t.AddStated().ok());
  EXPECT_EQ(Derived("identity(identity(identity(relu(identity(x))))) => "
                    "identity(relu(x))",
                    t),
            "identity_axiom_1 identity_axiom_1 identity_axiom_1 "
            "identity_axiom_1 identity_axiom_1'");
}

TEST(DeriveTest, ExpansionsAreSteps) {
  Theory t = Read(kAlgebra);
  ASSERT_TRUE(t.AddStated().ok());
  EXPECT_EQ(Derived("silu(x) => mul(sigmoid(x), x)", t),
            "instance of silu_expansion");
}

TEST(TheoryTest, ARuleThatIsNoneIsNamed) {
  Theory t;
  auto file = ir::ParseRuleFile("rule bad: matmul(x, y) => nothing(x)");
  ASSERT_TRUE(file.ok());
  const absl::Status s = t.AddFile(*file);
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.message().substr(0, 10), "rule bad: ") << s;
  EXPECT_TRUE(t.equations().empty());
}

}  // namespace
}  // namespace isomer::gen

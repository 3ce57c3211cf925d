// Rules that hold for all sizes and rules that do not, as text.
#include "verify/prover.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace isomer::verify {
namespace {

Proof ProofOf(const std::string& text) {
  auto rules = ir::ReadRuleBody(text);
  if (!rules.ok()) {
    ADD_FAILURE() << text << ": " << rules.status();
    return {};
  }
  return Prove((*rules)[0], {});
}

class Holds : public testing::TestWithParam<const char*> {};

TEST_P(Holds, ForAllSizes) {
  const Proof proof = ProofOf(GetParam());
  EXPECT_TRUE(proof.proved) << proof.reason;
  EXPECT_GT(proof.cases, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Structure, Holds,
    testing::Values(
        "transpose(transpose(x, perm=[1 0]), perm=[1 0]) => x",
        "slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x",
        "concat(concat(x, y, axis=a), z, axis=a) => "
        "concat(x, concat(y, z, axis=a), axis=a)",
        "reshape(reshape(x, shape=[4 3]), shape=[2 6]) => "
        "reshape(x, shape=[2 6])",
        "slice(pad(x, [p 0], [q 0]), axis=0, from=p, to=p + dim(x, 0)) => x "
        "where rank(x) == 2",
        "concat(concat(x, y, axis=0), concat(z, w, axis=0), axis=1) => "
        "concat(concat(x, z, axis=1), concat(y, w, axis=1), axis=0)"));

INSTANTIATE_TEST_SUITE_P(
    Algebra, Holds,
    testing::Values(
        "matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)",
        "transpose(matmul(x, y), perm=[1 0]) => "
        "matmul(transpose(y, perm=[1 0]), transpose(x, perm=[1 0]))",
        "matmul(x, eye(shape=[dim(x, 1) dim(x, 1)])) => x where rank(x) == 2",
        "add(matmul(x, y), matmul(z, w)) => "
        "matmul(concat(x, z, axis=1), concat(y, w, axis=0)) "
        "where rank(x) == 2",
        "reduce_sum(add(x, y), axes=[0]) => "
        "add(reduce_sum(x, axes=[0]), reduce_sum(y, axes=[0]))",
        "reduce_mean(x, axes=[a]) => "
        "div(reduce_sum(x, axes=[a]), real(dim(x, a)))",
        "sub(x, x) => mul(x, 0)", "pow(x, 3) => mul(mul(x, x), x)",
        "where(c, x, x) => x"));

INSTANTIATE_TEST_SUITE_P(
    Windows, Holds,
    testing::Values(
        "conv2d(x, w, stride=s, pad=p, dilation=1, group=g) => "
        "choose e in 1..3: conv2d(x, pad(w, [0 0 e e], [0 0 e e]), stride=s, "
        "pad=p + e, dilation=1, group=g)",
        "concat(conv2d(x, w, group=g), conv2d(y, w, group=g), axis=0) => "
        "conv2d(concat(x, y, axis=0), w, group=g)",
        "avg_pool(concat(x, y, axis=1), kernel=[3 3], pad=[1 1 1 1]) => "
        "concat(avg_pool(x, kernel=[3 3], pad=[1 1 1 1]), "
        "avg_pool(y, kernel=[3 3], pad=[1 1 1 1]), axis=1)",
        "max_pool(concat(x, y, axis=0), kernel=[3 3], pad=[1 1 1 1]) => "
        "concat(max_pool(x, kernel=[3 3], pad=[1 1 1 1]), "
        "max_pool(y, kernel=[3 3], pad=[1 1 1 1]), axis=0)"));

// On the diagonal both indices are one; which of two groups a channel is in has
// two values; a window that is cut off at the border is not empty.
INSTANTIATE_TEST_SUITE_P(
    FewIndices, Holds,
    testing::Values(
        "mul(eye(shape=[dim(w, 0) dim(w, 1)]), transpose(w, perm=[1 0])) => "
        "mul(w, eye(shape=[dim(w, 0) dim(w, 1)]))",
        "conv2d(concat(x, x, axis=1), w, group=2) => conv2d(x, w, group=1)",
        "max_pool(relu(x), kernel=[3], pad=[1 1]) => "
        "relu(max_pool(x, kernel=[3], pad=[1 1]))"));

INSTANTIATE_TEST_SUITE_P(
    Functions, Holds,
    testing::Values(
        "relu(relu(x)) => relu(x)", "exp(add(x, y)) => mul(exp(x), exp(y))",
        "rsqrt(x) => div(1, sqrt(x))",
        "max(add(x, z), add(y, z)) => "
        "add(max(x, y), z)",
        "relu(mul(x, s)) => mul(relu(x), s) where positive(s)",
        "softmax(add(x, broadcast(y, dims=[0])), axis=1) => "
        "softmax(x, axis=1) where rank(x) == 2",
        "silu(x) => mul(x, sigmoid(x))",
        "leaky_relu(concat(x, y, axis=0), alpha=a) => "
        "concat(leaky_relu(x, alpha=a), leaky_relu(y, alpha=a), axis=0)",
        "mul(div(x, y), y) => x", "add(x, 0) => log(exp(x))"));

INSTANTIATE_TEST_SUITE_P(
    Devices, Holds,
    testing::Values(
        "combine(partition(x, dim=a, axis=m, degree=n), dim=a, axis=m) => x",
        "matmul(x, y) => choose n in 2..8: combine(matmul(partition(x, dim=0, "
        "axis=m, degree=n), replicate(y, axis=m, degree=n)), dim=0, axis=m) "
        "where rank(x) == 2",
        "matmul(x, y) => choose n in 2..8: reduce(matmul(partition(x, dim=1, "
        "axis=m, degree=n), partition(y, dim=0, axis=m, degree=n)), axis=m) "
        "where rank(x) == 2",
        "relu(partition(x, dim=a, axis=m, degree=n)) => "
        "partition(relu(x), dim=a, axis=m, degree=n)"));

struct Wrong {
  const char* rule;
  const char* reason;  // a part of it
};

class DoesNotHold : public testing::TestWithParam<Wrong> {};

TEST_P(DoesNotHold, ForAllSizes) {
  const Proof proof = ProofOf(GetParam().rule);
  EXPECT_FALSE(proof.proved);
  EXPECT_TRUE(absl::StrContains(proof.reason, GetParam().reason))
      << proof.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Values, DoesNotHold,
    testing::Values(
        Wrong{"sub(x, y) => sub(y, x)", "output 0 differs by"},
        Wrong{"matmul(x, y) => matmul(y, x)", "output 0 differs by"},
        Wrong{"transpose(x, perm=[1 0]) => x", "output 0 differs by"},
        Wrong{"relu(add(x, y)) => add(relu(x), relu(y))", "differs by"},
        Wrong{"slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => "
              "y",
              "differs by"},
        Wrong{"relu(mul(x, s)) => mul(relu(x), s)", "differs by"},
        Wrong{"max_pool(x, kernel=[2]) => avg_pool(x, kernel=[2])",
              "differs by"},
        Wrong{"leaky_relu(x, alpha=a) => leaky_relu(leaky_relu(x, alpha=a), "
              "alpha=a)",
              "differs by"},
        Wrong{"mul(x, 1) => reduce(replicate(x, axis=m, degree=2), axis=m)",
              "differs by"},
        Wrong{"matmul(x, y) => matmul(y, combine(partition(x, dim=0, axis=m, "
              "degree=2), dim=0, axis=m)) where rank(x) == 2",
              "differs by"},
        // Equal output channels are what makes it true.
        Wrong{"concat(conv2d(x, w), conv2d(y, v), axis=1) => "
              "conv2d(concat(x, y, axis=1), concat(w, v, axis=0), group=2)",
              "differs by"}));

// One of the branches alone would be true.
INSTANTIATE_TEST_SUITE_P(
    FewIndices, DoesNotHold,
    testing::Values(
        Wrong{"add(eye(shape=[dim(w, 0) dim(w, 1)]), transpose(w, perm=[1 0])) "
              "=> add(w, eye(shape=[dim(w, 0) dim(w, 1)]))",
              "-1*w[#0,#1] + 1*w[#1,#0]"},
        Wrong{"mul(eye(shape=[dim(v, 0) dim(v, 0)]), slice(v, axis=1, from=1, "
              "to=end)) => mul(eye(shape=[dim(v, 0) dim(v, 0)]), slice(v, "
              "axis=1, from=0, to=dim(v, 0))) where rank(v) == 2",
              "-1*v[#1,#1] + 1*v[#1,#1 + 1]"},
        Wrong{"conv2d(concat(x, y, axis=1), w, group=2) => "
              "conv2d(x, w, group=1)",
              "w[#8 + w.0',"},
        Wrong{"conv2d(concat(y, x, axis=1), w, group=2) => "
              "conv2d(x, w, group=1)",
              "w[#8,"},
        Wrong{"conv2d(concat(x, concat(x, y, axis=1), axis=1), w, group=3) => "
              "conv2d(x, w, group=1)",
              "w[#8 + 2*w.0',"},
        Wrong{"max_pool(relu(x), kernel=[3], pad=[1 1]) => "
              "max_pool(x, kernel=[3], pad=[1 1])",
              "differs by"}));

// The values agree wherever both sides are defined, but the target is not
// defined everywhere.
INSTANTIATE_TEST_SUITE_P(
    Domains, DoesNotHold,
    testing::Values(
        Wrong{"add(x, sub(y, y)) => div(mul(x, y), y)", "needs nonzero(1*y"},
        Wrong{"mul(x, 1) => mul(sqrt(x), sqrt(x))", "needs atleast0("},
        Wrong{"add(x, 0) => exp(log(x))", "differs by"}));

TEST(ProverTest, SaysWhichAxiomsItUsed) {
  const Proof proof = ProofOf("exp(add(x, y)) => mul(exp(x), exp(y))");
  ASSERT_TRUE(proof.proved) << proof.reason;
  EXPECT_EQ(proof.facts,
            std::vector<std::string>{"exp(a + b) = exp(a) * exp(b)"});
  EXPECT_EQ(proof.solver_calls, 0);
}

// Both directions of a rule with `<=>`, the second with what the first showed,
// and whether it had to show anything itself.
struct BothWays {
  Proof forward, backward;
  bool afresh = false;
};

BothWays ProveBothWays(const std::string& text) {
  BothWays out;
  auto rules = ir::ReadRuleBody(text);
  if (!rules.ok() || rules->size() != 2) {
    ADD_FAILURE() << text << ": " << rules.status();
    return out;
  }
  EqualCases equal;
  out.forward = Prove((*rules)[0], {.equal = &equal});
  const size_t shown = equal.size();
  out.backward = Prove((*rules)[1], {.equal = &equal});
  out.afresh = equal.size() > shown;
  return out;
}

TEST(EqualCasesTest, ValuesAreShownOnceForBothDirections) {
  for (const char* text :
       {"matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)",
        "exp(add(x, y)) <=> mul(exp(x), exp(y))",
        "conv2d(concat(x, y, axis=0), w, pad=[1 1 1 1]) <=> "
        "concat(conv2d(x, w, pad=[1 1 1 1]), conv2d(y, w, pad=[1 1 1 1]), "
        "axis=0)",
        "relu(mul(x, s)) <=> mul(relu(x), s) where positive(s)"}) {
    const BothWays proofs = ProveBothWays(text);
    EXPECT_TRUE(proofs.forward.proved) << text << proofs.forward.reason;
    EXPECT_TRUE(proofs.backward.proved) << text << proofs.backward.reason;
    EXPECT_FALSE(proofs.afresh) << text;
    EXPECT_EQ(proofs.forward.facts, proofs.backward.facts) << text;
  }
}

TEST(EqualCasesTest, WhereTheTargetIsDefinedIsAskedInEachDirection) {
  for (const char* text : {"div(mul(x, y), y) <=> add(x, sub(y, y))",
                           "mul(sqrt(x), sqrt(x)) <=> mul(x, 1)",
                           "sub(log(x), log(x)) <=> sub(x, x)"}) {
    const BothWays proofs = ProveBothWays(text);
    EXPECT_NE(proofs.forward.proved, proofs.backward.proved) << text;
    const Proof& failed =
        proofs.forward.proved ? proofs.backward : proofs.forward;
    EXPECT_TRUE(absl::StrContains(failed.reason, "the target needs"))
        << text << ": " << failed.reason;
    EXPECT_FALSE(proofs.afresh) << text;
  }
}

// The source is typed first, and takes the size that all three share from
// another tensor in each direction.
TEST(EqualCasesTest, OtherCasesAreShownAfresh) {
  const BothWays proofs = ProveBothWays(
      "matmul(x, concat(y, z, axis=1)) <=> "
      "concat(matmul(x, y), matmul(x, z), axis=1)");
  EXPECT_TRUE(proofs.forward.proved) << proofs.forward.reason;
  EXPECT_TRUE(proofs.backward.proved) << proofs.backward.reason;
  EXPECT_TRUE(proofs.afresh);
}

TEST(EqualCasesTest, WhatDiffersIsNotKnown) {
  EqualCases equal;
  auto rules = ir::ReadRuleBody("relu(mul(x, s)) <=> mul(relu(x), s)");
  auto positive =
      ir::ReadRuleBody("relu(mul(x, s)) <=> mul(relu(x), s) where positive(s)");
  ASSERT_TRUE(rules.ok() && positive.ok());
  EXPECT_TRUE(Prove((*positive)[0], {.equal = &equal}).proved);
  for (const ir::Rule& rule : *rules) {
    EXPECT_FALSE(Prove(rule, {.equal = &equal}).proved);
  }
}

TEST(EqualCasesTest, WhatIsKnownCostsItsStepsAgain) {
  auto rules =
      ir::ReadRuleBody("matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EqualCases equal;
  EXPECT_TRUE(Prove((*rules)[0], {.equal = &equal}).proved);
  const Proof proof = Prove((*rules)[1], {.steps = 3, .equal = &equal});
  EXPECT_FALSE(proof.proved);
  EXPECT_TRUE(absl::StrContains(proof.reason, "limits reached"));
}

TEST(ProverTest, StopsAtItsLimits) {
  auto rules = ir::ReadRuleBody(
      "conv2d(x, w, stride=s, pad=p, dilation=d, group=g) => "
      "conv2d(x, add(w, sub(w, w)), stride=s, pad=p, dilation=d, group=g)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  const Proof proof = Prove((*rules)[0], {.steps = 5});
  EXPECT_FALSE(proof.proved);
  EXPECT_NE(proof.reason, "");
}

TEST(ProverTest, AsksTheSolverOnlyWhatItCannotSettle) {
  int asked = 0;
  auto rules = ir::ReadRuleBody(
      "matmul(x, matmul(y, z)) => "
      "matmul(matmul(x, y), z)");
  ASSERT_TRUE(rules.ok()) << rules.status();
  const Proof proof = Prove((*rules)[0], {.solver = [&](const std::string&) {
                              ++asked;
                              return SmtAnswer::kUnknown;
                            }});
  EXPECT_TRUE(proof.proved) << proof.reason;
  EXPECT_EQ(asked, 0);
}

TEST(ProverTest, RecordsWhatItSettled) {
  auto rules = ir::ReadRuleBody(
      "slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x");
  ASSERT_TRUE(rules.ok()) << rules.status();
  const Proof proof = Prove((*rules)[0], {.record = true});
  EXPECT_TRUE(proof.proved) << proof.reason;
  ASSERT_FALSE(proof.settled.empty());
  EXPECT_TRUE(absl::StrContains(SmtText(proof.settled[0]), "(assert (not"));
}

}  // namespace
}  // namespace isomer::verify

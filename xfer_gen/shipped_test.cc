// What rules/generated.rules says: every rule is proved, other people's rules
// follow from it, and what is false does not.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/rule.h"
#include "graph/rule_pb.h"
#include "verify/refuter.h"
#include "verify/trust.h"
#include "xfer_gen/covers.h"
#include "xfer_gen/derive_theory.h"

namespace isomer::gen {
namespace {

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

ir::RuleFileSyntax File(const std::string& path) {
  auto file = ir::ParseRuleFile(Read(path));
  EXPECT_TRUE(file.ok()) << path << ": " << file.status();
  return file.ok() ? *std::move(file) : ir::RuleFileSyntax();
}

const Theory& Shipped() {
  static const Theory* const theory = [] {
    auto* t = new Theory;
    EXPECT_TRUE(t->AddStated().ok());
    EXPECT_TRUE(t->AddFile(File("rules/generated.rules")).ok());
    EXPECT_TRUE(t->AddFile(File("rules/axioms.rules")).ok());
    return t;
  }();
  return *theory;
}

TEST(Shipped, EveryRuleIsProved) {
  const ir::RuleFileSyntax file = File("rules/generated.rules");
  const verify::TrustedRules trusted = verify::TakeProved(file);
  EXPECT_TRUE(trusted.refused.empty()) << trusted.refused[0];
  EXPECT_GT(trusted.rules.rules.size(), 100);
}

TEST(Shipped, TheBinaryFileHasTheSameRules) {
  auto binary = ir::DeserializeRules(Read("rules/generated.pb"));
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_EQ(ir::PrintRuleFile(*binary), Read("rules/generated.rules"));
}

TEST(Shipped, NothingIsRefuted) {
  for (const ir::RuleItem& item : File("rules/generated.rules").items) {
    const auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    auto rule = ir::Rule::Create(*syntax);
    ASSERT_TRUE(rule.ok()) << rule.status();
    verify::RefuteOptions options;
    options.assignments = 1000;
    options.seed = 2;
    EXPECT_FALSE(verify::Refute(*rule, options).found)
        << ir::PrintRule(*syntax);
  }
}

// ---- What others write by hand

CoverReport Covered(const std::string& text, int steps) {
  auto rule = ir::ParseRuleBody(text);
  EXPECT_TRUE(rule.ok()) << rule.status() << text;
  CoverOptions options;
  options.limits = {.steps = steps, .graphs = 6000};
  return Cover(*rule, Shipped(), options);
}

class PeersTest : public testing::TestWithParam<const char*> {};

TEST_P(PeersTest, FollowInAFewSteps) {
  const CoverReport report = Covered(GetParam(), 4);
  EXPECT_TRUE(report.coverage == Coverage::kSame ||
              report.coverage == Coverage::kInstance ||
              report.coverage == Coverage::kDerived)
      << CoverageName(report.coverage) << ": " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    Rules, PeersTest,
    testing::Values(
        // Reassociation, low-rank updates, siblings.
        "matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)",
        "add(matmul(x, w), matmul(matmul(x, a), b)) => matmul(x, add(w, "
        "matmul(a, b)))",
        "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, "
        "axis=-1)) in slice(m, axis=-1, from=0, to=dim(y, -1)), slice(m, "
        "axis=-1, from=dim(y, -1), to=end)",
        "conv2d(x, w, stride=s, pad=p, dilation=d, group=1), conv2d(x, v, "
        "stride=s, pad=p, dilation=d, group=1) => let m = conv2d(x, concat(w, "
        "v, axis=0), stride=s, pad=p, dilation=d, group=1) in slice(m, "
        "axis=1, from=0, to=dim(w, 0)), slice(m, axis=1, from=dim(w, 0), "
        "to=end)",
        // Sums of convolutions, scales into their filters, larger kernels.
        "add(conv2d(x, w, stride=s, pad=p, dilation=d, group=g), conv2d(x, v, "
        "stride=s, pad=p, dilation=d, group=g)) => conv2d(x, add(w, v), "
        "stride=s, pad=p, dilation=d, group=g)",
        "mul(conv2d(x, w, stride=s, pad=p, dilation=d, group=g), broadcast(c, "
        "dims=[1])) => conv2d(x, mul(w, broadcast(c, dims=[0])), stride=s, "
        "pad=p, dilation=d, group=g)",
        "conv2d(x, w, pad=[0 0 0 0], group=1) => conv2d(x, pad(w, [0 0 1 1], "
        "[0 0 1 1]), pad=[1 1 1 1], group=1) where dim(w, 2) == 1, dim(w, 3) "
        "== 1",
        // Scales through products and into the input of softmax.
        "mul(matmul(x, y), broadcast(c, dims=[])) => matmul(mul(x, "
        "broadcast(c, dims=[])), y)",
        "softmax(mul(matmul(x, y), broadcast(c, dims=[])), axis=2) => "
        "softmax(matmul(mul(x, broadcast(c, dims=[])), y), axis=2)",
        // Transpositions.
        "transpose(matmul(x, y), perm=[1 0]) => matmul(transpose(y, perm=[1 "
        "0]), transpose(x, perm=[1 0]))",
        "transpose(add(x, y), perm=[1 0]) => add(transpose(x, perm=[1 0]), "
        "transpose(y, perm=[1 0]))",
        "transpose(relu(x), perm=[1 0]) => relu(transpose(x, perm=[1 0]))",
        "transpose(mul(x, y), perm=[1 0]) => mul(transpose(x, perm=[1 0]), "
        "transpose(y, perm=[1 0]))",
        // Joins.
        "concat(concat(x, y, axis=1), concat(z, w, axis=1), axis=0) => "
        "concat(concat(x, z, axis=0), concat(y, w, axis=0), axis=1)",
        "concat(add(x, y), add(z, w), axis=1) => add(concat(x, z, axis=1), "
        "concat(y, w, axis=1))",
        "concat(conv2d(x, w, pad=[1 1 1 1], group=1), conv2d(y, w, pad=[1 1 1 "
        "1], group=1), axis=0) => conv2d(concat(x, y, axis=0), w, pad=[1 1 1 "
        "1], group=1)"));

// Normalisation with given statistics folds into what comes before it.
INSTANTIATE_TEST_SUITE_P(
    BatchNorm, PeersTest,
    testing::Values(
        "batch_norm(conv2d(x, w, stride=s, pad=p, dilation=d, group=g), scale, "
        "bias, mean, var, epsilon=e) => let f = div(scale, sqrt(add(var, "
        "real(e)))) in add(conv2d(x, mul(w, broadcast(f, dims=[0])), stride=s, "
        "pad=p, dilation=d, group=g), broadcast(sub(bias, mul(mean, f)), "
        "dims=[1]))",
        "add(mul(conv2d(x, w, stride=s, pad=p, dilation=d, group=g), "
        "broadcast(c, dims=[1])), broadcast(b, dims=[1])) => add(conv2d(x, "
        "mul(w, broadcast(c, dims=[0])), stride=s, pad=p, dilation=d, "
        "group=g), broadcast(b, dims=[1]))"));

// Unity's: cut the batch, the columns or the rows of a linear layer, and what
// is done to each element or each row.
INSTANTIATE_TEST_SUITE_P(
    Parallel, PeersTest,
    testing::Values(
        "combine(matmul(partition(x, dim=0, axis=m, degree=d), replicate(w, "
        "axis=m, degree=d)), dim=0, axis=m) => matmul(x, w) where rank(x) == "
        "2, rank(w) == 2",
        "combine(matmul(replicate(x, axis=m, degree=d), partition(w, dim=1, "
        "axis=m, degree=d)), dim=1, axis=m) => matmul(x, w) where rank(x) == "
        "2, rank(w) == 2",
        "reduce(matmul(partition(x, dim=1, axis=m, degree=d), partition(w, "
        "dim=0, axis=m, degree=d)), axis=m) => matmul(x, w) where rank(x) == "
        "2, rank(w) == 2",
        "relu(matmul(x, w)) => combine(relu(matmul(replicate(x, axis=m, "
        "degree=4), partition(w, dim=1, axis=m, degree=4))), dim=1, axis=m) "
        "where rank(x) == 2, rank(w) == 2",
        "add(x, y) => combine(add(partition(x, dim=1, axis=m, degree=2), "
        "partition(y, dim=1, axis=m, degree=2)), dim=1, axis=m) where rank(x) "
        "== 2, rank(y) == 2",
        "relu(x) => combine(relu(partition(x, dim=0, axis=m, degree=2)), "
        "dim=0, axis=m) where rank(x) == 2",
        "softmax(x, axis=1) => combine(softmax(partition(x, dim=0, axis=m, "
        "degree=2), axis=1), dim=0, axis=m) where rank(x) == 2",
        "concat(x, y, axis=0) => combine(concat(partition(x, dim=1, axis=m, "
        "degree=2), partition(y, dim=1, axis=m, degree=2), axis=0), dim=1, "
        "axis=m) where rank(x) == 2, rank(y) == 2"));

// Heads of attention are batches.
INSTANTIATE_TEST_SUITE_P(
    Heads, PeersTest,
    testing::Values(
        "concat(matmul(q, k), matmul(r, l), axis=0) => matmul(concat(q, r, "
        "axis=0), concat(k, l, axis=0)) where rank(q) == 3, rank(k) == 3, "
        "rank(r) == 3, rank(l) == 3",
        "concat(matmul(softmax(matmul(q, k), axis=2), v), "
        "matmul(softmax(matmul(r, l), axis=2), u), axis=0) => "
        "matmul(softmax(matmul(concat(q, r, axis=0), concat(k, l, axis=0)), "
        "axis=2), concat(v, u, axis=0)) where rank(q) == 3, rank(k) == 3, "
        "rank(v) == 3, rank(r) == 3, rank(l) == 3, rank(u) == 3"));

// What search uses follows from what was found, but for what is written by
// hand: that says why, and does not follow.
TEST(Shipped, ChosenRulesFollow) {
  int chosen = 0;
  for (const ir::RuleItem& item : File("rules/chosen.rules").items) {
    const auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    ++chosen;
    CoverOptions options;
    options.limits = {.steps = 8, .graphs = 100'000};
    EXPECT_NE(CoverageName(Cover(*rule, Shipped(), options).coverage),
              "missing")
        << rule->name;
  }
  EXPECT_GT(chosen, 30);
}

TEST(Shipped, HandWrittenRulesSayWhy) {
  int by_hand = 0;
  for (const ir::RuleItem& item : File("rules/hand_written.rules").items) {
    const auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    ++by_hand;
    EXPECT_TRUE(
        absl::StrContains(absl::StrJoin(rule->comments, " "), "By hand: "))
        << rule->name;
    CoverOptions options;
    options.limits = {.steps = 2, .graphs = 500};
    EXPECT_EQ(CoverageName(Cover(*rule, Shipped(), options).coverage),
              "missing")
        << rule->name;
  }
  EXPECT_GT(by_hand, 0);
}

// ---- What must not follow

class FalseTest : public testing::TestWithParam<const char*> {};

TEST_P(FalseTest, DoNotFollow) {
  EXPECT_EQ(CoverageName(Covered(GetParam(), 6).coverage), "missing")
      << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    Rules, FalseTest,
    testing::Values(
        // relu taken for a polynomial.
        "relu(add(x, y)) => add(relu(x), relu(y))",
        "mul(relu(x), y) => relu(mul(x, y))",
        "mul(y, relu(x)) => add(y, add(mul(x, y), mul(x, mul(x, y))))",
        // Cut along what is summed over and put side by side; rows that are
        // joined under a softmax over them.
        "combine(matmul(partition(x, dim=1, axis=m, degree=2), partition(w, "
        "dim=0, axis=m, degree=2)), dim=1, axis=m) => concat(matmul(x, w), "
        "matmul(x, w), axis=1) where rank(x) == 2, rank(w) == 2",
        "concat(softmax(x, axis=1), softmax(y, axis=1), axis=1) => "
        "softmax(concat(x, y, axis=1), axis=1) where rank(x) == 2",
        // Depthwise convolutions that are taken for others, a factor that
        // vanishes, groups that are mixed up, pools that change places.
        "concat(conv2d(x, w, pad=[1 1 1 1], group=4), conv2d(x, v, pad=[1 1 1 "
        "1], group=4), axis=1) => conv2d(x, concat(w, v, axis=0), pad=[1 1 1 "
        "1], group=4)",
        "add(conv2d(x, w, pad=[1 1 1 1], group=4), conv2d(x, v, pad=[1 1 1 1], "
        "group=4)) => conv2d(x, concat(w, v, axis=1), pad=[1 1 1 1], group=2)",
        "mul(conv2d(x, w, pad=[1 1 1 1]), y) => conv2d(x, w, pad=[1 1 1 1])",
        "conv2d(concat(x, y, axis=1), concat(w, v, axis=0), group=2) => "
        "concat(conv2d(x, v, group=1), conv2d(y, w, group=1), axis=1)",
        "avg_pool(max_pool(x, kernel=[3 3], pad=[1 1 1 1]), kernel=[3 3], "
        "pad=[1 1 1 1], count_include_pad=1) => max_pool(avg_pool(x, "
        "kernel=[3 3], pad=[1 1 1 1], count_include_pad=1), kernel=[3 3], "
        "pad=[1 1 1 1])"));

}  // namespace
}  // namespace isomer::gen

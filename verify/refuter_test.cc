// Rules that are wrong, each with the counterexample it must get, and rules
// that are true and must not be refuted; the rule files of other systems where
// they are there.
#include "verify/refuter.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "graph/foreign_rules.h"
#include "gtest/gtest.h"

namespace isomer::verify {
namespace {

ir::Rule ReadOne(const std::string& text) {
  auto rules = ir::ReadRuleBody(text);
  EXPECT_TRUE(rules.ok()) << rules.status() << "\n" << text;
  return (*std::move(rules))[0];
}

std::string RuleFile(const std::string& name) {
  const char* shared = std::getenv("ISOMER_SHARED");
  std::ifstream in(absl::StrCat(shared == nullptr ? "../shared" : shared,
                                "/data/rule_files/", name, ".pb"),
                   std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The rules of a file that are refuted, by their place in it.
std::set<int> Refuted(const std::string& bytes) {
  std::set<int> out;
  auto rules = ir::ReadForeignRules(bytes);
  EXPECT_TRUE(rules.ok()) << rules.status();
  absl::Duration total;
  int64_t tried = 0;
  for (const ir::ForeignRule& r : *rules) {
    if (!r.rule) continue;
    auto rule = ir::Rule::Create(*r.rule);
    EXPECT_TRUE(rule.ok()) << rule.status();
    const absl::Time start = absl::Now();
    const Refutation result = Refute(*rule, {});
    total += absl::Now() - start;
    tried += result.assignments;
    EXPECT_GE(result.assignments, 1) << ir::PrintRule(*r.rule);
    if (!result.found) continue;
    out.insert(r.index);
    const absl::Status replay = Replay(*rule, *result.found);
    EXPECT_TRUE(replay.ok()) << replay;
  }
  std::printf("%zu rules, %d assignments, %.3f ms a rule\n", rules->size(),
              static_cast<int>(tried),
              absl::ToDoubleMilliseconds(total) / rules->size());
  return out;
}

TEST(RefuterFilesTest, ShippedRules) {
  const std::string bytes = RuleFile("taso_shipped_133");
  if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no rule files";
  EXPECT_EQ(Refuted(bytes), (std::set<int>{99, 100, 130, 131}));
}

TEST(RefuterFilesTest, GeneratedRules) {
  const std::string bytes = RuleFile("taso_generator_full_depth3_619");
  if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no rule files";
  EXPECT_EQ(Refuted(bytes), (std::set<int>{150, 386, 387, 440, 441, 442, 443,
                                           487, 488, 494, 495}));
}

TEST(RefuterFilesTest, UnitysRules) {
  const std::string bytes = RuleFile("unity_640");
  if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no rule files";
  EXPECT_EQ(Refuted(bytes), (std::set<int>{273, 420, 427, 436, 444, 502, 561}));
}

// ---- One rule at a time

// The counterexample as text; "" if there is none.
std::string Counter(const std::string& text) {
  const ir::Rule rule = ReadOne(text);
  const Refutation r = Refute(rule, {});
  EXPECT_GE(r.assignments, 1) << text;
  if (!r.found) return "";
  const absl::Status replay = Replay(rule, *r.found);
  EXPECT_TRUE(replay.ok()) << replay << "\n" << text;
  return ToText(rule, *r.found);
}

TEST(RefuterTest, CounterexamplesAreSmall) {
  EXPECT_EQ(Counter("add(x, y) => sub(x, y)"),
            "with\n  x: f32[] = 0\n  y: f32[] = 1\n"
            "the source gives 1\nthe target gives -1\n");
  EXPECT_EQ(Counter("log(mul(x, y)) => add(log(x), log(y))"),
            "with\n  x: f32[] = -1\n  y: f32[] = -1\n"
            "the source gives 0\nthe target gives nan\n");
  EXPECT_EQ(Counter("slice(slice(x, axis=0, from=f, to=t), axis=0, from=g, "
                    "to=h) => slice(x, axis=0, from=g, to=h) "
                    "where rank(x) == 1"),
            "with\n  x: f32[2] = [0 1]\n  f = 1\n  t = 2\n  g = 0\n  h = 1\n"
            "the source gives [1]\nthe target gives [0]\n");
  EXPECT_EQ(Counter("relu(x), neg(x) => relu(x), x where rank(x) == 0"),
            "with\n  x: f32[] = 1\nthe source (output 1) gives -1\n"
            "the target (output 1) gives 1\n");
}

TEST(RefuterTest, WrongOnlyAtTheBorder) {
  EXPECT_NE(Counter("less(x, y) => not(less(y, x))"), "");
  EXPECT_NE(Counter("mul(x, y) => div(mul(x, mul(y, y)), y)"), "");
  EXPECT_NE(Counter("sqrt(mul(x, x)) => x"), "");
  EXPECT_NE(Counter("abs(x) => div(mul(x, x), abs(x))"), "");
}

TEST(RefuterTest, WrongOnlyAtSomeSizes) {
  EXPECT_NE(Counter("reduce_sum(x, axes=[0]) => reduce_mean(x, axes=[0])"), "");
  EXPECT_NE(Counter("transpose(x, perm=[1 0]) => "
                    "reshape(x, shape=[dim(x, 1) dim(x, 0)])"),
            "");
  EXPECT_NE(Counter("leaky_relu(x, alpha=a) => leaky_relu(x, alpha=0.01)"), "");
}

// Keyed functions disagree about some of these; no number does.
TEST(RefuterTest, TrueRulesAreNotRefuted) {
  for (const char* text :
       {"rsqrt(x) => div(1, sqrt(x))", "relu(relu(x)) => relu(x)",
        "silu(x) => mul(x, sigmoid(x))", "sub(x, x) => 0", "div(x, x) => 1",
        "mul(x, 0) => 0", "mul(div(x, y), y) => x",
        "mul(sqrt(x), sqrt(x)) => x", "exp(log(x)) => x",
        "tanh(neg(x)) => neg(tanh(x))",
        "log(mul(x, y)) => add(log(x), log(y)) where positive(x), positive(y)",
        "sqrt(mul(x, x)) => x where positive(x)",
        "mul(x, y) => div(mul(x, mul(y, y)), y) where positive(y)",
        "max(x, y) => neg(min(neg(x), neg(y)))",
        "softmax(x, axis=1) => div(exp(x), broadcast(reduce_sum(exp(x), "
        "axes=[1]), dims=[0])) where rank(x) == 2",
        "less(x, y) => greater(y, x)",
        "sigmoid(x) => add(mul(tanh(mul(x, 0.5)), 0.5), 0.5)"}) {
    const std::string counter = Counter(text);
    EXPECT_TRUE(counter.empty() || counter == "suspicious") << text << "\n"
                                                            << counter;
  }
}

TEST(ReplayTest, RefusesWhatIsNoCounterexample) {
  const ir::Rule rule = ReadOne("add(x, y) => sub(x, y)");
  Counterexample e = *Refute(rule, {}).found;
  ASSERT_TRUE(Replay(rule, e).ok());
  Counterexample agrees = e;
  for (Tensor& t : agrees.values) {
    t.data = std::vector<double>(t.size(), 0.0);
  }
  EXPECT_EQ(Replay(rule, agrees).message(),
            "rule : both sides agree at the counterexample's values");
  Counterexample short_of_one = e;
  short_of_one.values.pop_back();
  EXPECT_FALSE(Replay(rule, short_of_one).ok());
  Counterexample ill_typed = e;
  ill_typed.tensors[0].shape = {2};
  EXPECT_FALSE(Replay(rule, ill_typed).ok());
}

}  // namespace
}  // namespace isomer::verify

// What our rules make of others: each outcome on a small case, then the files
// of other systems, where they are at hand, with the rules known to be false.
#include "xfer_gen/covers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/foreign_rules.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {
namespace {

CoverOptions Options() {
  CoverOptions options;
  options.refute = [](const ir::Rule& rule) { return FindFailure(rule); };
  return options;
}

std::string Covered(const std::string& body, const Theory& ours) {
  auto rule = ir::ParseRuleBody(body);
  EXPECT_TRUE(rule.ok()) << rule.status();
  if (!rule.ok()) return "";
  const CoverReport r = Cover(*rule, ours, Options());
  std::string out(CoverageName(r.coverage));
  if (!r.steps.empty()) {
    absl::StrAppend(&out, ": ", absl::StrJoin(r.steps, " "));
  }
  return out;
}

Theory Ours() {
  Theory theory;
  auto file = ir::ParseRuleFile(R"(
rule assoc: matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)
rule dist: matmul(x, add(y, z)) <=> add(matmul(x, y), matmul(x, z))
rule relu_of_concat: concat(relu(x), relu(y), axis=a) <=> relu(concat(x, y, axis=a))
rule first: slice(concat(x, y, axis=a), axis=a, from=0, to=dim(x, a)) => x
)");
  EXPECT_TRUE(file.ok() && theory.AddFile(*file).ok());
  return theory;
}

TEST(CoversTest, Same) {
  const Theory t = Ours();
  EXPECT_EQ(Covered("matmul(matmul(a, b), c) => matmul(a, matmul(b, c))", t),
            "same: assoc'");
  EXPECT_EQ(
      Covered("add(matmul(a, c), matmul(a, b)) => matmul(a, add(b, c))", t),
      "same: dist'");
}

TEST(CoversTest, Instance) {
  const Theory t = Ours();
  EXPECT_EQ(Covered("relu(concat(x, y, axis=1)) =>"
                    " concat(relu(x), relu(y), axis=1)",
                    t),
            "instance: relu_of_concat'");
  EXPECT_EQ(Covered("matmul(x, matmul(x, x)) => matmul(matmul(x, x), x)", t),
            "instance: assoc");
}

TEST(CoversTest, Derived) {
  EXPECT_EQ(Covered("let t = matmul(x, y) in add(t, matmul(t, z)) =>"
                    " matmul(x, add(y, matmul(y, z)))",
                    Ours()),
            "derived: assoc' dist'");
}

TEST(CoversTest, FalseOnesHaveACounterexample) {
  const Theory t = Ours();
  EXPECT_EQ(Covered("matmul(x, y) => matmul(y, x)", t), "false");
  EXPECT_EQ(Covered("mul(x, relu(y)) => add(x, mul(x, y))", t), "false");
  auto rule = ir::ParseRuleBody("add(x, y) => mul(x, y)");
  ASSERT_TRUE(rule.ok());
  const CoverReport r = Cover(*rule, t, Options());
  EXPECT_TRUE(absl::StrContains(r.reason, "source")) << r.reason;
  EXPECT_TRUE(absl::StrContains(r.reason, "target")) << r.reason;
}

TEST(CoversTest, IllFormedOnesHaveAReason) {
  auto rule = ir::ParseRuleBody("matmul(x, y) => matmul(x, z)");
  ASSERT_TRUE(rule.ok());
  const CoverReport r = Cover(*rule, Ours(), Options());
  EXPECT_EQ(CoverageName(r.coverage), "ill_formed");
  EXPECT_TRUE(absl::StrContains(r.reason, "z")) << r.reason;
}

TEST(CoversTest, MissingIsSaidPlainly) {
  EXPECT_EQ(Covered("matmul(add(x, y), z) => add(matmul(x, z), matmul(y, z))",
                    Ours()),
            "missing");
}

// ---- Other systems' files

std::string RuleFile(const std::string& name) {
  const char* shared = std::getenv("ISOMER_SHARED");
  if (shared == nullptr) return "";
  std::ifstream in(absl::StrCat(shared, "/data/rule_files/", name, ".pb"),
                   std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Known {
  const char* file;
  std::set<int> wrong;  // rules that are false as written
};

class CoversFileTest : public testing::TestWithParam<Known> {};

TEST_P(CoversFileTest, FalseOnesAreThoseKnown) {
  const std::string bytes = RuleFile(GetParam().file);
  if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no $ISOMER_SHARED/data";
  auto rules = ir::ReadForeignRules(bytes);
  ASSERT_TRUE(rules.ok()) << rules.status();
  const Theory none;
  std::set<int> wrong;
  for (const ir::ForeignRule& r : *rules) {
    if (!r.rule) continue;
    if (Cover(*r.rule, none, Options()).coverage == Coverage::kFalse) {
      wrong.insert(r.index);
    }
  }
  EXPECT_EQ(wrong, GetParam().wrong);
}

INSTANTIATE_TEST_SUITE_P(
    Files, CoversFileTest,
    testing::Values(Known{"taso_shipped_133", {99, 100, 130, 131}},
                    Known{"taso_generator_full_depth3_619",
                          {150, 386, 387, 440, 441, 442, 443, 487, 488, 494,
                           495}},
                    Known{"unity_640", {273, 420, 427, 436, 444, 502, 561}}));

}  // namespace
}  // namespace isomer::gen

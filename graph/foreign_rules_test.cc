// Other systems' rules: the files at hand are read whole, a few of their rules
// are compared with their known text, and all of them with their meaning: both
// sides run in the field on random instances. Files that are wrong are refused
// with the rule and the reason. The rule files are not part of the project:
// they are looked for in $ISOMER_SHARED/data/rule_files.
#include "graph/foreign_rules.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/foreign_wire.h"
#include "graph/instance.h"
#include "graph/rule.h"
#include "gtest/gtest.h"

namespace isomer::ir {
namespace {

constexpr char kShipped[] = "taso_shipped_133";
constexpr char kGenerated[] = "taso_generator_full_depth3_619";
constexpr char kUnity[] = "unity_640";

std::string RuleFile(const std::string& name) {
  const char* shared = std::getenv("ISOMER_SHARED");
  std::ifstream in(absl::StrCat(shared == nullptr ? "../shared" : shared,
                                "/data/rule_files/", name, ".pb"),
                   std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

#define SKIP_WITHOUT(bytes)                                          \
  if ((bytes).empty()) {                                             \
    GTEST_SKIP() << "SKIPPED: no rule files in $ISOMER_SHARED/data/" \
                    "rule_files";                                    \
  }

std::vector<ForeignRule> Read(const std::string& bytes) {
  auto rules = ReadForeignRules(bytes);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : std::vector<ForeignRule>();
}

std::vector<RuleSyntax> Imported(const std::vector<ForeignRule>& rules) {
  std::vector<RuleSyntax> out;
  for (const ForeignRule& r : rules) {
    if (r.rule) out.push_back(*r.rule);
  }
  return out;
}

// ---- The files

struct Expected {
  const char* file;
  size_t rules, rejected;
};

class ForeignFileTest : public testing::TestWithParam<Expected> {};

TEST_P(ForeignFileTest, EveryRuleIsImportedOrHasAReason) {
  const std::string bytes = RuleFile(GetParam().file);
  SKIP_WITHOUT(bytes);
  EXPECT_TRUE(IsForeignRules(bytes));
  const std::vector<ForeignRule> rules = Read(bytes);
  EXPECT_EQ(rules.size(), GetParam().rules);
  size_t rejected = 0;
  for (const ForeignRule& r : rules) {
    EXPECT_EQ(r.rule.has_value(), r.rejected.empty());
    if (r.rule) {
      const std::string text = PrintRule(*r.rule);
      auto parsed = ParseRuleFile(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
      EXPECT_EQ(std::get<RuleSyntax>(parsed->items[0]), *r.rule) << text;
      continue;
    }
    ++rejected;
    EXPECT_TRUE(absl::StrContains(r.rejected, "which the source does not bind"))
        << r.index << ": " << r.rejected;
  }
  EXPECT_EQ(rejected, GetParam().rejected);
}

INSTANTIATE_TEST_SUITE_P(Files, ForeignFileTest,
                         testing::Values(Expected{kShipped, 133, 0},
                                         Expected{kGenerated, 619, 0},
                                         Expected{kUnity, 640, 112}));

// ---- Meaning

std::map<std::string, Tensor> RandomInputs(const Graph& graph,
                                           std::mt19937_64& random) {
  std::map<std::string, Tensor> out;
  for (NodeId id : graph.inputs()) {
    const TensorType& type = graph.type({id, 0});
    std::vector<double> values(NumElements(type));
    for (double& v : values) v = (static_cast<int>(random() % 33) - 16) / 4.0;
    out.emplace(*graph.node(id).name,
                FromDoubles(type, values, Interp::kField));
  }
  return out;
}

enum class Verdict { kNone, kAgrees, kDiffers };

Verdict Compare(const Rule& rule, uint64_t seed) {
  std::mt19937_64 random(seed);
  Verdict verdict = Verdict::kNone;
  const size_t stride = std::max<size_t>(1, rule.cases().size() / 4);
  for (size_t i = 0; i < rule.cases().size(); i += stride) {
    for (int n = 0; n < 6; ++n) {
      auto instance = MakeInstance(rule, rule.cases()[i], random);
      if (!instance.ok()) break;
      const auto inputs = RandomInputs(instance->source, random);
      auto x = Evaluate(instance->source, inputs, {.interp = Interp::kField});
      auto y = Evaluate(instance->target, inputs, {.interp = Interp::kField});
      EXPECT_TRUE(x.ok()) << rule.name() << ": " << x.status();
      EXPECT_TRUE(y.ok()) << rule.name() << ": " << y.status();
      if (!x.ok() || !y.ok()) return Verdict::kNone;
      for (size_t k = 0; k < x->size(); ++k) {
        if ((*x)[k].data != (*y)[k].data) return Verdict::kDiffers;
      }
      verdict = Verdict::kAgrees;
    }
  }
  return verdict;
}

// The rules whose sides differ, and how many were compared.
std::set<int> Differing(const char* file, int* compared) {
  std::set<int> differing;
  for (const ForeignRule& r : Read(RuleFile(file))) {
    if (!r.rule) continue;
    auto rule = Rule::Create(*r.rule);
    EXPECT_TRUE(rule.ok()) << rule.status();
    if (!rule.ok()) continue;
    const Verdict verdict = Compare(*rule, 7 + r.index);
    if (verdict == Verdict::kNone) {
      std::printf("%s: no instance of rule %d\n%s", file, r.index,
                  PrintRule(*r.rule).c_str());
    }
    *compared += verdict != Verdict::kNone;
    if (verdict == Verdict::kDiffers) differing.insert(r.index);
  }
  std::printf("%s: %d rules compared, %zu differ:", file, *compared,
              differing.size());
  for (int i : differing) std::printf(" %d", i);
  std::printf("\n");
  return differing;
}

TEST(ForeignMeaningTest, ShippedRules) {
  SKIP_WITHOUT(RuleFile(kShipped));
  int compared = 0;
  EXPECT_EQ(Differing(kShipped, &compared), (std::set<int>{99, 100, 130, 131}));
  EXPECT_EQ(compared, 133);
}

TEST(ForeignMeaningTest, GeneratedRules) {
  SKIP_WITHOUT(RuleFile(kGenerated));
  int compared = 0;
  EXPECT_EQ(
      Differing(kGenerated, &compared),
      (std::set<int>{150, 386, 387, 440, 441, 442, 443, 487, 488, 494, 495}));
  EXPECT_EQ(compared, 619);
}

TEST(ForeignMeaningTest, UnitysRules) {
  SKIP_WITHOUT(RuleFile(kUnity));
  int compared = 0;
  EXPECT_EQ(Differing(kUnity, &compared),
            (std::set<int>{273, 427, 444, 502, 561}));
  EXPECT_EQ(compared, 528);
}

TEST(ForeignWriteTest, X) {
  for (const char* file : {kShipped, kGenerated}) {
    const std::string bytes = RuleFile(file);
    SKIP_WITHOUT(bytes);
    const std::vector<RuleSyntax> rules = Imported(Read(bytes));
    std::vector<std::string> not_expressible;
    auto written = WriteForeignRules(rules, &not_expressible);
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(not_expressible, std::vector<std::string>());
    EXPECT_EQ(Imported(Read(*written)), rules);
  }
}

}  // namespace
}  // namespace isomer::ir

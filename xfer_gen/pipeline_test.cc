// From a preset to a file of rules: the same bytes with any number of threads,
// nothing refuted, and nothing lost by pruning.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "graph/rule.h"
#include "graph/rule_pb.h"
#include "verify/refuter.h"
#include "xfer_gen/derive.h"
#include "xfer_gen/generate.h"
#include "xfer_gen/minimise.h"
#include "xfer_gen/presets.h"

namespace isomer::gen {
namespace {

// Small enough for three steps in a moment; a tensor that equals a smaller one
// turns up in several ways.
constexpr absl::string_view kTiny = R"(
leaf x(2): f32[b,c]
weight w(2): f32[c,c]
sizes b=2 c=4
sizes b=3 c=5
template matmul(a, b): matmul(a, b)
template add(a, b): add(a, b)
template relu(a): relu(a)
template transpose(a): transpose(a, perm=[1 0])
template concat(a, b) joins 1: concat(a, b, axis=1)
template split(a) parts 1:
  slice(a, axis=1, from=0, to=seam), slice(a, axis=1, from=seam, to=end)
)";

std::string TextOf(const std::string& preset) {
  if (preset == "tiny") return std::string(kTiny);
  for (const PresetText& p : AllPresets()) {
    if (p.name == preset) return std::string(p.text);
  }
  ADD_FAILURE() << "no preset " << preset;
  return "";
}

Generated Found(int depth, int threads, bool prune, const std::string& name) {
  auto preset = ParsePreset(name, TextOf(name));
  EXPECT_TRUE(preset.ok()) << preset.status();
  GenerateOptions options;
  options.enumerate.depth = depth;
  options.enumerate.threads = threads;
  options.enumerate.prune = prune;
  auto found = Generate(*preset, options);
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

std::vector<Candidate> Candidates(int depth, int threads) {
  return Found(depth, threads, true, "tiny").candidates;
}

ir::RuleFileSyntax Rules(const std::vector<Candidate>& candidates,
                         int threads = 1) {
  MinimiseOptions options;
  options.threads = threads;
  auto rules = Minimise(candidates, options);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules->file;
}

TEST(Pipeline, SameBytesWithAnyNumberOfThreads) {
  const ir::RuleFileSyntax one = Rules(Candidates(2, 1));
  const ir::RuleFileSyntax two = Rules(Candidates(2, 2), 2);
  const ir::RuleFileSyntax three = Rules(Candidates(2, 3), 3);
  EXPECT_GE(one.items.size(), 8);
  EXPECT_EQ(ir::PrintRuleFile(one), ir::PrintRuleFile(two));
  EXPECT_EQ(ir::SerializeRules(one), ir::SerializeRules(three));
}

TEST(Pipeline, NothingEmittedIsRefuted) {
  int tried = 0;
  for (const ir::RuleItem& item : Rules(Candidates(2, 1)).items) {
    const auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    auto rule = ir::Rule::Create(*syntax);
    ASSERT_TRUE(rule.ok()) << rule.status() << ir::PrintRule(*syntax);
    verify::RefuteOptions options;
    options.assignments = 1000;
    const verify::Refutation refutation = verify::Refute(*rule, options);
    EXPECT_FALSE(refutation.found) << ir::PrintRule(*syntax);
    tried += refutation.assignments;
  }
  EXPECT_GE(tried, 3000);
}

// What is found when tensors that equal smaller ones are extended too follows
// from what is found without that.
class Pruning : public testing::TestWithParam<std::string> {};

TEST_P(Pruning, LosesNothing) {
  const Generated pruned = Found(3, 2, true, GetParam());
  const Generated all = Found(3, 2, false, GetParam());
  EXPECT_GT(all.stats.enumerated.graphs, pruned.stats.enumerated.graphs);
  Theory theory;
  ASSERT_TRUE(theory.AddFile(Rules(pruned.candidates, 2)).ok());
  int rules = 0;
  for (const ir::RuleItem& item : Rules(all.candidates, 2).items) {
    const auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    auto rule = ir::Rule::Create(*syntax);
    ASSERT_TRUE(rule.ok()) << rule.status();
    EXPECT_TRUE(DeriveRule(*rule, theory, {.steps = 6}))
        << ir::PrintRule(*syntax);
    ++rules;
  }
  EXPECT_GT(rules, 8);
}

INSTANTIATE_TEST_SUITE_P(Presets, Pruning,
                         testing::Values("tiny", "taso-2d-small"),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param, {{"-", "_"}});
                         });

}  // namespace
}  // namespace isomer::gen

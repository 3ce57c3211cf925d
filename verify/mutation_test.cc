// Nothing false gets through: thousands of variants of proved rules, each with
// one thing changed. What is proved must hold on all small shapes; of what does
// not, nearly everything must be refuted, with a counterexample that replays.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/foreign_rules.h"
#include "graph/rule.h"
#include "gtest/gtest.h"
#include "verify/exhaustive.h"
#include "verify/mutate.h"
#include "verify/verify.h"
#include "verify/z3.h"

namespace isomer::verify {
namespace {

struct Tally {
  int rules = 0, mutants = 0, proved = 0, refuted = 0, unknown = 0;
  int missed = 0;  // false, and not refuted
};

VerifyOptions Options() {
  VerifyOptions options;
  options.prove.time = absl::Seconds(1);
  options.prove.solver = [](const std::string& question) {
    return Z3Solve(question, {.time = absl::Milliseconds(100)});
  };
  return options;
}

void Judge(const ir::RuleSyntax& mutant, Tally& tally) {
  auto rule = ir::Rule::Create(mutant);
  if (!rule.ok()) return;  // wrong in a way that needs no verifier
  ++tally.mutants;
  const Verdict v = Verify(*rule, Options());
  if (v.outcome == Outcome::kRefuted) {
    ++tally.refuted;
    const absl::Status replay = Replay(*rule, *v.counterexample);
    EXPECT_TRUE(replay.ok()) << replay << "\n" << ir::PrintRule(mutant);
    return;
  }
  const Truth truth = CheckSmallShapes(*rule, {.assignments = 1500});
  if (v.outcome == Outcome::kProved) {
    ++tally.proved;
    EXPECT_NE(truth, Truth::kFails) << ir::PrintRule(mutant);
    return;
  }
  ++tally.unknown;
  if (truth != Truth::kFails) return;
  ++tally.missed;
  std::printf("missed: %s\n", ir::PrintRule(mutant).c_str());
}

// Judges every `stride`-th mutant of the rule, if the rule is proved.
void JudgeMutantsOf(const ir::RuleSyntax& rule, size_t stride, Tally& tally) {
  auto checked = ir::Rule::Create(rule);
  if (!checked.ok()) return;
  if (Verify(*checked, Options()).outcome != Outcome::kProved) return;
  ++tally.rules;
  ir::RuleSyntax one_way = rule;
  one_way.both_ways = false;
  const std::vector<ir::RuleSyntax> mutants = Mutants(one_way);
  for (size_t i = tally.rules % stride; i < mutants.size(); i += stride) {
    Judge(mutants[i], tally);
  }
}

void Expect(const Tally& t, int mutants) {
  std::printf(
      "%d proved rules, %d mutants: %d refuted, %d proved, %d unknown, %d of "
      "them false\n",
      t.rules, t.mutants, t.refuted, t.proved, t.unknown, t.missed);
  EXPECT_GE(t.mutants, mutants);
  EXPECT_GE(t.refuted, 99 * t.missed);
}

std::vector<ir::RuleSyntax> RulesIn(const std::string& path) {
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto file = ir::ParseRuleFile(text);
  EXPECT_TRUE(file.ok()) << path << ": " << file.status();
  std::vector<ir::RuleSyntax> out;
  if (!file.ok()) return out;
  for (const ir::RuleItem& item : file->items) {
    if (auto* rule = std::get_if<ir::RuleSyntax>(&item)) out.push_back(*rule);
  }
  return out;
}

void JudgeOurRules(size_t stride, Tally& tally) {
  for (const char* file :
       {"rules/axioms.rules", "rules/chosen.rules", "rules/hand_written.rules",
        "verify/testdata/golden.rules"}) {
    for (const ir::RuleSyntax& rule : RulesIn(file)) {
      JudgeMutantsOf(rule, stride, tally);
    }
  }
}

TEST(MutationTest, SomeMutants) {
  Tally tally;
  JudgeOurRules(24, tally);
  Expect(tally, 100);
}

TEST(MutationTest, AllMutants) {
  Tally tally;
  JudgeOurRules(1, tally);
  Expect(tally, 2000);
}

TEST(MutationTest, OtherSystems) {
  const char* shared = std::getenv("ISOMER_SHARED");
  Tally tally;
  for (const char* name :
       {"taso_shipped_133", "taso_generator_full_depth3_619"}) {
    std::ifstream in(absl::StrCat(shared == nullptr ? "../shared" : shared,
                                  "/data/rule_files/", name, ".pb"),
                     std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no rule files";
    auto rules = ir::ReadForeignRules(bytes);
    ASSERT_TRUE(rules.ok()) << rules.status();
    for (const ir::ForeignRule& r : *rules) {
      if (r.rule) JudgeMutantsOf(*r.rule, 8, tally);
    }
  }
  Expect(tally, 2000);
}

}  // namespace
}  // namespace isomer::verify

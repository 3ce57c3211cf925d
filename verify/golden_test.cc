// Rules as text with the verdicts they must get. More than a third of them are
// wrong: a verifier is worth what it refuses.
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "graph/rule.h"
#include "gtest/gtest.h"
#include "verify/verify.h"
#include "verify/z3.h"

namespace isomer::ir {

// A rule goes by its name in reports.
void PrintTo(const RuleSyntax& rule, std::ostream* out) { *out << rule.name; }

}  // namespace isomer::ir

namespace isomer::verify {
namespace {

std::vector<ir::RuleSyntax> Golden() {
  std::ifstream in("verify/testdata/golden.rules");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto file = ir::ParseRuleFile(text);
  EXPECT_TRUE(file.ok()) << file.status();
  std::vector<ir::RuleSyntax> out;
  if (!file.ok()) return out;
  for (const ir::RuleItem& item : file->items) {
    out.push_back(std::get<ir::RuleSyntax>(item));
  }
  return out;
}

// The words after `expect`, which every rule has.
std::vector<std::string> Expected(const ir::RuleSyntax& rule) {
  for (const std::string& comment : rule.comments) {
    std::vector<std::string> words = absl::StrSplit(comment, ' ');
    if (words[0] != "expect") continue;
    words.erase(words.begin());
    return words;
  }
  return {};
}

class GoldenTest : public testing::TestWithParam<ir::RuleSyntax> {};

TEST_P(GoldenTest, GetsItsVerdict) {
  const ir::RuleSyntax& syntax = GetParam();
  const std::vector<std::string> expected = Expected(syntax);
  ASSERT_FALSE(expected.empty());
  const std::vector<std::string> verdicts = absl::StrSplit(expected[0], '|');
  VerifyOptions options;
  options.prove.solver = [](const std::string& question) {
    return Z3Solve(question, {});
  };
  for (bool reversed : {false, true}) {
    if (reversed && !syntax.both_ways) continue;
    auto rule = ir::Rule::Create(syntax, reversed);
    ASSERT_TRUE(rule.ok()) << rule.status();
    const Verdict v = Verify(*rule, options);
    EXPECT_TRUE(absl::c_linear_search(verdicts, OutcomeName(v.outcome)))
        << rule->name() << ": " << OutcomeName(v.outcome) << " " << v.reason
        << (v.counterexample ? ToText(*rule, *v.counterexample) : "");
    if (v.counterexample) {
      const absl::Status replay = Replay(*rule, *v.counterexample);
      EXPECT_TRUE(replay.ok()) << replay;
    }
    if (expected.size() > 1) {
      EXPECT_EQ(
          rule->numerics() == ir::Numerics::kExact ? "exact" : "reassociating",
          expected[1]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, GoldenTest, testing::ValuesIn(Golden()),
                         [](const auto& info) { return info.param.name; });

TEST(GoldenFileTest, AThirdIsWrong) {
  const std::vector<ir::RuleSyntax> rules = Golden();
  const auto wrong = absl::c_count_if(rules, [](const ir::RuleSyntax& r) {
    return Expected(r)[0] == "refuted";
  });
  EXPECT_GE(rules.size(), 60u);
  EXPECT_GE(3 * wrong, static_cast<int64_t>(rules.size()));
}

}  // namespace
}  // namespace isomer::verify

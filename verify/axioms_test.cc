// Axioms are proved, hold on all small shapes, prove rules that are true, and
// none that is false.
#include "verify/axioms.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "verify/exhaustive.h"
#include "verify/mutate.h"
#include "verify/verify.h"
#include "verify/z3.h"

namespace isomer::verify {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<ir::Rule> RulesIn(const std::string& path) {
  auto set = ir::ReadRules(Contents(path));
  EXPECT_TRUE(set.ok()) << path << ": " << set.status();
  return set.ok() ? std::move(set->rules) : std::vector<ir::Rule>();
}

std::vector<ir::Rule> OperatorAxioms() {
  std::vector<ir::Rule> out;
  for (const OpDef* op : Ops().all()) {
    for (const std::string& text : op->axioms) {
      auto rules = ir::ReadRuleBody(text);
      EXPECT_TRUE(rules.ok()) << text << ": " << rules.status();
      if (!rules.ok()) continue;
      for (ir::Rule& rule : *rules) out.push_back(std::move(rule));
    }
  }
  return out;
}

SmtSolver Solver(absl::Duration time) {
  return [time](const std::string& question) {
    return Z3Solve(question, {.time = time});
  };
}

const AxiomSet& Axioms() {
  static const AxiomSet* set = new AxiomSet(AllAxioms(Ops()));
  return *set;
}

class AxiomsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Z3Version().empty()) GTEST_SKIP() << "SKIPPED: built without Z3";
  }
};

// True if every case of the rule follows.
bool Follows(const ir::Rule& rule, absl::Duration time) {
  const AxiomAnswer a =
      AskFromAxioms(rule, Axioms(), Solver(time), absl::InfiniteFuture());
  return a.cases > 0 && a.proved == a.cases;
}

// "2 of 3": how many cases were shown.
std::string Shown(const std::string& text) {
  auto rules = ir::ReadRuleBody(text);
  EXPECT_TRUE(rules.ok()) << text << ": " << rules.status();
  if (!rules.ok()) return "";
  const AxiomAnswer a = AskFromAxioms(
      (*rules)[0], Axioms(), Solver(absl::Seconds(5)), absl::InfiniteFuture());
  return absl::StrCat(a.proved, " of ", a.cases);
}

TEST(AxiomsThemselves, AreProvedAndHoldOnAllSmallShapes) {
  std::vector<ir::Rule> axioms = RulesIn("rules/axioms.rules");
  for (ir::Rule& rule : OperatorAxioms()) axioms.push_back(std::move(rule));
  for (const ir::Rule& rule : axioms) {
    const std::string text = ir::PrintRule(rule.syntax());
    const Verdict verdict = Verify(rule, {});
    EXPECT_EQ(OutcomeName(verdict.outcome), std::string("proved"))
        << text << verdict.reason;
    EXPECT_EQ(CheckSmallShapes(rule, {.assignments = 1500}), Truth::kHolds)
        << text;
  }
}

TEST_F(AxiomsTest, ProveRules) {
  EXPECT_EQ(Shown("add(add(x, y), z) => add(z, add(y, x))"), "6 of 6");
  EXPECT_EQ(Shown("matmul(x, concat(y, z, axis=1)), relu(x) => "
                  "concat(matmul(x, y), matmul(x, z), axis=1), relu(x)"),
            "7 of 7");
  EXPECT_EQ(
      Shown("matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, "
            "axis=1)) in slice(m, axis=1, from=0, to=dim(y, 1)), slice(m, "
            "axis=1, from=dim(y, 1), to=end) where rank(x) == 2"),
      "1 of 1");
  EXPECT_EQ(Shown("silu(add(x, y)) => mul(sigmoid(add(y, x)), add(x, y))"),
            "6 of 6");
  EXPECT_EQ(Shown("relu(transpose(matmul(x, y), perm=[1 0])) => "
                  "transpose(relu(matmul(x, y)), perm=[1 0])"),
            "1 of 1");
}

TEST_F(AxiomsTest, DoNotProveWhatIsFalse) {
  EXPECT_EQ(Shown("sub(x, y) => sub(y, x)"), "0 of 6");
  EXPECT_EQ(Shown("relu(add(x, y)) => add(relu(x), relu(y))"), "0 of 6");
  EXPECT_EQ(Shown("matmul(x, y) => matmul(y, x)"), "0 of 4");
  EXPECT_EQ(Shown("concat(x, y, axis=0) => concat(y, x, axis=0)"), "0 of 5");
  EXPECT_EQ(Shown("mul(x, 2) => mul(x, 3)"), "0 of 6");
}

// Refuted variants of true rules; if the axioms were inconsistent, they would
// prove these as well.
TEST_F(AxiomsTest, ProveNoneOf200FalseEquations) {
  int asked = 0;
  for (const char* file :
       {"rules/axioms.rules", "rules/chosen.rules", "rules/hand_written.rules",
        "verify/testdata/golden.rules"}) {
    auto parsed = ir::ParseRuleFile(Contents(file));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    for (const ir::RuleItem& item : parsed->items) {
      const auto* rule = std::get_if<ir::RuleSyntax>(&item);
      if (rule == nullptr) continue;
      int from_this = 0;
      for (ir::RuleSyntax& mutant : Mutants(*rule)) {
        if (from_this == 4 || asked == 200) break;
        mutant.both_ways = false;
        auto checked = ir::Rule::Create(mutant);
        if (!checked.ok()) continue;
        if (Verify(*checked, {}).outcome != Outcome::kRefuted) continue;
        ++from_this;
        ++asked;
        EXPECT_FALSE(Follows(*checked, absl::Milliseconds(300)))
            << ir::PrintRule(mutant);
      }
    }
  }
  EXPECT_EQ(asked, 200);
}

TEST_F(AxiomsTest, ProveAShareOfTheShippedRules) {
  int rules = 0, proved = 0;
  for (const char* file : {"rules/chosen.rules", "rules/hand_written.rules"}) {
    for (const ir::Rule& rule : RulesIn(file)) {
      ++rules;
      proved += Follows(rule, absl::Milliseconds(500));
    }
  }
  std::printf("%d axioms, %d of %d shipped rules follow from them\n",
              Axioms().statements(), proved, rules);
  EXPECT_GE(proved, rules / 4);
}

}  // namespace
}  // namespace isomer::verify

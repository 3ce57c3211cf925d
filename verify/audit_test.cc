// The solver agrees with what proofs settle, and objects to what is false.
#include "verify/audit.h"

#include <fstream>
#include <iterator>

#include "graph/rule.h"
#include "gtest/gtest.h"
#include "verify/prover.h"
#include "verify/z3.h"

namespace isomer::verify {
namespace {

const DimExpr n = DimExpr::Symbol("n"), m = DimExpr::Symbol("m");

ArithmeticQuery AtLeast(const DimExpr& goal) {
  return {
      {{Obligation::kNonNegative, n - 1}, {Obligation::kNonNegative, m - 1}},
      {Obligation::kNonNegative, goal}};
}

SmtAnswer Ask(const std::string& question) { return Z3Solve(question, {}); }

class AuditTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Z3Version().empty()) GTEST_SKIP() << "SKIPPED: built without Z3";
  }
};

TEST_F(AuditTest, ConfirmsWhatIsTrue) {
  const Audit audit = AuditArithmetic(
      {AtLeast(n + m - 2), AtLeast(n * m - 1), AtLeast(n + m - 2)}, Ask);
  EXPECT_EQ(audit.asked, 2);
  EXPECT_EQ(audit.confirmed, 2);
  EXPECT_EQ(audit.contradicted, "");
}

TEST_F(AuditTest, ObjectsToWhatIsFalse) {
  const Audit audit = AuditArithmetic({AtLeast(n - m), AtLeast(n)}, Ask);
  EXPECT_EQ(audit.asked, 1);
  EXPECT_EQ(audit.confirmed, 0);
  EXPECT_NE(audit.contradicted, "");
}

TEST_F(AuditTest, WithoutASolverNothingIsConfirmed) {
  const Audit audit = AuditArithmetic({AtLeast(n)}, nullptr);
  EXPECT_EQ(audit.asked, 1);
  EXPECT_EQ(audit.confirmed, 0);
  EXPECT_EQ(audit.contradicted, "");
}

// Every proof of ours that is short enough to be asked about in a test.
TEST_F(AuditTest, OurProofs) {
  std::ifstream in("rules/chosen.rules");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto file = ir::ParseRuleFile(text);
  ASSERT_TRUE(file.ok()) << file.status();
  int asked = 0, confirmed = 0;
  for (const ir::RuleItem& item : file->items) {
    const auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    auto rule = ir::Rule::Create(*syntax);
    if (!rule.ok() || rule->cases().size() > 6) continue;
    Proof proof = Prove(*rule, {.time = absl::Seconds(2), .record = true});
    if (!proof.proved) continue;
    if (proof.settled.size() > 40) proof.settled.resize(40);
    const Audit audit = AuditArithmetic(proof.settled, Ask);
    EXPECT_EQ(audit.contradicted, "") << syntax->name;
    asked += audit.asked;
    confirmed += audit.confirmed;
  }
  std::printf("%d of %d questions confirmed\n", confirmed, asked);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(confirmed, asked);
}

}  // namespace
}  // namespace isomer::verify

// Z3 answers, and what is no question is unknown. That limits hold is the
// business of the process it runs in.
#include "verify/z3.h"

#include "gtest/gtest.h"

namespace isomer::verify {
namespace {

constexpr char kSizes[] = "(declare-const n Int)(assert (>= n 1))";

class Z3Test : public testing::Test {
 protected:
  void SetUp() override {
    if (Z3Version().empty()) GTEST_SKIP() << "SKIPPED: built without Z3";
  }
  static SmtAnswer Ask(const std::string& more) {
    return Z3Solve(kSizes + more, {});
  }
};

TEST_F(Z3Test, Answers) {
  EXPECT_EQ(Ask(""), SmtAnswer::kSat);
  EXPECT_EQ(Ask("(assert (< (* n n) n))"), SmtAnswer::kUnsat);
  EXPECT_EQ(Ask("(assert (= (* 2 n) 7))"), SmtAnswer::kUnsat);
  EXPECT_EQ(Ask("(assert (= (* 2 n) 8))"), SmtAnswer::kSat);
}

TEST_F(Z3Test, WhatIsNoQuestionIsUnknown) {
  EXPECT_EQ(Ask("(assert (< m 1))"), SmtAnswer::kUnknown);
  EXPECT_EQ(Ask("(assert"), SmtAnswer::kUnknown);
  EXPECT_EQ(Ask("(assert n)"), SmtAnswer::kUnknown);
  EXPECT_EQ(Ask("nonsense"), SmtAnswer::kUnknown);
  // An error leaves nothing behind.
  EXPECT_EQ(Ask("(assert (< n 1))"), SmtAnswer::kUnsat);
}

}  // namespace
}  // namespace isomer::verify

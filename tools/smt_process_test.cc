// The solver in its process: answers, and a question that Z3 does not give up
// on by itself is given up on here.
#include "tools/smt_process.h"

#include <cstring>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

using verify::SmtAnswer;

constexpr char kNoSuchNumber[] =
    "(declare-const n Int)(assert (>= n 1))(assert (< (* n n) n))";
constexpr char kSuchNumber[] = "(declare-const n Int)(assert (= (* n n) 4))";
// Fermat's last theorem for the exponent 3: Z3 4.8.12 forgets its clock.
constexpr char kHard[] =
    "(declare-const a Int)(declare-const b Int)(declare-const c Int)"
    "(assert (> a 0))(assert (> b 0))(assert (> c 0))"
    "(assert (= (+ (* a a a) (* b b b)) (* c c c)))";

class SmtProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    if (verify::Z3Version().empty()) {
      GTEST_SKIP() << "SKIPPED: built without Z3";
    }
  }
};

TEST_F(SmtProcessTest, Answers) {
  SmtProcess process({.time = absl::Seconds(5)});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(process.Ask(kNoSuchNumber), SmtAnswer::kUnsat);
    EXPECT_EQ(process.Ask(kSuchNumber), SmtAnswer::kSat);
    EXPECT_EQ(process.Ask("nonsense\n7\n"), SmtAnswer::kUnknown);
    EXPECT_EQ(process.Ask(""), SmtAnswer::kSat);
  }
}

TEST_F(SmtProcessTest, WhatTakesTooLongIsUnknownAndTheNextIsAnswered) {
  SmtProcess process({.time = absl::Milliseconds(300)});
  const absl::Time start = absl::Now();
  EXPECT_EQ(process.Ask(kHard), SmtAnswer::kUnknown);
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  SmtProcess patient({.time = absl::Seconds(5)});
  EXPECT_EQ(patient.Ask(kNoSuchNumber), SmtAnswer::kUnsat);
}

TEST_F(SmtProcessTest, OneThatRunsOutOfMemoryIsUnknown) {
  SmtProcess process({.time = absl::Seconds(5), .memory_mb = 1});
  const SmtAnswer answer = process.Ask(kHard);
  EXPECT_EQ(answer, SmtAnswer::kUnknown);
}

}  // namespace
}  // namespace isomer::cli

// This program is its own solver process, as the tool is.
int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], isomer::cli::kSmtVerb) == 0) {
    return isomer::cli::ServeSmt(
        {absl::Milliseconds(std::atoi(argv[3])), std::atoi(argv[5])});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

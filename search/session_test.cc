// The budget of a search, and what it knows of constants.
#include "search/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "absl/time/clock.h"
#include "graph/constant_facts.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

TEST(SessionTest, WorkersAreToldToStop) {
  const RuleBook book = MakeBook("");
  const cost::CostModel cost = MakeCost();
  Workers workers(1);
  Session endless(book, cost, workers, {}, nullptr);
  EXPECT_FALSE(endless.Stopped());
  EXPECT_FALSE(endless.Stopped(0));
  EXPECT_FALSE(endless.Stopped(1));
  endless.OutOfMemory();
  EXPECT_TRUE(endless.Stopped(1));
  EXPECT_EQ(endless.reason(), Stop::kMemory);
  EXPECT_FALSE(endless.OutOfTime());

  Session hasty(book, cost, workers, {.time = absl::ZeroDuration()}, nullptr);
  EXPECT_TRUE(hasty.Stopped(1));
  EXPECT_TRUE(hasty.OutOfTime());
  EXPECT_EQ(hasty.reason(), Stop::kTime);
}

TEST(SessionTest, ACallbackIsAskedFromWithinLoops) {
  const RuleBook book = MakeBook("");
  const cost::CostModel cost = MakeCost();
  Workers workers(1);
  int calls = 0;
  Session session(book, cost, workers, {}, [&](const Progress&) {
    ++calls;
    return false;
  });
  EXPECT_FALSE(session.Stopped(1));
  EXPECT_EQ(calls, 0);
  while (!session.Stopped(0)) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(session.Stopped(1));
  EXPECT_EQ(session.reason(), Stop::kCancelled);
}

// Facts are read off the bits of floating-point constants.
TEST(SessionTest, WhatIsKnownOfConstants) {
  const double inf = std::numeric_limits<double>::infinity();
  struct Case {
    double value;
    bool finite, positive;
  };
  const Case cases[] = {{1, true, true},      {0, true, false},
                        {-0.0, true, false},  {-2, true, false},
                        {6.1e-5, true, true}, {inf, false, true},
                        {-inf, false, false}, {std::nan(""), false, false}};
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const Case& c : cases) {
      // In the last of several elements.
      const auto constant = ir::Constant::FromTensor(
          FromDoubles({dtype, {3}}, {1, 0.5, c.value}));
      ir::ConstantFacts facts;
      EXPECT_EQ(facts.Finite(constant), c.finite) << c.value;
      EXPECT_EQ(facts.Positive(constant), c.positive) << c.value;
    }
  }
  ir::ConstantFacts facts;
  const auto ints =
      ir::Constant::FromTensor(FromInts({DType::kI64, {2}}, {3, -1}));
  EXPECT_TRUE(facts.Finite(ints));
  EXPECT_FALSE(facts.Positive(ints));
}

}  // namespace
}  // namespace isomer::search

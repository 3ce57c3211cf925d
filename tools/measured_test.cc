#include "tools/measured.h"

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

// Steps that are timed alike: signature, time, and the planned kernel of each.
struct Timed {
  std::string signature;
  double us;
  std::vector<int> kernels;
};

// "signature us times" of the kernels of a model that takes `whole_us`.
std::string Times(double whole_us, const std::vector<Timed>& timed,
                  const std::vector<cuda::PlannedKernel>& planned = {}) {
  std::vector<cuda::StepTime> steps;
  cuda::Program program;
  program.planned = planned;
  for (const Timed& t : timed) {
    cuda::StepTime s;
    s.signature = t.signature;
    s.us = t.us;
    s.launches = static_cast<int>(t.kernels.size());
    for (int k : t.kernels) {
      s.steps.push_back(static_cast<int>(program.steps.size()));
      program.steps.emplace_back().kernel = k;
    }
    steps.push_back(std::move(s));
  }
  std::string text;
  for (const KernelTime& k : KernelTimes(steps, whole_us, program)) {
    absl::StrAppendFormat(&text, "%s %g %d\n", k.signature, k.us, k.times);
  }
  return text;
}

TEST(KernelTimes, WhatPassesBetweenStepsIsShared) {
  EXPECT_EQ(Times(10, {{"a", 2, {0, 2}}, {"b", 3, {1}}}), "a 3 2\nb 4 1\n");
  EXPECT_EQ(Times(0, {}), "");
}

TEST(KernelTimes, WhatOverlapSavesIsShared) {
  EXPECT_EQ(Times(6, {{"a", 2, {0}}, {"b", 6, {1}}}), "a 1.5 1\nb 4.5 1\n");
}

TEST(KernelTimes, AKernelOfSeveralStepsTakesAllOfThem) {
  EXPECT_EQ(Times(6, {{"concat", 1, {0}}, {"concat", 2, {0}}, {"b", 3, {1}}}),
            "b 3 1\nconcat 3 1\n");
  // The same kernel twice, of one and of two steps.
  EXPECT_EQ(Times(4, {{"concat", 1, {0, 1}}, {"concat", 2, {1}}}),
            "concat 2 2\n");
}

TEST(KernelTimes, KernelsOfOneStepShareItAsPlanned) {
  const std::vector<Timed> timed = {{"scores; softmax; values", 9, {2}}};
  EXPECT_EQ(Times(9, timed), "scores 3 1\nsoftmax 3 1\nvalues 3 1\n");
  EXPECT_EQ(Times(9, timed,
                  {{"matmul", "scores", 4},
                   {"softmax", "softmax", 2},
                   {"matmul", "values", 12}}),
            "scores 2 1\nsoftmax 1 1\nvalues 6 1\n");
}

TEST(KernelTimes, StepsThatNobodyPlannedPassBetweenTheOthers) {
  EXPECT_EQ(Times(8, {{"", 4, {0}}, {"a", 2, {1}}, {"b", 2, {2}}}),
            "a 4 1\nb 4 1\n");
}

Measured Of(double us, double predicted, double planned) {
  Measured m;
  m.us = us;
  m.predicted_us = predicted;
  m.planned_us = planned;
  return m;
}

TEST(OrderOf, CountsPairsThatAreApart) {
  Ordered o = OrderOf({Of(10, 9, 30), Of(10.2, 20, 20), Of(20, 19, 40)});
  EXPECT_EQ(o.pairs, 2);  // the first two are too close
  EXPECT_EQ(o.as_predicted, 1);
  EXPECT_EQ(o.as_planned, 2);
  o = OrderOf({Of(10, 5, 5)});
  EXPECT_EQ(o.pairs, 0);
  // What is predicted to be equal is not ordered.
  o = OrderOf({Of(10, 5, 1), Of(20, 5, 2)});
  EXPECT_EQ(o.pairs, 1);
  EXPECT_EQ(o.as_predicted, 0);
  EXPECT_EQ(o.as_planned, 1);
}

}  // namespace
}  // namespace isomer::cli

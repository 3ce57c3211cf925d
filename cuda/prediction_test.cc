#include "cuda/prediction.h"

#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

using Kernels = std::vector<PlannedKernel>;

Prediction Predicted(const Kernels& kernels, const cost::Profile& profile) {
  Program program;
  program.planned = kernels;
  return Predict(program, profile);
}

cost::Profile Measured(absl::string_view lines) {
  return *cost::Profile::Parse("profile h200\n" + std::string(lines));
}

TEST(Prediction, WithoutMeasurementsItIsWhatTheCostModelSays) {
  const Kernels kernels = {{"conv", "conv a", 4}, {"pool", "pool b", 1.5}};
  for (const cost::Profile& profile :
       {cost::Profile("h200"), Measured("conv b | 2 2026-11-15 me x\n")}) {
    const Prediction p = Predicted(kernels, profile);
    EXPECT_DOUBLE_EQ(p.us, 5.5);
    EXPECT_EQ(p.measured_share, 0);
  }
  EXPECT_EQ(Predicted({}, cost::Profile("h200")).us, 0);
}

TEST(Prediction, MeasuredTimesAreTaken) {
  const cost::Profile profile = Measured(
      "conv a | 2 2026-11-15 me x\n"
      "pool b | 1 2026-11-15 me x\n");
  const Prediction p = Predicted(
      Kernels{
          {"conv", "conv a", 4}, {"conv", "conv a", 4}, {"pool", "pool b", 9}},
      profile);
  EXPECT_DOUBLE_EQ(p.us, 5);
  EXPECT_DOUBLE_EQ(p.measured_share, 1);
}

TEST(Prediction, EstimatesAreScaledAsTheirFamilyIs) {
  const cost::Profile profile = Measured(
      "conv a | 2 2026-11-15 me x\n"
      "pool b | 3 2026-11-15 me x\n");
  const Kernels known = {{"conv", "conv a", 4}, {"pool", "pool b", 1}};
  auto with = [&](PlannedKernel k) {
    Kernels kernels = known;
    kernels.push_back(std::move(k));
    return Predicted(kernels, profile);
  };
  // Convolutions take half of what is said; all kernels together as long.
  EXPECT_DOUBLE_EQ(with({"conv", "conv c", 10}).us, 5 + 5);
  EXPECT_DOUBLE_EQ(with({"norm", "norm d", 10}).us, 5 + 10);
  EXPECT_DOUBLE_EQ(with({"conv", "conv c", 10}).measured_share, 0.5);
}

// Two kernels side by side, one of which is two steps, and one behind both.
TEST(Prediction, StepsOfSeveralStreamsTakeWhatTheirKernelsTake) {
  Program program;
  program.planned = {{"conv", "conv a", 1},
                     {"concat", "concat b", 1},
                     {"conv", "conv c", 1},
                     {"pool", "pool d", 1}};
  auto add = [&](int kernel, const char* signature, Schedule::Place place) {
    Step step;
    step.kernel = kernel;
    step.signature = signature;
    program.steps.push_back(std::move(step));
    program.schedule.steps.push_back(std::move(place));
  };
  add(0, "conv a", {.stream = 0});
  add(1, "concat b", {.stream = 1});
  add(1, "concat b", {.stream = 1});
  add(3, "conv c; pool d", {.stream = 0, .after = {2}});
  program.schedule.streams = 2;
  auto with = [&](const char* us) {
    return Predict(program,
                   Measured(absl::Substitute("concat b | $0 2026-11-15 me x\n"
                                             "conv a | $0 2026-11-15 me x\n"
                                             "conv c | 2 2026-11-15 me x\n"
                                             "pool d | 3 2026-11-15 me x\n",
                                             us)));
  };
  EXPECT_DOUBLE_EQ(with("4").us, 4 + 4 + 5);
  // The other stream starts later, and is waited for.
  EXPECT_DOUBLE_EQ(with("4").scheduled_us, 1.5 + 4 + 1.5 + 5);
  // Kernels leave each other little.
  EXPECT_DOUBLE_EQ(with("40").scheduled_us, 40 + 40 + 5 - 4);
  program.schedule.streams = 1;
  EXPECT_DOUBLE_EQ(with("40").scheduled_us, 40 + 40 + 5);
}

}  // namespace
}  // namespace isomer::cuda

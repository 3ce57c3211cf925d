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
class SeveralStreams : public testing::Test {
 protected:
  SeveralStreams() {
    program_.planned = {{"conv", "conv a", 1},
                        {"concat", "concat b", 1},
                        {"conv", "conv c", 1},
                        {"pool", "pool d", 1}};
    program_.units = 100;
    Add(0, "conv a", {.stream = 0});
    Add(1, "concat b", {.stream = 1});
    Add(1, "concat b", {.stream = 1});
    Add(3, "conv c; pool d", {.stream = 0, .after = {2}});
    program_.schedule.streams = 2;
  }

  void Add(int kernel, const char* signature, Schedule::Place place) {
    Step step;
    step.kernel = kernel;
    step.signature = signature;
    auto add = [&](const char* name, int blocks, int fill) {
      step.variants.push_back({.name = name, .source = [=] {
                                 KernelSource source;
                                 source.grid = {blocks / 10, 10, 1};
                                 source.fill = fill;
                                 return source;
                               }});
    };
    add("all", 500, 1);
    add("half", 50, 1);
    add("most", 240, 3);
    step.variants.push_back({"library", nullptr, LibraryProduct()});
    program_.steps.push_back(std::move(step));
    program_.schedule.steps.push_back(std::move(place));
  }

  Prediction With(const char* us, const char* variant) const {
    return Predict(program_,
                   Measured(absl::Substitute("concat b | $0 2026-11-15 me $1\n"
                                             "conv a | $0 2026-11-15 me $1\n"
                                             "conv c | 2 2026-11-15 me $1\n"
                                             "pool d | 3 2026-11-15 me $1\n",
                                             us, variant)));
  }

  Program program_;
};

TEST_F(SeveralStreams, OthersAreWaitedFor) {
  EXPECT_DOUBLE_EQ(With("4", "half").us, 4 + 4 + 5);
  // The other stream starts later.
  EXPECT_DOUBLE_EQ(With("4", "half").scheduled_us, 0.9 + 4 + 0.9 + 5);
  EXPECT_DOUBLE_EQ(With("40", "half").scheduled_us, 0.9 + 40 + 0.9 + 5);
  program_.schedule.streams = 1;
  EXPECT_DOUBLE_EQ(With("4", "half").scheduled_us, 4 + 4 + 5);
}

TEST_F(SeveralStreams, KernelsShareTheDevice) {
  EXPECT_DOUBLE_EQ(With("40", "library").scheduled_us,
                   With("40", "half").scheduled_us);
  // One is alone first, and the other last.
  EXPECT_NEAR(With("40", "most").scheduled_us,
              0.9 + (40 - 0.9) * 1.6 + 0.9 + 0.9 + 5, 1e-6);
  EXPECT_DOUBLE_EQ(With("40", "all").scheduled_us, 40 + 40 + 5);
  // What is not known any more runs as is likeliest.
  EXPECT_DOUBLE_EQ(With("40", "gone").scheduled_us, 40 + 40 + 5);
}

}  // namespace
}  // namespace isomer::cuda

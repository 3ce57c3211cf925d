#include "cuda/prediction.h"

#include <vector>

#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

using Kernels = std::vector<PlannedKernel>;

cost::Profile Measured(absl::string_view lines) {
  return *cost::Profile::Parse("profile h200\n" + std::string(lines));
}

TEST(Prediction, WithoutMeasurementsItIsWhatTheCostModelSays) {
  const Kernels kernels = {{"conv", "conv a", 4}, {"pool", "pool b", 1.5}};
  for (const cost::Profile& profile :
       {cost::Profile("h200"), Measured("conv b | 2 2026-11-15 me x\n")}) {
    const Prediction p = Predict(kernels, profile);
    EXPECT_DOUBLE_EQ(p.us, 5.5);
    EXPECT_EQ(p.measured_share, 0);
  }
  EXPECT_EQ(Predict({}, cost::Profile("h200")).us, 0);
}

TEST(Prediction, MeasuredTimesAreTaken) {
  const cost::Profile profile = Measured(
      "conv a | 2 2026-11-15 me x\n"
      "pool b | 1 2026-11-15 me x\n");
  const Prediction p = Predict(
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
    return Predict(kernels, profile);
  };
  // Convolutions take half of what is said; all kernels together as long.
  EXPECT_DOUBLE_EQ(with({"conv", "conv c", 10}).us, 5 + 5);
  EXPECT_DOUBLE_EQ(with({"norm", "norm d", 10}).us, 5 + 10);
  EXPECT_DOUBLE_EQ(with({"conv", "conv c", 10}).measured_share, 0.5);
}

}  // namespace
}  // namespace isomer::cuda

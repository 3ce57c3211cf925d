// What is known of a device and the engine that runs on it: a text file. Every
// figure that the roofline uses and every fusion that the engine is able to do
// stands there, so a new device or engine is a new file.
//
//   target h200
//   launch_us 0.9
//   dram_gbps 4300
//   peak f16 700               # TFLOP/s of products
//   family matmul fixed_us=1.2 tiles=128x128:1,64x64:0.55
//   fuse matmul prologue=reshape,slice epilogue=pointwise,reshape
//
// The keys are described in cost_model/README.md.
#ifndef ISOMER_COST_MODEL_TARGET_H_
#define ISOMER_COST_MODEL_TARGET_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cost_model/op_plans.h"
#include "ops/dtype.h"

namespace isomer::cost {

// A block of the output that one unit of the device computes at a time.
struct Tile {
  int64_t m = 1, n = 1;
  double efficiency = 1;  // the share of the peak that it reaches
};

// How a family of kernels runs.
struct FamilyModel {
  double fixed_us = 0;    // a launch takes this on top of the launch floor
  double efficiency = 1;  // the share of the peak that it reaches
  double bandwidth = 1;   // the share of the bandwidth that it reaches
  std::vector<Tile> tiles = {};
  double wave_us = 0;   // each wave of tiles takes this on top
  int64_t split_k = 1;  // a long sum may be cut in up to so many parts,
  double split_us = 0;  // which takes this on top
};

// What kernels of a family take in beside their core.
struct FusionModel {
  OpClasses prologue;         // between what is read and the core
  OpClasses epilogue;         // between the core and what is stored
  OpClasses operands;         // on the way of other operands to the epilogue
  int64_t max_nodes = 64;     // in all
  int64_t max_ops = 64;       // that compute, beside the core
  int64_t max_inputs = 64;    // that are read
  bool many_outputs = false;  // may store inner values too
};

class Target {
 public:
  // Reads a target; errors name the line.
  static absl::StatusOr<Target> Parse(absl::string_view text);
  // The target of that name that comes with Isomer; else the error lists them.
  static absl::StatusOr<Target> Named(absl::string_view name);
  // The names of the targets that come with Isomer, sorted.
  static std::vector<std::string> Names();

  const std::string& name() const { return name_; }
  const std::string& device() const { return device_; }
  const std::string& engine() const { return engine_; }
  double launch_us() const { return launch_us_; }
  double dram_gbps() const { return dram_gbps_; }
  double cache_gbps() const { return cache_gbps_; }
  int64_t cache_bytes() const { return cache_bytes_; }
  int64_t memory_bytes() const { return memory_bytes_; }
  int64_t units() const { return units_; }
  // TFLOP/s of products, and of other arithmetic, on elements of a type.
  double peak(DType type) const { return PeakIn(peak_, type); }
  double vector_peak(DType type) const { return PeakIn(vector_peak_, type); }
  // Kernels of a family with so many operations in what they are about, or with
  // kAnyFlops all others, take so many times as long as figures have it.
  static constexpr double kAnyFlops = -1;
  void Scale(Family f, double core_flops, double scale) {
    scales_[{f, core_flops}] = scale;
  }
  double ScaleOf(Family f, double core_flops) const {
    for (double flops : {core_flops, kAnyFlops}) {
      const auto it = scales_.find({f, flops});
      if (it != scales_.end()) return it->second;
    }
    return 1;
  }
  const FamilyModel& family(Family f) const {
    return families_[static_cast<int>(f)];
  }
  const FusionModel& fusion(Family f) const {
    return fusions_[static_cast<int>(f)];
  }
  // Values may be computed where a concat wants them.
  bool concat_in_place() const { return concat_in_place_; }
  // The share of a model's time that must be won before that counts: where
  // figures are rough, less may as well be a loss.
  double least_gain() const { return least_gain_; }

 private:
  friend class TargetReader;

  static double PeakIn(const std::map<DType, double>& peaks, DType type);

  std::string name_, device_, engine_;
  double launch_us_ = 0, dram_gbps_ = 0, cache_gbps_ = 0;
  int64_t cache_bytes_ = 0, memory_bytes_ = 0, units_ = 1;
  std::map<DType, double> peak_, vector_peak_;
  std::array<FamilyModel, kNumFamilies> families_;
  std::array<FusionModel, kNumFamilies> fusions_;
  std::map<std::pair<Family, double>, double> scales_;
  bool concat_in_place_ = false;
  double least_gain_ = 0;
};

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_TARGET_H_

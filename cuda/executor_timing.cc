// How an executor times its kernels: as they run in the model, where weights
// that do not stay in the cache come from memory.
#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "cuda/executor.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// Kernels are timed many in a row, so many that it takes a while; what takes so
// many times as long as another at first is not timed any further.
constexpr int kLaunchesPerGraph = 20, kFewLaunches = 5, kReplays = 5;
constexpr double kMicrosecondsPerGraph = 500, kHopeless = 2.5;
constexpr int kWarmUps = 2;
// Repetitions that are further apart are made again, so often at most.
constexpr double kApart = 1.05;
constexpr int kAgain = 3;
// What is written to forget what is in the cache, and what copies of weights
// may take.
constexpr int64_t kForgetBytes = 128 << 20, kCopyBytes = 128 << 20;

}  // namespace

absl::StatusOr<DevicePointer> Executor::ColdMemory() const {
  if (!program_.cold) return DevicePointer{0};
  const auto cold = device_->Allocate(kForgetBytes + kCopyBytes);
  // Timing does without it.
  if (absl::IsResourceExhausted(cold.status())) return DevicePointer{0};
  return cold;
}

absl::StatusOr<std::vector<Executor::Moved>> Executor::ColdWeights(
    const Step& step, const Loaded& kernel, int count,
    DevicePointer cold) const {
  std::map<int, int64_t> weights;  // and where they lie in a copy
  int64_t bytes = 0;
  for (int b : BuffersOf(step, kernel)) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind != Buffer::Kind::kConstant) continue;
    if (!weights.insert({b, bytes}).second) continue;
    bytes += (buffer.bytes + 255) / 256 * 256;
  }
  // Where there is no place for two, one is not in the cache anyway.
  if (cold == 0 || bytes == 0 || 2 * bytes > kCopyBytes) {
    return std::vector<Moved>(1);
  }
  std::vector<Moved> out(std::min<int64_t>(kCopyBytes / bytes, count));
  for (size_t i = 0; i < out.size(); ++i) {
    for (const auto& [b, offset] : weights) {
      out[i][b] = cold + kForgetBytes + i * bytes + offset;
      RETURN_IF_ERROR(device_->CopyAsync(out[i][b], PointerOf(b),
                                         program_.buffers[b].bytes,
                                         lanes_[0].stream));
    }
  }
  return out;
}

absl::StatusOr<Executor::Times> Executor::TimeLaunches(
    const Step& step, const Loaded& kernel, int count, int replays,
    DevicePointer cold) const {
  const Lane& lane = lanes_[0];
  ASSIGN_OR_RETURN(const std::vector<Moved> moved,
                   ColdWeights(step, kernel, count, cold));
  ASSIGN_OR_RETURN(const Device::Graph graph,
                   device_->Capture(lane.stream, [&](Stream) -> absl::Status {
                     for (int i = 0; i < count; ++i) {
                       RETURN_IF_ERROR(LaunchStep(
                           step, kernel, {.early = i > 0, .apart = true},
                           moved[i % moved.size()], lane));
                     }
                     return absl::OkStatus();
                   }));
  Times times;
  absl::Status status = device_->LaunchGraph(graph, lane.stream);
  for (int i = 0; i < replays && status.ok(); ++i) {
    if (cold != 0) {
      status = device_->FillAsync(cold, i, kForgetBytes, lane.stream);
      if (!status.ok()) break;
    }
    const auto us = device_->Time(
        lane.stream, [&] { return device_->LaunchGraph(graph, lane.stream); });
    status = us.status();
    if (us.ok()) times.push_back(*us / count);
  }
  device_->FreeGraph(graph);
  if (!status.ok()) return status;
  std::sort(times.begin(), times.end());
  return times;
}

absl::StatusOr<Executor::Times> Executor::TimeKernel(const Step& step,
                                                     const Loaded& kernel,
                                                     double limit,
                                                     DevicePointer cold) const {
  ASSIGN_OR_RETURN(const Times about,
                   TimeLaunches(step, kernel, kFewLaunches, 1, cold));
  if (about[0] > kHopeless * limit) return about;
  const int count = static_cast<int>(
      std::clamp(kMicrosecondsPerGraph / about[0], double{kFewLaunches},
                 double{kLaunchesPerGraph}));
  return TimeLaunches(step, kernel, count, kReplays, cold);
}

absl::StatusOr<double> Executor::SteadyTime(const Step& step,
                                            const Loaded& kernel,
                                            DevicePointer cold) const {
  for (int left = kAgain;; --left) {
    ASSIGN_OR_RETURN(const Times times,
                     TimeKernel(step, kernel, kNoLimit, cold));
    if (times.back() <= kApart * times[0] || left == 0) {
      return times[times.size() / 2];
    }
  }
}

absl::StatusOr<double> Executor::Time(int times) const {
  return TimeGraph(graph_, times);
}

absl::StatusOr<double> Executor::TimeOnOneStream(int times) const {
  if (!several_) return Time(times);
  RETURN_IF_ERROR(device_->MakeCurrent());
  ASSIGN_OR_RETURN(const Device::Graph graph, Record(false));
  const absl::Cleanup free_graph = [&] { device_->FreeGraph(graph); };
  return TimeGraph(graph, times);
}

absl::StatusOr<double> Executor::TimeGraph(Device::Graph graph,
                                           int times) const {
  const Stream stream = lanes_[0].stream;
  auto run = [&] { return device_->LaunchGraph(graph, stream); };
  RETURN_IF_ERROR(device_->MakeCurrent());
  for (int i = 0; i < kWarmUps; ++i) RETURN_IF_ERROR(run());
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    RETURN_IF_ERROR(run());
    ASSIGN_OR_RETURN(const double us, device_->Time(stream, run));
    all.push_back(us);
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

absl::StatusOr<std::vector<StepTime>> Executor::TimeSteps() const {
  RETURN_IF_ERROR(device_->MakeCurrent());
  ASSIGN_OR_RETURN(const DevicePointer cold, ColdMemory());
  const absl::Cleanup free_cold = [&] { device_->Free(cold); };
  std::vector<StepTime> out;
  std::map<int, size_t> seen;  // by group
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const auto it = seen.find(kernels_[i].group);
    if (it != seen.end()) {
      ++out[it->second].launches;
      out[it->second].steps.push_back(static_cast<int>(i));
      continue;
    }
    const Step& step = program_.steps[i];
    ASSIGN_OR_RETURN(const double us, SteadyTime(step, kernels_[i], cold));
    seen[kernels_[i].group] = out.size();
    out.push_back({step.family,
                   step.signature,
                   kernels_[i].variant,
                   us,
                   step.flops,
                   step.bytes,
                   1,
                   kernels_[i].place,
                   {static_cast<int>(i)}});
  }
  return out;
}

}  // namespace isomer::cuda

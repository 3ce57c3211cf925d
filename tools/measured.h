// A graph measured on a GPU: whole, kernel by kernel, and as predicted.
#ifndef ISOMER_TOOLS_MEASURED_H_
#define ISOMER_TOOLS_MEASURED_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost_model/cost.h"
#include "cost_model/profile.h"
#include "cuda/clock.h"
#include "cuda/device.h"
#include "cuda/executor.h"
#include "cuda/kernel_cache.h"
#include "graph/graph.h"
#include "ops/tensor.h"
#include "tools/json.h"
#include "tools/trace.h"

namespace isomer::cli {

// A planned kernel as it ran in a model.
struct KernelTime {
  std::string signature;
  double us = 0;      // on average
  int64_t times = 0;  // that the plan has it
  std::string variant;
};

// One form of the model on the device.
struct Measured {
  double us = 0;                // measured, whole; 0: it was not
  double mhz = 0;               // of the device then
  double on_one_stream_us = 0;  // if steps are asked for
  double planned_us = 0;        // as the cost model says
  double predicted_us = 0;      // by what the profile knows
  double measured_share = 0;    // of what is predicted
  double floor_us = 0;
  double compile_seconds = 0;
  int64_t kernels = 0;
  int64_t streams = 1;
  int64_t weight_bytes = 0, arena_bytes = 0;
  std::optional<double> error = {};  // against the CPU
  bool agrees = true;                // that is within what types allow
  std::vector<Tensor> outputs = {};  // if asked for, of random inputs
  std::vector<cuda::StepTime> steps = {};
  std::vector<KernelTime> kernel_times = {};  // if steps were
  std::vector<TracedStep> trace = {};
  std::map<std::string, std::string> choices = {};
};

struct MeasureRequest {
  std::shared_ptr<cuda::Device> device;  // null: predict alone
  std::shared_ptr<cuda::Clock> clock;    // of the device
  const cost::CostModel* cost = nullptr;
  const cost::Profile* profile = nullptr;
  bool tune = true, tf32 = false, check = false, outputs = false;
  bool steps = false, trace = false;
  bool compile_only = false;  // into the cache, without running anything
  cuda::ExecutorOptions::Streams streams =
      cuda::ExecutorOptions::Streams::kTimed;
  int times = 100;
  std::map<std::string, std::string> choices = {};
  bool pass_on = false;  // what one graph has chosen the next need not time
  std::shared_ptr<cuda::KernelCache> cache = nullptr;
};

// Measures graphs, as many together as the device has memory for. Whole, they
// are timed in turns, so that what changes with time changes for all; more
// often where times differ. What is timed while the device's clock is low is
// timed again.
absl::StatusOr<std::vector<Measured>> MeasureAll(
    absl::Span<const ir::Graph* const> graphs, MeasureRequest request);
absl::StatusOr<Measured> Measure(const ir::Graph& graph,
                                 const MeasureRequest& request);

// The times of planned kernels of a model that takes `us` on one stream: those
// of its steps by themselves, and their share in what passes between the steps
// of the whole model or, where steps overlap, in what that saves. A kernel of
// several steps takes as long as all of them, kernels of one step share its
// time as the plan would have it.
std::vector<KernelTime> KernelTimes(absl::Span<const cuda::StepTime> steps,
                                    double us, const cuda::Program& program);

Json ToJson(const Measured& m);

// Of the pairs that are measured more than 3 % apart, how many there are and
// how many a prediction orders as measured.
struct Ordered {
  int64_t pairs = 0, as_predicted = 0, as_planned = 0;
};
Ordered OrderOf(const std::vector<Measured>& all);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_MEASURED_H_

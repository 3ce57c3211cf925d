// A run on a device, kernel by kernel, as chrome://tracing and Perfetto read
// it.
#ifndef ISOMER_TOOLS_TRACE_H_
#define ISOMER_TOOLS_TRACE_H_

#include <optional>
#include <string>
#include <vector>

#include "cuda/executor.h"
#include "tools/json.h"

namespace isomer::cli {

// A step of a program, and when it runs, where that is known.
struct TracedStep {
  std::string name, kernel;
  int stream = 0;
  double us = 0;  // by itself
  std::optional<cuda::StepSpan> span = {};
};

// The steps of the program that an executor runs.
std::vector<TracedStep> TracedSteps(
    const cuda::Executor& executor, const std::vector<cuda::StepTime>& times,
    const std::vector<std::optional<cuda::StepSpan>>& spans);

// Every stream has two rows: what runs, and what is set up meanwhile. A step of
// which nothing is known is shown behind the one before it, for as long as it
// takes by itself.
Json TraceOf(const std::vector<TracedStep>& steps);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_TRACE_H_

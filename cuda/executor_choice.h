// What an executor knows while it chooses kernels.
#ifndef ISOMER_CUDA_EXECUTOR_CHOICE_H_
#define ISOMER_CUDA_EXECUTOR_CHOICE_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/executor.h"

namespace isomer::cuda {

// A variant that is considered, or one way of a library to compute it.
struct Executor::Candidate {
  const Variant* variant = nullptr;
  std::string way = {};  // of a library; "": any
  KernelSource source = {};
  absl::StatusOr<std::string> code = absl::UnknownError("not compiled");
  std::shared_ptr<const DnnPlan> plan = nullptr;
};

struct Executor::Timed {
  Loaded kernel;
  double us = 0;       // alone
  bool likely = true;  // one of the fastest of its kind
};

// Steps of equal source, by that of their first variant, with the same
// variants, and those of them that are considered.
struct Executor::Group {
  std::vector<int> steps;
  std::string key;  // of its choice
  std::vector<Candidate> candidates;
  std::vector<Timed> fastest = {};  // and those that are nearly as fast

  bool IsCompared() const { return candidates.size() > 1; }
};

// What the compiler makes of it, from the cache if it is there.
absl::StatusOr<std::string> CompileCached(const Compiler& compiler,
                                          const std::string& source,
                                          const std::string& architecture,
                                          const KernelCache* cache);

inline double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since)
      .count();
}

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_EXECUTOR_CHOICE_H_

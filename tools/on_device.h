// Graphs that a search found, timed whole on a GPU: sums of kernels mislead.
#ifndef ISOMER_TOOLS_ON_DEVICE_H_
#define ISOMER_TOOLS_ON_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/isomer.h"
#include "cuda/device.h"

namespace isomer::cli {

struct Candidate {
  std::string costs;  // that it was searched with: "estimates" or "measured"
  OptimizeResult result;
  double us = 0;  // on a device, once it was timed
};

// What is found with estimated costs, and with those of a profile; graphs that
// are equal once.
absl::StatusOr<std::vector<Candidate>> Candidates(const Graph& graph,
                                                  OptimizeOptions options,
                                                  const std::string& profile);

// Of the candidates the one that runs fastest on the device, as a result that
// is not improved if the graph itself does. `us` are its time and that of the
// graph.
struct FastestResult {
  OptimizeResult result;
  double us = 0, original_us = 0;
};
absl::StatusOr<FastestResult> FastestOn(
    const std::shared_ptr<cuda::Device>& device, const Graph& graph,
    const std::vector<Candidate>& candidates);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_ON_DEVICE_H_

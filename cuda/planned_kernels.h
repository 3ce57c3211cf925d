// The kernels that the cost model plans for a graph as it is prepared for a
// device, and what a search calls them.
#ifndef ISOMER_CUDA_PLANNED_KERNELS_H_
#define ISOMER_CUDA_PLANNED_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

// A kernel as the cost model planned it.
struct PlannedKernel {
  std::string family, signature;
  double us = 0;  // as the cost model says
  // What the same kernel is called in the graph as it was before it was
  // prepared, which a search plans; "" if there is none.
  std::string searched_as = {};
};

// Those of the plan of a prepared graph that are launched.
std::vector<PlannedKernel> Launched(const ir::Graph& graph,
                                    const std::vector<cost::Kernel>& kernels);

// The same of a graph that is prepared for it, with what a search calls them.
absl::StatusOr<std::vector<PlannedKernel>> PlannedKernels(
    const ir::Graph& graph, const cost::CostModel& cost);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PLANNED_KERNELS_H_

// A kernel by itself, from what a profile calls it.
#ifndef ISOMER_TOOLS_KERNEL_GRAPH_H_
#define ISOMER_TOOLS_KERNEL_GRAPH_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cli {

// The graph that the kernel computes. Constants are random numbers.
absl::StatusOr<ir::Graph> KernelGraph(absl::string_view signature);

// True if the graph's plan is that kernel and nothing else.
bool IsPlannedAs(const ir::Graph& graph, absl::string_view signature,
                 const cost::CostModel& cost);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_KERNEL_GRAPH_H_

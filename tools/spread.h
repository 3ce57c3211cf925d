// Graphs between a model and its optimised form, to see whether the cost model
// orders them as a device does.
#ifndef ISOMER_TOOLS_SPREAD_H_
#define ISOMER_TOOLS_SPREAD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "api/isomer.h"
#include "cost_model/cost.h"

namespace isomer::cli {

// Up to `count` graphs that are equal to the given one and differ in what they
// cost, from the slowest to the fastest as the cost model says, that is, from
// the graph itself to the best that is found; those between are spread as
// evenly as they come. They are what searches find that lack some of the rules
// the best was made with. The same call gives the same graphs.
absl::StatusOr<std::vector<Graph>> SpreadOf(const Graph& graph,
                                            const cost::CostModel& cost,
                                            int count);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_SPREAD_H_

// Random graphs for tests of the planner: products, reductions, pointwise
// operators, views, concats and constants, with nodes that are read twice.
#ifndef ISOMER_COST_MODEL_RANDOM_GRAPH_TESTING_H_
#define ISOMER_COST_MODEL_RANDOM_GRAPH_TESTING_H_

#include <cstdint>

#include "graph/graph.h"

namespace isomer::cost {

// A graph of about `operators` operators; the same seed gives the same graph.
ir::Graph RandomGraph(uint64_t seed, int operators);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_RANDOM_GRAPH_TESTING_H_

// Dividing a graph into parts that are optimised one after the other.
//
// A cut costs what it severs: matches of rules and planned kernels, by their
// time. Along the order of the graph there are places where a cut costs next to
// nothing (between the layers of a network); what lies between two of them is a
// part. Where such places are too rare, a minimum cut, found as a maximum flow,
// divides what is left into balanced halves, again and again:
//
//   source = the first third |  cheapest closed cut  | the last third = sink
//
// Every part is convex: no path leaves it and comes back.
#ifndef ISOMER_SEARCH_SPLIT_H_
#define ISOMER_SEARCH_SPLIT_H_

#include <cstdint>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"
#include "search/session.h"
#include "search/topology.h"

namespace isomer::search {

struct SplitOptions {
  int max_nodes = 24;  // of a part; constants do not count
  bool flow = true;    // false: too large parts are cut in the middle
};

// The parts in the order of the graph. Opaque nodes are in none.
std::vector<std::vector<NodeId>> Split(const ir::Graph& graph,
                                       const Topology& topology,
                                       const cost::Plan& plan,
                                       const SplitOptions& options,
                                       Session& session);

// Nodes that belong together, and what it costs to part them.
struct Bond {
  std::vector<NodeId> nodes;
  int64_t weight_ps = 0;
};

// Divides convex `nodes` (in the graph's order) into parts of at most
// `max_nodes` by minimum cuts through `bonds`.
std::vector<std::vector<NodeId>> FlowSplit(const ir::Graph& graph,
                                           const std::vector<NodeId>& nodes,
                                           const std::vector<Bond>& bonds,
                                           int max_nodes);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SPLIT_H_

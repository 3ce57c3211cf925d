// The order of a graph's nodes and which of them depend on constants alone.
#ifndef ISOMER_SEARCH_TOPOLOGY_H_
#define ISOMER_SEARCH_TOPOLOGY_H_

#include <vector>

#include "graph/graph.h"

namespace isomer::search {

struct Topology {
  explicit Topology(const ir::Graph& graph);

  std::vector<NodeId> order;   // each node after its inputs
  std::vector<int> place;      // by id: where it stands in `order`
  std::vector<bool> constant;  // by id
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_TOPOLOGY_H_

// The order of a graph's nodes and which of them depend on constants alone.
#ifndef ISOMER_SEARCH_TOPOLOGY_H_
#define ISOMER_SEARCH_TOPOLOGY_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace isomer::search {

struct Topology {
  explicit Topology(const ir::Graph& graph);

  // The places of the first and the last of some nodes; 0 and -1 for none.
  std::pair<int, int> Span(absl::Span<const NodeId> nodes) const;

  std::vector<NodeId> order;   // each node after its inputs
  std::vector<int> place;      // by id: where it stands in `order`
  std::vector<bool> constant;  // by id
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_TOPOLOGY_H_

// What a node looks like together with what is around it: nodes at the same
// place of like blocks look alike.
#ifndef ISOMER_SEARCH_SURROUNDINGS_H_
#define ISOMER_SEARCH_SURROUNDINGS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "search/topology.h"

namespace isomer::search {

// By id: a hash of the node and of all within so many steps of it, up and down:
// operators, attributes, types, and which are outputs of the graph. Of
// constants only the type counts.
std::vector<uint64_t> Surroundings(const ir::Graph& graph,
                                   const Topology& topology, int steps);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SURROUNDINGS_H_

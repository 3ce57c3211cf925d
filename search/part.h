// A part of a graph, taken out to be optimised by itself and put back.
//
//      whole graph                       the part's own graph
//   ... -> r1 -> [ a -> b ] -> r2 ...    input -> r1 -> a -> b -> r2 -> output
//
// Around the inner nodes lies a ring of neighbours: they are seen by rules and
// planned with the rest, but not rewritten. Constants come along. What lies
// beyond the ring is an input or an output of the part's graph. So what happens
// to a part costs what the part is, not what the model is.
#ifndef ISOMER_SEARCH_PART_H_
#define ISOMER_SEARCH_PART_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "search/topology.h"

namespace isomer::search {

struct Part {
  ir::Graph graph;
  // By id in `graph`: the input or node that it is in the whole graph.
  std::vector<Value> whole;
  std::vector<bool> frozen;     // by id in `graph`
  std::vector<Value> boundary;  // inner values of the whole used outside it
  std::vector<NodeId> inner;    // in the whole graph
  // Parts with equal signatures are the same but for their constants: nodes,
  // interface types, ring and constness agree, id by id.
  std::vector<uint64_t> signature;
};

// Takes out the part that consists of `inner`: operators that are not constant,
// none of which lies on a path that leaves the set and comes back.
Part TakeOut(const ir::Graph& whole, const Topology& topology,
             absl::Span<const NodeId> inner);

// The signature that TakeOut() would give the part, at less cost.
std::vector<uint64_t> SignatureOf(const ir::Graph& whole,
                                  const Topology& topology,
                                  absl::Span<const NodeId> inner);

// Returns the whole graph with the part's inner nodes replaced by `better`,
// which came from part.graph by rewriting.
absl::StatusOr<ir::Graph> PutBack(const ir::Graph& whole, const Part& part,
                                  const ir::Graph& better);

// True if no path leaves the set `inner` and comes back to it.
bool Convex(const ir::Graph& whole, const Topology& topology,
            absl::Span<const NodeId> inner);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_PART_H_

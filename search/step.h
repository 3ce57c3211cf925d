// One step of a search: a rewrite, or several that do not touch each other.
#ifndef ISOMER_SEARCH_STEP_H_
#define ISOMER_SEARCH_STEP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "search/rule_book.h"

namespace isomer::search {

// A rule of the book at a match that has all its choices; or the n-ary form of
// a pair rule at sibling values, in the order in which they are to be merged.
struct Move {
  int rule = -1;
  ir::Match match = {};
  std::vector<Value> siblings = {};
};

// Moves that were found in one graph. Those whose match is gone when their turn
// comes are left out.
using Step = std::vector<Move>;

struct Taken {
  ir::Graph graph;
  std::vector<NodeId> touched;  // nodes of the graph before that moves matched
  std::vector<int> moves;       // which of the step's moves were made
};

// Makes the moves of a step. FailedPrecondition if none can be made.
absl::StatusOr<Taken> Take(const ir::Graph& graph, const RuleBook& book,
                           const Step& step, ir::ConstantFacts& facts);

// True if the step's moves are matches of their rules in `graph` too. A step
// that was found in one graph may so be repeated in a graph of the same form.
bool Matches(const ir::Graph& graph, const RuleBook& book, const Step& step,
             ir::ConstantFacts& facts);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_STEP_H_

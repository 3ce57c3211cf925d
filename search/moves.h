// All steps from a graph: what a search tries next.
#ifndef ISOMER_SEARCH_MOVES_H_
#define ISOMER_SEARCH_MOVES_H_

#include <map>
#include <vector>

#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "search/rule_book.h"
#include "search/step.h"
#include "search/topology.h"

namespace isomer::search {

struct MoveOptions {
  // By id: nodes that are not to be rewritten. Ids beyond its end are free.
  std::vector<bool> frozen = {};
  // How many values of a `choose` are tried at a match.
  int choices = 3;
  // Rewrite constants, and nothing else.
  bool constants = false;
  // Also rules with several outputs, several matches of a rule at once, and the
  // n-ary forms of pair rules.
  bool merges = true;
  bool together = true;
  bool n_ary = true;
  // Also pairs of siblings in the order in which they were not found: it shows
  // in what reads them next to each other.
  bool both_orders = false;
};

// Knows which constants hold, or are computed from, an infinity or a NaN. Only
// exact rules may touch them: 0 times infinity is not 0. A constant is read
// when it is first asked for.
class FiniteConstants {
 public:
  FiniteConstants(const ir::Graph& graph, const Topology& topology,
                  ir::ConstantFacts& facts)
      : graph_(graph), topology_(topology), facts_(facts) {}

  // True if the rule may be applied at a match as far as that goes.
  bool Allow(const ir::Rule& rule, const ir::Match& match);

 private:
  bool Finite(NodeId root);
  bool FiniteAlone(NodeId id);

  const ir::Graph& graph_;
  const Topology& topology_;
  ir::ConstantFacts& facts_;
  std::map<NodeId, bool> known_;
};

// The steps from `graph`: every match of every rule by itself; all matches of a
// rule at one tensor and all its matches anywhere, together; and the n-ary
// forms of pair rules at sibling groups. Constants cost no time and are left as
// they are, unless the options ask for them.
std::vector<Step> FindSteps(const ir::Graph& graph, const RuleBook& book,
                            const MoveOptions& options,
                            ir::ConstantFacts& facts);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_MOVES_H_

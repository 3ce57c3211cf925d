// Finding where a rule applies in a graph.
//
// A source is looked for from one of its outputs: every node with that
// operator, then down along operands; the other parts are reached up along
// users of what is bound. A match is an assignment of the source's nodes and
// variables; each is found exactly once, in an order that depends on node ids
// alone. Of a match and its images under the symmetries of the rule only the
// first counts. The outputs of a match are different values.
//
// A match lies within a case of the rule (graph/rule.h), since proofs do; so
// no tensor of a match has a rank above 5.
//
// A variable that the rule types as float matches float tensors alone (and so
// for bool and integers), unless the rule is exact; and only an exact rule
// matches constants that hold infinity or NaN.
#ifndef ISOMER_GRAPH_MATCH_H_
#define ISOMER_GRAPH_MATCH_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "graph/rule.h"

namespace isomer::ir {

struct Match {
  std::vector<Value> outputs;  // what the source's outputs are
  std::vector<Value> tensors;  // by tensor variable
  std::vector<NodeId> nodes;   // by node of the source; -1 for leaves
  // By attribute variable; those of `choose` have no value yet.
  std::vector<std::optional<Attr>> attrs;
};

// The live nodes of a graph by operator.
class OpIndex {
 public:
  explicit OpIndex(const Graph& graph);

  // The nodes with that operator, by id.
  absl::Span<const NodeId> Nodes(const OpDef* op) const;

 private:
  absl::flat_hash_map<const OpDef*, std::vector<NodeId>> nodes_;
};

struct MatchOptions {
  // Also what lies in no case: for rules that hold by definition.
  bool beyond_cases = false;
};

// All matches of a rule. `index` must be that of `graph` as it is now.
std::vector<Match> FindMatches(const Graph& graph, const OpIndex& index,
                               const Rule& rule, ConstantFacts& facts,
                               const MatchOptions& options = {});
// The same with an index and facts for this one call.
std::vector<Match> FindMatches(const Graph& graph, const Rule& rule,
                               const MatchOptions& options = {});

// The match with every combination of values for the variables that the target
// chooses, at most `limit` of them; the match itself if it chooses none.
std::vector<Match> Choices(const Graph& graph, const Rule& rule,
                           const Match& match, int limit = 256);

// The value that all elements of `v` have, where the graph shows it: a filled
// constant, a fill, or a broadcast or reshape of one.
std::optional<double> SplatOf(const Graph& graph, Value v);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_MATCH_H_

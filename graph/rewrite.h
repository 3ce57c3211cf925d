// One rewrite step: a rule applied at a match.
#ifndef ISOMER_GRAPH_REWRITE_H_
#define ISOMER_GRAPH_REWRITE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "graph/rule.h"

namespace isomer::ir {

// Returns the graph with the outputs of the match replaced by the target. The
// target's nodes are shared with equal ones that are there already; what died
// is gone, an inner value that is used outside stays. A match must have all
// its choices (Choices() in graph/match.h).
//
// FailedPrecondition means that the rule does not apply here: the target has
// no type, or another one than the source; the result would be cyclic (parts
// of a source with several outputs may depend on each other); or nothing would
// change.
absl::StatusOr<Graph> Apply(const Graph& graph, const Rule& rule,
                            const Match& match);

// The n-ary form of a pair rule (`fold`): applies the rule to two outputs, then
// to the result and the next one, and so on; then flattens nested concats along
// one axis and slices of slices. `values` are outputs of sibling matches, two
// or more of them, in the order in which they are merged.
absl::StatusOr<Graph> ApplyFold(const Graph& graph, const Rule& rule,
                                absl::Span<const Value> values,
                                ConstantFacts& facts);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_REWRITE_H_

// Sibling groups: values that the n-ary form of a pair rule merges in one step,
// such as all products of one input.
#ifndef ISOMER_SEARCH_SIBLINGS_H_
#define ISOMER_SEARCH_SIBLINGS_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "search/rule_book.h"

namespace isomer::search {

// More siblings than this are merged in groups.
inline constexpr int kMaxSiblings = 32;

// The groups of two or more siblings among the matches of a pair rule: those
// that share what both parts of the rule share, and that do not depend on each
// other. A group is ordered by what its members do not share, so that groups
// over the same operands come out alike. Besides whole groups there are the
// subsets that two groups have in common: merged, they become siblings in turn.
std::vector<std::vector<Value>> SiblingGroups(
    const ir::Graph& graph, const ir::Rule& rule,
    absl::Span<const ir::Match> matches);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SIBLINGS_H_

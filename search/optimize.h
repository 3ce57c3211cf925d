// Finds a graph that is equal to a given one and costs less.
//
//   simplify    what pays by itself, everywhere at once
//   siblings    n-ary merges, across the whole graph
//   parts       the graph divided; each part searched by relaxed backtracking,
//               parts of one form once and the steps repeated in the others
//   seams       the same with parts that overlap the cuts
//
// and again from the start until a round brings nothing. search/README.md tells
// more.
#ifndef ISOMER_SEARCH_OPTIMIZE_H_
#define ISOMER_SEARCH_OPTIMIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost_model/cost.h"
#include "graph/graph.h"
#include "search/limits.h"
#include "search/options.h"
#include "search/rule_book.h"

namespace isomer::search {

// Relaxed backtracking over the whole graph and nothing else, one rewrite at a
// time and `expansions` graphs expanded: the search of TASO, to compare with.
SearchOptions PlainSearch(int64_t expansions = 100);

// How often a rule was applied in the result and what that brought.
struct RuleUse {
  std::string rule;
  std::string proof;  // what proved it
  int64_t times = 0;
  double gain_us = 0;
};

struct SearchResult {
  ir::Graph graph;
  cost::Plan before, after;
  std::vector<RuleUse> rules;  // those used, by gain, then by name
  int64_t expansions = 0;
  int64_t candidates = 0;
  int64_t parts = 0;     // that were searched
  int64_t repeated = 0;  // that took over the steps of another
  Stop stop = Stop::kDone;
  bool improved = false;  // false: `graph` is the original
};

// Errors are those of options: an alpha below 1, a limit below 0.
absl::StatusOr<SearchResult> Optimize(const ir::Graph& graph,
                                      const RuleBook& book,
                                      const cost::CostModel& cost,
                                      const SearchOptions& options = {});

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_OPTIMIZE_H_

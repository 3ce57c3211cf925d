// Searches that lack rules end at different places. Limits are counts, not
// times, so that it does not matter how fast the machine is.
#include "tools/spread.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "api/graph_access.h"
#include "graph/graph.h"
#include "ops/status.h"
#include "search/optimize.h"
#include "search/rule_book.h"

namespace isomer::cli {

namespace {

constexpr int kSearches = 24;
constexpr int64_t kExpansions = 60, kPartExpansions = 20;

struct Found {
  ir::Graph graph;
  cost::Cost cost;
};

search::RuleBook Without(const search::RuleBook& book,
                         const std::set<std::string>& dropped) {
  search::RuleBook out;
  for (const search::BookRule& r : book.rules()) {
    if (dropped.count(r.rule.name()) == 0) out.Add(r);
  }
  return out;
}

// Of graphs from the slowest to the fastest, `count` at about equal distances.
std::vector<Found> Evenly(std::vector<Found> all, size_t count) {
  while (all.size() > std::max<size_t>(count, 2)) {
    // Without this one the gap between its neighbours is the smallest.
    size_t least = 1;
    for (size_t i = 1; i + 1 < all.size(); ++i) {
      auto gap = [&](size_t k) {
        return all[k - 1].cost.time_ps - all[k + 1].cost.time_ps;
      };
      if (gap(i) < gap(least)) least = i;
    }
    all.erase(all.begin() + static_cast<int64_t>(least));
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<Graph>> SpreadOf(const Graph& graph,
                                            const cost::CostModel& cost,
                                            int count) {
  std::vector<std::string> refused;
  ASSIGN_OR_RETURN(const search::RuleBook book,
                   search::RuleBook::BuiltIn(refused));
  search::SearchOptions how;
  how.limits.expansions = kExpansions;
  how.part_expansions = kPartExpansions;
  const ir::Graph& original = GraphAccess::Ir(graph);
  ASSIGN_OR_RETURN(const search::SearchResult best,
                   search::Optimize(original, book, cost, how));
  std::vector<Found> found = {{original, best.before.cost()}};
  // What costs the same in all respects has the same kernels.
  auto add = [&](const search::SearchResult& r) {
    for (const Found& f : found) {
      if (f.cost == r.after.cost()) return;
    }
    found.push_back({r.graph, r.after.cost()});
  };
  add(best);
  std::mt19937 random(1);
  for (int i = 0; best.improved && i < kSearches; ++i) {
    std::set<std::string> dropped;
    for (const search::RuleUse& u : best.rules) {
      if (static_cast<int>(random() % kSearches) < i) dropped.insert(u.rule);
    }
    ASSIGN_OR_RETURN(
        const search::SearchResult r,
        search::Optimize(original, Without(book, dropped), cost, how));
    add(r);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) {
                     return a.cost.time_ps > b.cost.time_ps;
                   });
  std::vector<Graph> out;
  for (Found& f : Evenly(std::move(found), count)) {
    out.push_back(GraphAccess::With(graph, std::move(f.graph)));
  }
  return out;
}

}  // namespace isomer::cli

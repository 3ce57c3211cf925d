// Searches on many random graphs: what they find must be equal to them.
#include <gtest/gtest.h>

#include <random>

#include "graph/text.h"
#include "search/optimize.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

SearchResult Find(const ir::Graph& g, const RuleBook& book,
                  const cost::CostModel& cost, const SearchOptions& options) {
  auto r = Optimize(g, book, cost, options);
  EXPECT_TRUE(r.ok()) << r.status();
  return *std::move(r);
}

void TryRandomGraphs(uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const RuleBook& book = AllRules();
  const cost::CostModel cost = MakeCost();
  int improved = 0;
  for (int round = 0; round < count; ++round) {
    const ir::Graph g =
        RandomGraph(random, 4 + static_cast<int>(random() % 40));
    SearchOptions options;
    options.limits.expansions = 25;
    options.part_nodes = 12;
    const SearchResult r = Find(g, book, cost, options);
    improved += r.improved;
    ASSERT_EQ(Difference(g, r.graph), "") << ir::PrintGraph(g);
    ASSERT_LE(r.after.cost().time_ps, r.before.cost().time_ps);
    ASSERT_EQ(r.after.cost().time_ps, cost.MakePlan(r.graph).cost().time_ps);
  }
  EXPECT_GT(improved, count / 5);
}

TEST(RandomGraphsTest, ComeOutEqual) { TryRandomGraphs(11, 100); }

TEST(ManyRandomGraphsTest, ComeOutEqual) { TryRandomGraphs(12, 500); }

}  // namespace
}  // namespace isomer::search

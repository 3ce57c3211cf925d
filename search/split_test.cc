// Parts are small, convex and complete; cuts run where little is severed.
#include "search/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/part.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

std::vector<NodeId> Running(const ir::Graph& g, const Topology& t) {
  std::vector<NodeId> out;
  for (NodeId id : t.order) {
    if (g.node(id).op != nullptr && !t.constant[id.value]) out.push_back(id);
  }
  return out;
}

TEST(SplitTest, PartsAreSmallConvexAndComplete) {
  std::mt19937_64 random(4);
  const RuleBook book = AllRules();
  const cost::CostModel cost = MakeCost();
  Workers workers(1);
  Session session(book, cost, workers, {}, nullptr);
  for (int round = 0; round < 20; ++round) {
    const ir::Graph g = RandomGraph(random, 60);
    const Topology t(g);
    std::set<NodeId> seen;
    for (const auto& part :
         Split(g, t, cost.MakePlan(g), {.max_nodes = 8}, session)) {
      EXPECT_LE(part.size(), 8u);
      EXPECT_TRUE(Convex(g, t, part));
      for (NodeId id : part) EXPECT_TRUE(seen.insert(id).second);
    }
    EXPECT_EQ(seen.size(), Running(g, t).size());
  }
}

TEST(SplitTest, TheFlowCutsTheCheapestBond) {
  std::string text = "input x: f32[4]\n";
  for (int i = 0; i < 9; ++i) {
    absl::StrAppend(&text, "v", i, " = relu(",
                    i ? absl::StrCat("v", i - 1) : "x", ")\n");
  }
  const ir::Graph g = MakeGraph(text + "output y = v8\n");
  const std::vector<NodeId> nodes = Running(g, Topology(g));
  ASSERT_EQ(nodes.size(), 9u);
  std::vector<Bond> bonds;
  for (int i = 0; i < 8; ++i) {
    bonds.push_back({{nodes[i], nodes[i + 1]}, i == 4 ? 1 : 100});
  }
  const auto parts = FlowSplit(g, nodes, bonds, 6);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(), 5u);
}

TEST(SplitTest, OpaqueNodesPartTheGraph) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[4]
a = relu(x)
b = opaque "my:Op" "k" (a): f32[4]
c = tanh(b)
d = add(c, a)
output y = d
)");
  const RuleBook book = AllRules();
  const cost::CostModel cost = MakeCost();
  Workers workers(1);
  Session session(book, cost, workers, {}, nullptr);
  const Topology t(g);
  const auto parts = Split(g, t, cost.MakePlan(g), {}, session);
  ASSERT_EQ(parts.size(), 2u);
  for (const auto& part : parts) EXPECT_TRUE(Convex(g, t, part));
}

}  // namespace
}  // namespace isomer::search

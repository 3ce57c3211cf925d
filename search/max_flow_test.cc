// Flows of small networks, and minimum cuts against all cuts.
#include "search/max_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace isomer::search {
namespace {

TEST(MaxFlowTest, TakesTheNarrowestWay) {
  FlowNetwork net(4);
  net.AddEdge(0, 1, 5);
  net.AddEdge(1, 2, 3);
  net.AddEdge(2, 3, 7);
  EXPECT_EQ(net.MaxFlow(0, 3), 3);
  EXPECT_EQ(net.SourceSide(0), std::vector<bool>({true, true, false, false}));
}

TEST(MaxFlowTest, IsZeroWithoutAPath) {
  FlowNetwork net(3);
  net.AddEdge(0, 1, 5);
  net.AddEdge(2, 1, 5);
  EXPECT_EQ(net.MaxFlow(0, 2), 0);
  EXPECT_EQ(net.SourceSide(0), std::vector<bool>({true, true, false}));
}

TEST(MaxFlowTest, SaysSoWhenNoCutIsFinite) {
  FlowNetwork net(2);
  net.AddEdge(0, 1, FlowNetwork::kInfinite);
  EXPECT_EQ(net.MaxFlow(0, 1), FlowNetwork::kInfinite);
}

TEST(MaxFlowTest, InfiniteWaysBackForceOperandsAlong) {
  // 1 -> 2 with an infinite way back: 2 may lie near the source only with 1.
  FlowNetwork net(4);
  net.AddEdge(0, 2, FlowNetwork::kInfinite);
  net.AddEdge(1, 2, 1, FlowNetwork::kInfinite);
  net.AddEdge(1, 3, 9);
  EXPECT_EQ(net.MaxFlow(0, 3), 9);
  EXPECT_EQ(net.SourceSide(0), std::vector<bool>({true, true, true, false}));
}

TEST(MaxFlowTest, EqualsTheCheapestOfAllCuts) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + static_cast<int>(random() % 6);
    std::vector<std::tuple<int, int, int64_t, int64_t>> edges;
    FlowNetwork net(n);
    for (int i = 0; i < 2 * n; ++i) {
      const int a = static_cast<int>(random() % n);
      const int b = static_cast<int>(random() % n);
      if (a == b) continue;
      const int64_t there = random() % 10, back = random() % 4;
      edges.push_back({a, b, there, back});
      net.AddEdge(a, b, there, back);
    }
    auto cost = [&](auto near) {
      int64_t sum = 0;
      for (const auto& [a, b, there, back] : edges) {
        if (near(a) && !near(b)) sum += there;
        if (near(b) && !near(a)) sum += back;
      }
      return sum;
    };
    int64_t least = FlowNetwork::kInfinite;
    for (int set = 0; set < 1 << n; ++set) {
      if ((set & 1) == 0 || (set >> (n - 1) & 1) != 0) continue;
      least = std::min(least, cost([&](int i) { return (set >> i & 1) != 0; }));
    }
    EXPECT_EQ(net.MaxFlow(0, n - 1), least);
    const std::vector<bool> side = net.SourceSide(0);
    EXPECT_TRUE(side[0]);
    EXPECT_FALSE(side[n - 1]);
    EXPECT_EQ(cost([&](int i) { return side[i]; }), least);
  }
}

}  // namespace
}  // namespace isomer::search

// Parts taken out and put back.
#include "search/part.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/text.h"
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

std::vector<NodeId> Named(const ir::Graph& g, absl::string_view op) {
  std::vector<NodeId> out;
  for (NodeId id : g.Order()) {
    if (g.node(id).Is(op)) out.push_back(id);
  }
  return out;
}

constexpr char kTwoBlocks[] = R"(
input x: f32[2,4]
const w1: f32[4,4] = random
const b1: f32[4] = random
const w2: f32[4,4] = random
const b2: f32[4] = random
m1 = matmul(x, w1)
c1 = broadcast(b1, shape=[2 4], dims=[1])
a1 = add(m1, c1)
r1 = relu(a1)
m2 = matmul(r1, w2)
c2 = broadcast(b2, shape=[2 4], dims=[1])
a2 = add(m2, c2)
r2 = relu(a2)
output y = r2
)";

TEST(PartTest, ShowsTheRingAndNamesTheRest) {
  const ir::Graph g = MakeGraph(kTwoBlocks);
  const Topology t(g);
  const Part part = TakeOut(g, t, {Named(g, "add")[0]});
  EXPECT_EQ(ir::PrintGraph(part.graph, {.max_constant = 1}),
            R"(input in0: f32[2,4]
const w1: f32[4,4] = ...
v0 = matmul(in0, w1)
const b1: f32[4] = ...
v1 = broadcast(b1, shape=[2 4], dims=[1])
v2 = add(v0, v1)
v3 = relu(v2)
output out0 = v3
)");
}

TEST(PartTest, PuttingBackWhatWasTakenOutChangesNothing) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    const ir::Graph g = RandomGraph(random, 14);
    const Topology t(g);
    const std::vector<NodeId> all = Running(g, t);
    if (all.size() < 3) continue;
    const size_t from = random() % all.size();
    const size_t to = from + 1 + random() % (all.size() - from);
    const std::vector<NodeId> inner(all.begin() + from, all.begin() + to);
    const Part part = TakeOut(g, t, inner);
    EXPECT_EQ(SignatureOf(g, t, inner), part.signature);
    auto back = PutBack(g, part, part.graph);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(ir::Equal(g, *back))
        << ir::PrintGraph(g) << ir::PrintGraph(*back);
  }
}

TEST(PartTest, ARewrittenPartTakesItsPlace) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[2,4]
a = tanh(x)
b = relu(a)
c = relu(b)
d = tanh(c)
output y = d
output z = b
)");
  const Topology t(g);
  const Part part = TakeOut(g, t, Named(g, "relu"));
  auto rule = ir::ReadRuleBody("relu(relu(x)) => relu(x)");
  ASSERT_TRUE(rule.ok());
  const auto matches = ir::FindMatches(part.graph, (*rule)[0]);
  ASSERT_EQ(matches.size(), 1u);
  auto better = ir::Apply(part.graph, (*rule)[0], matches[0]);
  ASSERT_TRUE(better.ok()) << better.status();
  auto whole = PutBack(g, part, *better);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(ir::PrintGraph(*whole), R"(input x: f32[2,4]
v0 = tanh(x)
v1 = relu(v0)
v2 = tanh(v1)
output y = v2
output z = v1
)");
}

TEST(PartTest, EqualFormsHaveEqualSignatures) {
  const ir::Graph g = MakeGraph(kTwoBlocks);
  const Topology t(g);
  const std::vector<NodeId> adds = Named(g, "add"), relus = Named(g, "relu");
  const Part first = TakeOut(g, t, {adds[0]});
  const Part second = TakeOut(g, t, {adds[1]});
  EXPECT_EQ(first.signature, second.signature);
  // The last relu is an output of the graph, the first one is not.
  EXPECT_NE(TakeOut(g, t, {adds[0], relus[0]}).signature,
            TakeOut(g, t, {adds[1], relus[1]}).signature);
  EXPECT_NE(first.signature, TakeOut(g, t, {relus[0]}).signature);
}

TEST(PartTest, TellsAPathThatLeavesAndComesBack) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[2]
a = relu(x)
b = tanh(a)
c = add(a, b)
output y = c
)");
  const Topology t(g);
  const NodeId a = Named(g, "relu")[0], b = Named(g, "tanh")[0],
               c = Named(g, "add")[0];
  EXPECT_FALSE(Convex(g, t, {a, c}));
  EXPECT_TRUE(Convex(g, t, {a, b}));
  EXPECT_TRUE(Convex(g, t, {b, c}));
  EXPECT_TRUE(Convex(g, t, {a, b, c}));
}

// By definition: a node outside that depends on the set and that it depends on.
bool ConvexByDefinition(const ir::Graph& g, const Topology& t,
                        const std::vector<NodeId>& inner) {
  auto depends_on_set = [&](NodeId id) {
    std::vector<NodeId> todo = {id};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      for (Value v : g.node(at).inputs) {
        if (absl::c_linear_search(inner, v.node)) return true;
        todo.push_back(v.node);
      }
    }
    return false;
  };
  std::vector<NodeId> below = inner;  // what the set depends on, and itself
  for (size_t i = 0; i < below.size(); ++i) {
    for (Value v : g.node(below[i]).inputs) {
      if (!absl::c_linear_search(below, v.node)) below.push_back(v.node);
    }
  }
  return absl::c_none_of(t.order, [&](NodeId id) {
    return !absl::c_linear_search(inner, id) &&
           absl::c_linear_search(below, id) && depends_on_set(id);
  });
}

TEST(PartTest, ConvexIsWhatItsDefinitionSays) {
  std::mt19937_64 random(3);
  int convex = 0, other = 0;
  for (int round = 0; round < 300; ++round) {
    const ir::Graph g = RandomGraph(random, 10);
    const Topology t(g);
    std::vector<NodeId> inner;
    for (NodeId id : Running(g, t)) {
      if (random() % 3 == 0) inner.push_back(id);
    }
    const bool want = ConvexByDefinition(g, t, inner);
    EXPECT_EQ(Convex(g, t, inner), want) << ir::PrintGraph(g);
    ++(want ? convex : other);
  }
  EXPECT_GT(convex, 50);
  EXPECT_GT(other, 50);
}

TEST(PartTest, WhatTheModelLeavesUnusedStays) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[2]
a = relu(x)
b = tanh(a)
c = sigmoid(a)
output y = b
)");
  const Topology t(g);
  const Part part = TakeOut(g, t, Running(g, t));
  auto back = PutBack(g, part, part.graph);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->size(), g.size());
}

}  // namespace
}  // namespace isomer::search

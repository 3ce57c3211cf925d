// Several moves in one step, stale ones left out; n-ary merges.
#include "search/step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/text.h"
#include "search/moves.h"
#include "search/search_testing.h"
#include "search/siblings.h"

namespace isomer::search {
namespace {

constexpr char kRules[] = R"(
rule relu_twice: relu(relu(x)) => relu(x)
rule merge:
  matmul(x, y), matmul(x, z)
  => let m = matmul(x, concat(y, z, axis=-1)) in
     slice(m, axis=-1, from=0, to=dim(y, -1)),
     slice(m, axis=-1, from=dim(y, -1), to=end)
fold merge
)";

int RuleNamed(const RuleBook& book, absl::string_view name) {
  for (int i = 0; i < book.size(); ++i) {
    if (book[i].rule.name() == name) return i;
  }
  return -1;
}

TEST(StepTest, MovesWhoseMatchIsGoneAreLeftOut) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[4]
a = relu(x)
b = relu(a)
c = relu(b)
output y = c
)");
  const RuleBook book = MakeBook(kRules);
  const int rule = RuleNamed(book, "relu_twice");
  Step step;
  for (const ir::Match& m : ir::FindMatches(g, book[rule].rule)) {
    step.push_back({.rule = rule, .match = m});
  }
  ASSERT_EQ(step.size(), 2u);
  ir::ConstantFacts facts;
  auto taken = Take(g, book, step, facts);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->moves.size(), 1u);
  EXPECT_EQ(Difference(g, taken->graph), "");
}

TEST(StepTest, AStepWithoutMovesIsAnError) {
  const ir::Graph g = MakeGraph("input x: f32[4]\na = relu(x)\noutput y = a\n");
  ir::ConstantFacts facts;
  EXPECT_EQ(Take(g, MakeBook(kRules), {}, facts).status().message(),
            "the step has no moves");
}

TEST(StepTest, SiblingsMergeInTheOrderGiven) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[2,4]
const w0: f32[4,3] = random
const w1: f32[4,5] = random
const w2: f32[4,2] = random
a = matmul(x, w0)
b = matmul(x, w1)
c = matmul(x, w2)
output p = a
output q = b
output r = c
)");
  const RuleBook book = MakeBook(kRules);
  const int rule = RuleNamed(book, "merge");
  Move move{.rule = rule};
  for (int i : {2, 0, 1}) move.siblings.push_back(g.outputs()[i].value);
  ir::ConstantFacts facts;
  auto taken = Take(g, book, {move}, facts);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(ir::PrintGraph(taken->graph, {.max_constant = 1}),
            R"(input x: f32[2,4]
const w2: f32[4,2] = ...
const w0: f32[4,3] = ...
const w1: f32[4,5] = ...
v0 = concat(w2, w0, w1, axis=1)
v1 = matmul(x, v0)
v2 = slice(v1, axes=[1], from=[2], to=[5], step=[1])
v3 = slice(v1, axes=[1], from=[5], to=[10], step=[1])
v4 = slice(v1, axes=[1], from=[0], to=[2], step=[1])
output p = v2
output q = v3
output r = v4
)");
  EXPECT_EQ(Difference(g, taken->graph), "");
}

TEST(StepTest, WhatIsNoSiblingIsNotMerged) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[2,4]
input z: f32[2,4]
const w0: f32[4,3] = random
const w1: f32[4,5] = random
a = matmul(x, w0)
b = matmul(z, w1)
output p = a
output q = b
)");
  const RuleBook book = MakeBook(kRules);
  Move move{.rule = RuleNamed(book, "merge"),
            .match = {},
            .siblings = {g.outputs()[0].value, g.outputs()[1].value}};
  ir::ConstantFacts facts;
  EXPECT_EQ(Take(g, book, {move}, facts).status().message(),
            "rule merge does not apply: value 1 does not match");
}

TEST(StepTest, AStepOfOneGraphIsLookedForInAnother) {
  const RuleBook book = MakeBook("rule scale: mul(x, 2) => add(x, x)");
  auto graph = [](absl::string_view c) {
    return MakeGraph(absl::StrCat("input x: f32[4]\nconst c: f32[4] = ", c,
                                  "\na = mul(x, c)\noutput y = a\n"));
  };
  const ir::Graph two = graph("2"), three = graph("3");
  ir::ConstantFacts facts;
  const int rule = RuleNamed(book, "scale");
  const auto matches = ir::FindMatches(two, book[rule].rule);
  ASSERT_EQ(matches.size(), 1u);
  const Step step = {{.rule = rule, .match = matches[0]}};
  EXPECT_TRUE(Matches(two, book, step, facts));
  EXPECT_FALSE(Matches(three, book, step, facts));
}

TEST(MovesTest, FrozenNodesAndConstantsAreLeftAlone) {
  const ir::Graph g = MakeGraph(R"(
input x: f32[4]
const c: f32[4] = random
a = relu(x)
b = relu(a)
d = relu(c)
e = relu(d)
f = add(b, e)
output y = f
)");
  const RuleBook book = MakeBook("rule relu_twice: relu(relu(x)) => relu(x)");
  ir::ConstantFacts facts;
  EXPECT_EQ(FindSteps(g, book, {}, facts).size(), 1u);
  MoveOptions options;
  options.frozen.assign(g.id_bound(), true);
  EXPECT_TRUE(FindSteps(g, book, options, facts).empty());
}

}  // namespace
}  // namespace isomer::search

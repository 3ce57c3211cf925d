// Whole searches: what is found, what must not be, limits, determinism.
#include "search/optimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/text.h"
#include "search/moves.h"
#include "search/search_testing.h"
#include "search/topology.h"

namespace isomer::search {
namespace {

SearchResult Find(const ir::Graph& g, const RuleBook& book,
                  const SearchOptions& options = {}) {
  auto r = Optimize(g, book, MakeCost(), options);
  EXPECT_TRUE(r.ok()) << r.status();
  return *std::move(r);
}

// How many running operators of each kind there are: "add 2, matmul 1".
std::string Operators(const ir::Graph& g) {
  const Topology t(g);
  std::map<std::string, int> counts;
  for (NodeId id : t.order) {
    const ir::Node& n = g.node(id);
    if (n.op != nullptr && !t.constant[id.value]) ++counts[n.op->name];
  }
  std::string out;
  for (const auto& [name, n] : counts) {
    absl::StrAppend(&out, out.empty() ? "" : ", ", name, " ", n);
  }
  return out;
}

// Optimises, checks equality, and tells the operators of the result.
std::string Optimized(absl::string_view text,
                      const SearchOptions& options = {}) {
  const ir::Graph g = MakeGraph(text);
  const SearchResult r = Find(g, AllRules(), options);
  EXPECT_EQ(Difference(g, r.graph), "");
  EXPECT_LE(r.after.cost().time_ps, r.before.cost().time_ps);
  return Operators(r.graph);
}

TEST(OptimizeTest, LowRankAdaptersFoldIntoTheirWeights) {
  EXPECT_EQ(Optimized(R"(
input x: f32[1,64]
const w: f32[64,64] = random
const a: f32[64,4] = random
const b: f32[4,64] = random
const s: f32[] = 2
m = matmul(x, w)
p = matmul(x, a)
q = matmul(p, b)
c = broadcast(s, shape=[1 64], dims=[])
t = mul(q, c)
y = add(m, t)
r = relu(y)
output o = r
)"),
            "matmul 1, relu 1");
}

constexpr char kBranches[] = R"(
input x: f32[1,8,6,6]
const w3: f32[8,8,3,3] = random
const b3: f32[8] = random
const w1: f32[8,8,1,1] = random
const b1: f32[8] = random
const scale: f32[8] = random
const bias: f32[8] = random
const mean: f32[8] = random
const var: f32[8] = 1.5
c3 = conv2d(x, w3, pad=[1 1 1 1])
d3 = broadcast(b3, shape=[1 8 6 6], dims=[1])
a3 = add(c3, d3)
c1 = conv2d(x, w1)
d1 = broadcast(b1, shape=[1 8 6 6], dims=[1])
a1 = add(c1, d1)
n = batch_norm(x, scale, bias, mean, var)
s = add(a1, a3)
t = add(s, n)
r = relu(t)
output y = r
)";

TEST(OptimizeTest, ThreeBranchesBecomeOneConvolution) {
  EXPECT_EQ(Optimized(kBranches), "add 1, conv2d 1, relu 1");
}

TEST(OptimizeTest, NormsFoldIntoConvolutions) {
  EXPECT_EQ(Optimized(R"(
input x: f32[1,8,6,6]
const w: f32[8,8,3,3] = random
const b: f32[8] = random
const scale: f32[8] = random
const bias: f32[8] = random
const mean: f32[8] = random
const var: f32[8] = 1.5
c = conv2d(x, w)
d = broadcast(b, shape=[1 8 4 4], dims=[1])
a = add(c, d)
n = batch_norm(a, scale, bias, mean, var)
r = relu(n)
output y = r
)"),
            "add 1, conv2d 1, relu 1");
}

TEST(OptimizeTest, ManySiblingsOfUnequalWidthsMergeAtOnce) {
  std::string text = "input x: f32[1,64]\n";
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&text, "const w", i, ": f32[64,", 8 + i, "] = random\n",
                    "m", i, " = matmul(x, w", i, ")\nt", i, " = tanh(m", i,
                    ")\noutput y", i, " = t", i, "\n");
  }
  const std::string found = Optimized(text);
  EXPECT_NE(found.find("matmul 1,"), std::string::npos) << found;
}

// The weights of two steps are the same, so their products are one.
TEST(OptimizeTest, SiblingsMergeAcrossSteps) {
  std::string text = "input x0: f32[1,64]\ninput x1: f32[1,64]\n";
  for (int g = 0; g < 4; ++g) {
    absl::StrAppend(&text, "const w", g, ": f32[64,64] = random\n");
    for (int s = 0; s < 2; ++s) {
      absl::StrAppend(&text, "m", s, g, " = matmul(x", s, ", w", g, ")\nt", s,
                      g, " = tanh(m", s, g, ")\noutput y", s, g, " = t", s, g,
                      "\n");
    }
  }
  const std::string found = Optimized(text);
  EXPECT_NE(found.find("matmul 1,"), std::string::npos) << found;
}

// What reads two products next to each other wants them merged in its order,
// here not that of the graph.
TEST(OptimizeTest, SiblingsOfASmallGraphMergeInEitherOrder) {
  EXPECT_EQ(Optimized(R"(
input x: f32[64,64]
const w: f32[64,64] = random
a = matmul(x, w)
b = matmul(a, w)
r = relu(b)
c = matmul(r, w)
k = concat(c, a, axis=0)
output y = k
)"),
            "concat 1, matmul 2, relu 1");
}

// ---- What must not be rewritten

// Layers with two products of one input and a residual sum.
std::string GatedLayers(int layers) {
  std::string text = "input x0: f32[8,64]\n";
  for (int i = 0; i < layers; ++i) {
    absl::StrAppend(&text, absl::Substitute(R"(const a$0: f32[64,64] = random
const b$0: f32[64,64] = random
const g$0: f32[64] = random
const h$0: f32[64] = random
l$0 = matmul(x$0, a$0)
r$0 = matmul(x$0, b$0)
t$0 = tanh(l$0)
s$0 = sigmoid(r$0)
m$0 = mul(t$0, s$0)
y$0 = add(m$0, x$0)
x$1 = layer_norm(y$0, g$0, h$0, axis=1)
)",
                                            i, i + 1));
  }
  return absl::StrCat(text, "output y = x", layers, "\n");
}

TEST(OptimizeTest, LayersOfOneFormAreSearchedOnce) {
  const SearchResult some = Find(MakeGraph(GatedLayers(10)), AllRules());
  const SearchResult many = Find(MakeGraph(GatedLayers(30)), AllRules());
  EXPECT_TRUE(absl::StrContains(Operators(some.graph), "matmul 10"));
  EXPECT_TRUE(absl::StrContains(Operators(many.graph), "matmul 30"));
  EXPECT_EQ(some.expansions, many.expansions);
  EXPECT_EQ(some.parts, many.parts);
  EXPECT_LT(some.repeated, many.repeated);
}

TEST(OptimizeTest, TrapsComeOutEqual) {
  for (absl::string_view trap : Traps()) Optimized(trap);
}

TEST(OptimizeTest, WhenNothingHelpsTheGraphIsTheOriginal) {
  const ir::Graph g = MakeGraph("input x: f32[4]\na = tanh(x)\noutput y = a\n");
  const SearchResult r = Find(g, AllRules());
  EXPECT_FALSE(r.improved);
  EXPECT_TRUE(ir::Equal(g, r.graph));
  EXPECT_EQ(r.stop, Stop::kDone);
  EXPECT_TRUE(r.rules.empty());
}

TEST(OptimizeTest, WhatIsWonMustBeMoreThanTheTargetIsSureOf) {
  const ir::Graph g = MakeGraph(kBranches);
  for (const auto& [least, improved] :
       {std::pair("0.01", true), std::pair("0.99", false)}) {
    auto target = cost::Target::Parse(
        absl::StrCat("target t\nlaunch_us 2\ndram_gbps 10\npeak f32 1\n"
                     "vector f32 1\nleast_gain ",
                     least));
    ASSERT_TRUE(target.ok()) << target.status();
    auto r = Optimize(g, AllRules(), *cost::CostModel::Create(*target));
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(r->improved, improved);
    EXPECT_EQ(ir::Equal(r->graph, g), !improved);
  }
}

TEST(OptimizeTest, InfiniteConstantsTakeNoPart) {
  EXPECT_EQ(Optimized(R"(
input x: f32[1,4]
const w: f32[4,2] = [[inf 1] [1 1] [1 1] [1 1]]
const v: f32[4,2] = random
a = matmul(x, w)
b = matmul(x, v)
output y = a
output z = b
)"),
            "matmul 2");
}

TEST(OptimizeTest, NorDoesWhatIsComputedFromThem) {
  // The second factor is a constant that holds an infinity, transposed.
  EXPECT_EQ(Optimized(R"(
input x: f32[1,4]
const w: f32[2,4] = [[inf 1 1 1] [1 1 1 1]]
const v: f32[4,2] = random
t = transpose(w, perm=[1 0])
a = matmul(x, t)
b = matmul(x, v)
output y = a
output z = b
)"),
            "matmul 2");
}

TEST(OptimizeTest, OpaqueNodesAreNotCrossed) {
  // Of three products in a row the last two fold into one.
  const ir::Graph g = MakeGraph(R"(
input x: f32[1,8]
const w0: f32[8,8] = random
const w1: f32[8,8] = random
const w2: f32[8,8] = random
a = matmul(x, w0)
b = opaque "my:Op" "k" (a): f32[1,8]
c = matmul(b, w1)
d = matmul(c, w2)
output y = d
)");
  EXPECT_EQ(Operators(Find(g, AllRules()).graph), "matmul 2");
}

// ---- Limits

TEST(OptimizeTest, EveryLimitGivesTheBestSoFarAndSaysWhy) {
  const ir::Graph g = MakeGraph(kBranches);
  const RuleBook book = AllRules();
  SearchOptions none;
  none.limits.expansions = 0;
  EXPECT_EQ(Find(g, book, none).stop, Stop::kExpansions);
  EXPECT_TRUE(ir::Equal(g, Find(g, book, none).graph));

  SearchOptions few;
  few.limits.expansions = 3;
  const SearchResult part = Find(g, book, few);
  EXPECT_EQ(part.stop, Stop::kExpansions);
  EXPECT_EQ(Difference(g, part.graph), "");

  SearchOptions hasty;
  hasty.limits.time = absl::ZeroDuration();
  EXPECT_EQ(Find(g, book, hasty).stop, Stop::kTime);

  SearchOptions small;
  small.limits.memory_bytes = 1;
  EXPECT_EQ(Find(g, book, small).stop, Stop::kMemory);

  SearchOptions cancelled;
  int calls = 0;
  cancelled.progress = [&](const Progress&) { return ++calls < 3; };
  const SearchResult stopped = Find(g, book, cancelled);
  EXPECT_EQ(stopped.stop, Stop::kCancelled);
  EXPECT_EQ(Difference(g, stopped.graph), "");
}

TEST(OptimizeTest, AResultKeepsWithinTheMemoryOfTheTarget) {
  const ir::Graph g = MakeGraph(kBranches);
  SearchOptions options;
  options.max_peak_bytes = 1;
  EXPECT_FALSE(Find(g, AllRules(), options).improved);
  options = {};
  options.max_weight_bytes = 1;
  EXPECT_FALSE(Find(g, AllRules(), options).improved);
  options.max_weight_bytes = int64_t{1} << 30;
  EXPECT_TRUE(Find(g, AllRules(), options).improved);
}

TEST(OptimizeTest, BadOptionsAreErrors) {
  const ir::Graph g = MakeGraph("input x: f32[4]\na = relu(x)\noutput y = a\n");
  const RuleBook book = AllRules();
  auto message = [&](const SearchOptions& o) {
    return std::string(Optimize(g, book, MakeCost(), o).status().message());
  };
  SearchOptions o;
  o.alpha = 0.5;
  EXPECT_EQ(message(o), "alpha is 0.5; it must be from 1 to 100");
  o = {};
  o.limits.expansions = -1;
  EXPECT_EQ(message(o), "a limit of the search is negative");
}

TEST(OptimizeTest, WithoutRulesNothingHappens) {
  const SearchResult r = Find(MakeGraph(kBranches), MakeBook(""));
  EXPECT_EQ(Difference(MakeGraph(kBranches), r.graph), "");
}

// ---- Determinism

TEST(OptimizeTest, ThreadsDoNotChangeTheResult) {
  std::mt19937_64 random(8);
  const RuleBook book = AllRules();
  for (int round = 0; round < 6; ++round) {
    const ir::Graph g = RandomGraph(random, 40);
    std::string first;
    for (int threads : {1, 2, 5}) {
      SearchOptions options;
      options.threads = threads;
      options.limits.expansions = 60;
      const SearchResult r = Find(g, book, options);
      const std::string text = absl::StrCat(ir::PrintGraph(r.graph), " ",
                                            r.expansions, " ", r.candidates);
      if (threads == 1) first = text;
      EXPECT_EQ(text, first);
    }
  }
}

}  // namespace
}  // namespace isomer::search

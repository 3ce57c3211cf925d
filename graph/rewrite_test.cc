// A graph and a rule in, the rewritten graph out, as text; and rewrites that
// must not happen.
#include "graph/rewrite.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "graph/rule.h"
#include "graph/text.h"

namespace isomer::ir {
namespace {

Rule MakeRule(absl::string_view text) {
  auto rules = ReadRuleBody(text);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules->front();
}

Graph MakeGraph(absl::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *graph;
}

// Both graphs compute the same on random inputs.
void ExpectSame(const Graph& a, const Graph& b) {
  std::mt19937_64 random(3);
  std::map<std::string, Tensor> inputs;
  for (NodeId id : a.inputs()) {
    const TensorType& type = a.type({id, 0});
    std::vector<double> values;
    for (int64_t i = 0; i < NumElements(type); ++i) {
      values.push_back(static_cast<double>(random() % 64) / 8 - 4);
    }
    inputs.emplace(*a.node(id).name, FromDoubles(type, values, Interp::kField));
  }
  EvaluateOptions options;
  options.interp = Interp::kField;
  auto x = Evaluate(a, inputs, options), y = Evaluate(b, inputs, options);
  ASSERT_TRUE(x.ok()) << x.status();
  ASSERT_TRUE(y.ok()) << y.status();
  for (size_t i = 0; i < x->size(); ++i) {
    EXPECT_TRUE((*x)[i].data == (*y)[i].data) << PrintGraph(b);
  }
}

// The graph after the first match with its first choice, or why not.
std::string Rewritten(absl::string_view graph_text, absl::string_view rule) {
  const Graph g = MakeGraph(graph_text);
  const Rule r = MakeRule(rule);
  std::vector<Match> matches = FindMatches(g, r);
  if (matches.empty()) return "no match";
  auto result = Apply(g, r, Choices(g, r, matches[0], 1).at(0));
  if (!result.ok()) return std::string(result.status().message());
  ExpectSame(g, *result);
  // The incremental hash is that of the same graph built anew.
  auto again = ParseGraph(PrintGraph(*result));
  EXPECT_TRUE(again.ok() && Equal(*again, *result)) << PrintGraph(*result);
  return PrintGraph(*result);
}

constexpr absl::string_view kMerge =
    "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1)) in "
    "slice(m, axis=-1, from=0, to=dim(y, -1)), "
    "slice(m, axis=-1, from=dim(y, -1), to=end)";

TEST(RewriteTest, Reassociates) {
  EXPECT_EQ(Rewritten(R"(
input a: f32[2,3]
input b: f32[3,4]
input c: f32[4,5]
d = matmul(b, c)
e = matmul(a, d)
output e = e
)",
                      "matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)"),
            R"(input a: f32[2,3]
input b: f32[3,4]
input c: f32[4,5]
v0 = matmul(a, b)
v1 = matmul(v0, c)
output e = v1
)");
}

TEST(RewriteTest, MergesProducts) {
  EXPECT_EQ(Rewritten(R"(
input x: f32[2,3]
input y: f32[3,4]
input z: f32[3,5]
a = matmul(x, y)
b = matmul(x, z)
output a = a
output b = b
)",
                      kMerge),
            R"(input x: f32[2,3]
input y: f32[3,4]
input z: f32[3,5]
v0 = concat(y, z, axis=1)
v1 = matmul(x, v0)
v2 = slice(v1, axes=[1], from=[0], to=[4], step=[1])
v3 = slice(v1, axes=[1], from=[4], to=[9], step=[1])
output a = v2
output b = v3
)");
}

TEST(RewriteTest, AnInnerValueThatIsUsedOutsideStays) {
  EXPECT_EQ(Rewritten(R"(
input a: f32[2,3]
input b: f32[3,4]
input c: f32[4,5]
d = matmul(b, c)
e = matmul(a, d)
output d = d
output e = e
)",
                      "matmul(x, matmul(y, z)) => matmul(matmul(x, y), z)"),
            R"(input a: f32[2,3]
input b: f32[3,4]
input c: f32[4,5]
v0 = matmul(b, c)
v1 = matmul(a, b)
v2 = matmul(v1, c)
output d = v0
output e = v2
)");
}

TEST(RewriteTest, ATargetMayUseItsOwnSource) {
  EXPECT_EQ(Rewritten("input x: f32[2]\na = relu(x)\nb = exp(a)\n"
                      "output b = b",
                      "relu(x) => relu(relu(x))"),
            "input x: f32[2]\nv0 = relu(x)\nv1 = relu(v0)\nv2 = exp(v1)\n"
            "output b = v2\n");
}

TEST(RewriteTest, UsersThatBecomeEqualMerge) {
  EXPECT_EQ(Rewritten("input x: f32[2]\na = identity(x)\nb = exp(a)\n"
                      "c = exp(x)\nd = add(b, c)\noutput d = d",
                      "identity(x) => x"),
            "input x: f32[2]\nv0 = exp(x)\nv1 = add(v0, v0)\noutput d = v1\n");
}

TEST(RewriteTest, LiteralsBecomeFills) {
  EXPECT_EQ(Rewritten("input x: f16[2,3]\ny = div(x, x)\noutput y = y",
                      "div(x, x) => 1"),
            "input x: f16[2,3]\nv0 = fill(value=1, shape=[2 3], dtype=f16)\n"
            "output y = v0\n");
  EXPECT_EQ(Rewritten("input x: f32[2,3]\ny = reduce_mean(x, axes=[1])\n"
                      "output y = y",
                      "reduce_mean(x, axes=[a]) => "
                      "div(reduce_sum(x, axes=[a]), real(dim(x, a)))"),
            "input x: f32[2,3]\nv0 = reduce_sum(x, axes=[1])\n"
            "v1 = fill(value=3, shape=[2], dtype=f32)\nv2 = div(v0, v1)\n"
            "output y = v2\n");
}

TEST(RewriteTest, ChoosesAndSolves) {
  EXPECT_EQ(Rewritten("input x: f32[1,2,5,5]\ninput w: f32[3,2,1,1]\n"
                      "y = conv2d(x, w, stride=2)\noutput y = y",
                      "conv2d(x, w, stride=s, pad=p, dilation=1, group=g) => "
                      "choose e in 1..3: conv2d(x, pad(w, [0 0 e e], [0 0 e "
                      "e]), stride=s, pad=p + e, dilation=1, group=g)"),
            "input x: f32[1,2,5,5]\ninput w: f32[3,2,1,1]\n"
            "v0 = pad(w, begin=[0 0 1 1], end=[0 0 1 1], value=0, "
            "mode=constant)\n"
            "v1 = conv2d(x, v0, stride=[2 2], pad=[1 1 1 1], dilation=[1 1], "
            "group=1)\noutput y = v1\n");
}

TEST(RewriteTest, BroadcastsTakeTheirShapeFromBesideThem) {
  EXPECT_EQ(Rewritten("input x: f32[2,3]\ny = softmax(x, axis=1)\n"
                      "output y = y",
                      "softmax(x, axis=a) => let e = exp(x) in div(e, "
                      "broadcast(reduce_sum(e, axes=[a]), axes=[a]))"),
            "input x: f32[2,3]\nv0 = exp(x)\nv1 = reduce_sum(v0, axes=[1])\n"
            "v2 = broadcast(v1, shape=[2 3], dims=[0])\nv3 = div(v0, v2)\n"
            "output y = v3\n");
}

TEST(RewriteTest, RefusesCycles) {
  // z depends on the first product, so both cannot come out of one.
  EXPECT_EQ(Rewritten(R"(
input x: f32[3,3]
input y: f32[3,3]
a = matmul(x, y)
z = relu(a)
b = matmul(x, z)
output b = b
)",
                      kMerge),
            "the rule does not apply: the result would be cyclic");
  // What the one product would be of is there already, and reads the first.
  EXPECT_EQ(Rewritten(R"(
input x: f32[3,3]
input y: f32[3,3]
a = matmul(x, y)
c = concat(y, a, axis=1)
b = matmul(x, a)
output c = c
output b = b
)",
                      kMerge),
            "the rule does not apply: the result would be cyclic");
}

TEST(RewriteTest, RefusesOtherTypes) {
  EXPECT_EQ(Rewritten("input x: f32[2,3]\ny = transpose(x, perm=[1 0])\n"
                      "output y = y",
                      "transpose(x, perm=p) => x"),
            "the rule does not apply: output 0 is f32[3,2], the target gives "
            "f32[2,3]");
  EXPECT_EQ(Rewritten("input x: f32[2,4]\ny = relu(x)\noutput y = y",
                      "relu(x) => reshape(relu(reshape(x, shape=[2 3])), "
                      "shape=[2 3])"),
            "the rule does not apply: 1:25: reshape: the numbers of "
            "elements differ (8 and 6): f32[2,4] with shape=[2 3]");
}

TEST(RewriteTest, RefusesToChangeNothing) {
  EXPECT_EQ(Rewritten("input x: f32[2]\ny = relu(x)\noutput y = y",
                      "relu(x) => relu(x)"),
            "the rule does not apply: it changes nothing");
}

TEST(RewriteTest, NeedsItsChoices) {
  const Graph g = MakeGraph("input x: f32[2]\ny = relu(x)\noutput y = y");
  const Rule rule = MakeRule(
      "relu(x) => choose e in 1..2: slice(pad(relu(x), [e], [0]), axis=0, "
      "from=e, to=end)");
  auto result = Apply(g, rule, FindMatches(g, rule).at(0));
  EXPECT_EQ(result.status().message(), "the rule: 'e' is not chosen yet");
}

TEST(RewriteTest, TheArgumentIsNotChanged) {
  const Graph g = MakeGraph("input x: f32[2]\ny = relu(x)\noutput y = y");
  const std::string before = PrintGraph(g);
  const uint64_t hash = g.hash();
  const Rule rule = MakeRule("relu(x) => max(x, 0)");
  auto result = Apply(g, rule, FindMatches(g, rule).at(0));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(PrintGraph(g), before);
  EXPECT_EQ(g.hash(), hash);
  EXPECT_NE(result->hash(), hash);
}

// ---- fold

std::string Folded(absl::string_view graph_text, int values) {
  const Graph g = MakeGraph(graph_text);
  std::vector<Value> outputs;
  for (int i = 0; i < values; ++i) outputs.push_back(g.outputs()[i].value);
  ConstantFacts facts;
  auto result = ApplyFold(g, MakeRule(kMerge), outputs, facts);
  if (!result.ok()) return std::string(result.status().message());
  ExpectSame(g, *result);
  return PrintGraph(*result);
}

constexpr absl::string_view kThree = R"(
input x: f32[2,3]
input a: f32[3,1]
input b: f32[3,2]
input c: f32[3,3]
p = matmul(x, a)
q = matmul(x, b)
r = matmul(x, c)
output p = p
output q = q
output r = r
)";

TEST(FoldTest, MergesThreeProductsIntoOne) {
  EXPECT_EQ(Folded(kThree, 3), R"(input x: f32[2,3]
input a: f32[3,1]
input b: f32[3,2]
input c: f32[3,3]
v0 = concat(a, b, c, axis=1)
v1 = matmul(x, v0)
v2 = slice(v1, axes=[1], from=[0], to=[1], step=[1])
v3 = slice(v1, axes=[1], from=[1], to=[3], step=[1])
v4 = slice(v1, axes=[1], from=[3], to=[6], step=[1])
output p = v2
output q = v3
output r = v4
)");
}

TEST(FoldTest, RefusesWhatDoesNotMatch) {
  EXPECT_EQ(Folded(kThree, 1),
            "fold of the rule: needs two values or more, given 1");
  EXPECT_EQ(Folded("input x: f32[2,2]\ninput y: f32[2,2]\na = matmul(x, x)\n"
                   "b = matmul(y, x)\noutput a = a\noutput b = b",
                   2),
            "the rule does not apply: value 1 does not match");
  const Graph g = MakeGraph(kThree);
  ConstantFacts facts;
  auto result = ApplyFold(g, MakeRule("relu(x) => max(x, 0)"),
                          {g.outputs()[0].value, g.outputs()[1].value}, facts);
  EXPECT_EQ(result.status().message(),
            "fold of the rule: it must have two outputs");
}

}  // namespace
}  // namespace isomer::ir

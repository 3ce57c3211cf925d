// The graph as a value: hash-consing, copies, hashes, replacement, removal.
#include "graph/graph.h"

#include "graph/text.h"
#include "gtest/gtest.h"

namespace isomer::ir {
namespace {

Graph Parse(absl::string_view text) {
  absl::StatusOr<Graph> g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  return *std::move(g);
}

Value OutputOf(const Graph& g, int i = 0) { return g.outputs()[i].value; }

constexpr absl::string_view kTwo = R"(
input x: f32[2,3]
input w: f32[3,4]
a = matmul(x, w)
b = relu(a)
output y = b
)";

TEST(Graph, EqualNodesAreTheSameNode) {
  Graph g = Parse(kTwo);
  const int size = g.size();
  const Value x{g.inputs()[0], 0}, w{g.inputs()[1], 0};
  const Value again = *g.Add("relu", {*g.Add("matmul", {x, w})});
  EXPECT_EQ(again, OutputOf(g));
  EXPECT_EQ(g.size(), size);
}

TEST(Graph, ConstantsOfEqualContentAreTheSameNode) {
  Graph g = Parse(
      "const a: f32[2] = [1 2]\nconst b: f32[2] = [1 2]\n"
      "c = add(a, b)\noutput y = c\n");
  EXPECT_EQ(g.size(), 2);
}

TEST(Graph, HashDoesNotDependOnTheOrderOfConstruction) {
  Graph a = Parse(
      "input x: f32[2]\nu = exp(x)\nv = relu(x)\nw = add(u, v)\n"
      "output y = w\n");
  Graph b = Parse(
      "input x: f32[2]\nv = relu(x)\nu = exp(x)\nw = add(u, v)\n"
      "output y = w\n");
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_TRUE(Equal(a, b));
}

TEST(Graph, DifferentGraphsDiffer) {
  const Graph a = Parse(kTwo);
  for (absl::string_view other :
       {"input x: f32[2,3]\ninput w: f32[3,4]\na = matmul(x, w)\n"
        "b = exp(a)\noutput y = b\n",
        "input x: f32[2,3]\ninput w: f32[3,4]\na = matmul(x, w)\n"
        "b = relu(a)\noutput z = b\n",
        "input x: f32[2,3]\ninput v: f32[3,4]\na = matmul(x, v)\n"
        "b = relu(a)\noutput y = b\n",
        "input x: f32[2,3]\ninput w: f32[3,4]\na = matmul(x, w)\n"
        "output y = a\n"}) {
    EXPECT_FALSE(Equal(a, Parse(other))) << other;
    EXPECT_NE(a.hash(), Parse(other).hash()) << other;
  }
}

TEST(Graph, EqualityLooksBeyondTheHash) {
  // The same operators far from the point where the wiring differs.
  const std::string head = "input x: f32[2]\ninput z: f32[2]\n";
  const std::string tail =
      "c = exp(a)\nd = exp(b)\ne = tanh(c)\nf = tanh(d)\ng = erf(e)\n"
      "h = erf(f)\ni = sin(g)\nj = sin(h)\nk = cos(i)\nl = cos(j)\n";
  const Graph p = Parse(head + "a = relu(x)\nb = sigmoid(z)\n" + tail +
                        "output s = k\noutput t = l\n");
  const Graph q = Parse(head + "a = relu(x)\nb = sigmoid(z)\n" + tail +
                        "output s = l\noutput t = k\n");
  EXPECT_FALSE(Equal(p, q));
}

TEST(Graph, ACopyIsNotTouched) {
  const Graph g = Parse(kTwo);
  const std::string before = PrintGraph(g);
  Graph copy = g;
  const Value old = OutputOf(copy);
  const Value made = *copy.Add("tanh", {copy.node(old.node).inputs[0]});
  copy.ReplaceUses(old, made);
  copy.RemoveIfUnused(old.node);
  EXPECT_EQ(PrintGraph(g), before);
  EXPECT_NE(PrintGraph(copy), before);
}

TEST(Graph, HashAfterChangesIsThatOfTheGraphReached) {
  Graph g = Parse(kTwo);
  const Value old = OutputOf(g);
  const Value made = *g.Add("tanh", {g.node(old.node).inputs[0]});
  g.ReplaceUses(old, made);
  g.RemoveIfUnused(old.node);
  const Graph fresh = Parse(PrintGraph(g));
  EXPECT_EQ(g.hash(), fresh.hash());
  EXPECT_TRUE(Equal(g, fresh));
}

TEST(Graph, UsersThatBecomeEqualAreMerged) {
  Graph g = Parse(
      "input x: f32[2]\na = relu(x)\nb = exp(x)\nc = tanh(a)\n"
      "d = tanh(b)\ne = add(c, d)\noutput y = e\n");
  const Value e = OutputOf(g);
  const Value c = g.node(e.node).inputs[0], d = g.node(e.node).inputs[1];
  const Value a = g.node(c.node).inputs[0], b = g.node(d.node).inputs[0];
  g.ReplaceUses(b, a);
  g.RemoveIfUnused(b.node);
  EXPECT_EQ(PrintGraph(g),
            "input x: f32[2]\nv0 = relu(x)\nv1 = tanh(v0)\n"
            "v2 = add(v1, v1)\noutput y = v2\n");
  EXPECT_EQ(g.hash(), Parse(PrintGraph(g)).hash());
}

TEST(Graph, RemovalStopsAtWhatIsUsed) {
  Graph g = Parse(
      "input x: f32[2]\na = relu(x)\nb = exp(a)\nc = tanh(a)\n"
      "output y = c\n");
  NodeId b{-1};
  for (NodeId id : g.Order()) {
    if (g.node(id).Is("exp")) b = id;
  }
  const int size = g.size();
  g.RemoveIfUnused(b);
  EXPECT_EQ(g.size(), size - 1);
  g.RemoveIfUnused(OutputOf(g).node);  // an output stays
  EXPECT_EQ(g.size(), size - 1);
}

TEST(Graph, MarksFollowReplacedValues) {
  Graph g = Parse(kTwo);
  const Value old = OutputOf(g);
  g.SetMark(old, 7);
  const Value made = *g.Add("tanh", {g.node(old.node).inputs[0]});
  const uint64_t before = g.hash();
  g.SetMark(made, 9);
  EXPECT_EQ(g.hash(), before);
  g.ReplaceUses(old, made);
  ASSERT_EQ(g.marks(made.node).size(), 2);
  EXPECT_EQ(g.marks(made.node)[1].mark, 7);
  EXPECT_TRUE(g.marks(old.node).empty());
}

TEST(Graph, OpaqueNodesAreKeptApartAndNeverRemoved) {
  Graph g = Parse(
      "input x: f32[2]\na = opaque \"Foo\" \"1\" (x): ?\n"
      "b = opaque \"Foo\" \"2\" (x): f32[2]\noutput y = b\n");
  EXPECT_EQ(g.size(), 3);
  for (NodeId id : g.Order()) g.RemoveIfUnused(id);
  EXPECT_EQ(g.size(), 3);
}

TEST(Graph, ErrorsNameTheOperatorAndTheTypes) {
  Graph g = Parse(kTwo);
  const Value x{g.inputs()[0], 0};
  EXPECT_EQ(g.Add("matmul", {x, x}).status().message(),
            "matmul: inner dimensions differ (3 and 2): f32[2,3] and f32[2,3]");
  EXPECT_EQ(g.Add("no_such", {x}).status().message(),
            "there is no operator 'no_such'");
  EXPECT_EQ(g.Add("relu", {x, x}).status().message(),
            "relu: takes 1 inputs, given 2");
}

TEST(Graph, ConstnessIsAPropertyOfAllInputs) {
  Graph g = Parse(
      "input x: f32[2]\nconst c: f32[2] = 1\na = exp(c)\n"
      "b = add(a, x)\noutput p = a\noutput q = b\n");
  EXPECT_TRUE(g.IsConstant(OutputOf(g, 0)));
  EXPECT_FALSE(g.IsConstant(OutputOf(g, 1)));
}

}  // namespace
}  // namespace isomer::ir

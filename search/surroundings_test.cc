// Like places look alike, and places that differ nearby do not.
#include "search/surroundings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

// Layers of a product and an activation, then a tanh. Hashes by layer.
std::vector<uint64_t> Products(int layers, int steps) {
  std::string text = "input x: f32[4,8]\n", last = "x";
  for (int i = 0; i < layers; ++i) {
    absl::StrAppend(&text, "const w", i, ": f32[8,8] = random\nm", i,
                    " = matmul(", last, ", w", i, ")\nr", i, " = relu(m", i,
                    ")\n");
    last = absl::StrCat("r", i);
  }
  const ir::Graph g =
      MakeGraph(absl::StrCat(text, "t = tanh(", last, ")\noutput y = t\n"));
  const Topology topology(g);
  const std::vector<uint64_t> around = Surroundings(g, topology, steps);
  std::vector<uint64_t> out;
  for (NodeId id : topology.order) {
    if (g.node(id).Is("matmul")) out.push_back(around[id.value]);
  }
  return out;
}

TEST(SurroundingsTest, InnerLayersLookAlikeWhateverTheirWeights) {
  const std::vector<uint64_t> h = Products(8, 2);
  EXPECT_NE(h[0], h[3]);  // the input is near
  EXPECT_EQ(h[2], h[3]);
  EXPECT_EQ(h[3], h[4]);
  EXPECT_NE(h[7], h[3]);  // the tanh is near
}

TEST(SurroundingsTest, MoreStepsSeeFurther) {
  EXPECT_EQ(Products(8, 2)[2], Products(8, 2)[3]);
  EXPECT_NE(Products(8, 5)[2], Products(8, 5)[3]);
}

TEST(SurroundingsTest, OneOperandTwiceIsNotTwoThatLookTheSame) {
  auto hash = [](const char* sum) {
    const ir::Graph g = MakeGraph(absl::StrCat(
        "input x: f32[4]\ninput z: f32[4]\na = relu(x)\nb = relu(z)\ns = ", sum,
        "\noutput y = s\noutput u = a\noutput v = b\n"));
    return Surroundings(g, Topology(g), 1)[g.outputs()[0].value.node.value];
  };
  EXPECT_NE(hash("add(a, a)"), hash("add(a, b)"));
  EXPECT_EQ(hash("add(a, b)"), hash("add(b, a)"));
}

TEST(SurroundingsTest, TypesAndOutputsCount) {
  auto hash = [](const char* type, const char* more) {
    const ir::Graph g = MakeGraph(
        absl::StrCat("input x: ", type, "\na = relu(x)\noutput y = a\n", more));
    return Surroundings(g, Topology(g), 0)[g.outputs()[0].value.node.value];
  };
  EXPECT_NE(hash("f32[4]", ""), hash("f32[5]", ""));
  EXPECT_NE(hash("f32[4]", ""), hash("f16[4]", ""));
  EXPECT_NE(hash("f32[4]", ""), hash("f32[4]", "output z = a\n"));
}

}  // namespace
}  // namespace isomer::search

// Strides through chains of views, and who can read them.
#include "cost_model/layout.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace isomer::cost {
namespace {

// The layout of the last of the views, which are given one by one.
std::optional<Layout> LayoutAfter(absl::string_view type,
                                  absl::string_view views) {
  auto g = ir::ParseGraph(
      absl::StrCat("input \"x\": ", type, "\n", views, "\noutput y = v\n"));
  EXPECT_TRUE(g.ok()) << g.status();
  std::optional<Layout> layout;
  for (NodeId id : g->Order()) {
    const ir::Node& n = g->node(id);
    if (n.kind == ir::Node::Kind::kInput) {
      layout = Layout::Dense(g->type({id, 0}).shape);
    } else if (layout) {
      layout = ViewOf(n, OpPlanOf(n.op->name).op_class, *layout);
    }
  }
  return layout;
}

std::string Strides(absl::string_view type, absl::string_view views) {
  const std::optional<Layout> layout = LayoutAfter(type, views);
  return layout ? absl::StrJoin(layout->stride, " ") : "none";
}

TEST(LayoutTest, Views) {
  EXPECT_EQ(Strides("f32[2,3,4]", "v = transpose(x, perm=[2 0 1])"), "1 12 4");
  EXPECT_EQ(Strides("f32[6,4]", "v = reshape(x, shape=[2 3 4])"), "12 4 1");
  EXPECT_EQ(
      Strides("f32[2,8]", "v = slice(x, axes=[1], from=[1], to=[7], step=[2])"),
      "8 2");
  EXPECT_EQ(Strides("f32[3]", "v = broadcast(x, shape=[2 3], dims=[1])"),
            "0 1");
  EXPECT_EQ(Strides("f32[3]", "v = relu(x)"), "none");
}

TEST(LayoutTest, ReshapesOfWhatLiesApart) {
  // Heads taken apart are a view; heads put together again are one only in the
  // order they came in.
  EXPECT_EQ(Strides("f32[16,64]",
                    "a = reshape(x, shape=[16 4 16])\n"
                    "v = transpose(a, perm=[1 0 2])"),
            "16 64 1");
  EXPECT_EQ(Strides("f32[4,16,16]",
                    "a = transpose(x, perm=[1 0 2])\n"
                    "v = reshape(a, shape=[16 64])"),
            "none");
  EXPECT_EQ(Strides("f32[4,6]",
                    "a = slice(x, axes=[1], from=[0], to=[4])\n"
                    "v = reshape(a, shape=[2 2 2 2])"),
            "12 6 2 1");
  EXPECT_EQ(Strides("f32[4,6]",
                    "a = slice(x, axes=[1], from=[0], to=[4])\n"
                    "v = reshape(a, shape=[16])"),
            "none");
  EXPECT_EQ(Strides("f32[0,6]", "v = reshape(x, shape=[3 0])"), "0 1");
}

TEST(LayoutTest, Density) {
  auto dense = [](absl::string_view type, absl::string_view views) {
    return LayoutAfter(type, views)->IsDense();
  };
  EXPECT_TRUE(dense("f32[4,6]", "v = slice(x, axes=[0], from=[1], to=[3])"));
  EXPECT_FALSE(dense("f32[4,6]", "v = slice(x, axes=[1], from=[1], to=[3])"));
  EXPECT_TRUE(dense("f32[1,4,6]", "v = transpose(x, perm=[1 0 2])"));
  EXPECT_FALSE(dense("f32[2,4,6]", "v = transpose(x, perm=[1 0 2])"));
  EXPECT_TRUE(dense("f32[1,4,6]", "v = slice(x, axes=[1], from=[1], to=[3])"));
}

TEST(LayoutTest, WhatAProductReads) {
  auto reads = [](absl::string_view type, absl::string_view views, int index,
                  int right_rank) {
    return Reads(Family::kMatmul, index, right_rank, *LayoutAfter(type, views));
  };
  // Either dimension may be the dense one.
  EXPECT_TRUE(reads("f32[4,6]", "v = transpose(x, perm=[1 0])", 0, 2));
  EXPECT_TRUE(
      reads("f32[4,6]", "v = slice(x, axes=[1], from=[1], to=[3])", 1, 2));
  EXPECT_FALSE(reads("f32[4,6]",
                     "a = slice(x, axes=[1], from=[0], to=[5], step=[2])\n"
                     "v = slice(a, axes=[0], from=[0], to=[3], step=[2])",
                     0, 2));
  // Heads are a batch, whatever the distances of its matrices.
  EXPECT_TRUE(reads("f32[1,16,64]",
                    "a = reshape(x, shape=[1 16 4 16])\n"
                    "v = transpose(a, perm=[0 2 1 3])",
                    0, 4));
  EXPECT_TRUE(reads("f32[2,16,64]",
                    "a = reshape(x, shape=[2 16 4 16])\n"
                    "v = transpose(a, perm=[0 2 1 3])",
                    0, 4));
  EXPECT_FALSE(reads("f32[2,16,64]",
                     "a = reshape(x, shape=[2 16 16 4])\n"
                     "v = transpose(a, perm=[0 3 1 2])",
                     0, 4));
  // Against a matrix, all rows must lie at one distance.
  EXPECT_FALSE(
      reads("f32[4,6,8]", "v = slice(x, axes=[1], from=[0], to=[3])", 0, 2));
}

TEST(LayoutTest, WrittenBackwards) {
  auto g = ir::ParseGraph(R"(input "x": f32[4,16,16]
a = transpose(x, perm=[1 0 2])
v = reshape(a, shape=[16 64])
output y = v
)");
  ASSERT_TRUE(g.ok()) << g.status();
  std::optional<Layout> layout = Layout::Dense({16, 64});
  const std::vector<NodeId> order = g->Order();
  for (size_t i = order.size(); i-- > 1;) {
    const ir::Node& n = g->node(order[i]);
    layout = WrittenThrough(n, OpPlanOf(n.op->name).op_class,
                            g->type(n.inputs[0]).shape, *layout);
    ASSERT_TRUE(layout);
  }
  EXPECT_EQ(absl::StrJoin(layout->stride, " "), "16 64 1");
  EXPECT_TRUE(Writes(Family::kMatmul, 3, *layout));
  EXPECT_FALSE(Writes(Family::kMatmul, 2, *layout));
}

}  // namespace
}  // namespace isomer::cost

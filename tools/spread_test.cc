#include "tools/spread.h"

#include "api/graph_access.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

const cost::CostModel& H200() {
  static const auto* model = new cost::CostModel(
      *cost::CostModel::Create(*cost::Target::Named("h200")));
  return *model;
}

cost::Cost CostOf(const Graph& g) {
  return H200().MakePlan(GraphAccess::Ir(g)).cost();
}

Graph Model(const std::string& name) {
  auto graph = Graph::FromOnnx("models/" + name);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *graph;
}

TEST(Spread, GoesFromTheOriginalToTheBest) {
  const Graph lora = Model("lora_mlp_fp16_b1_dynamo.onnx");
  const auto all = SpreadOf(lora, H200(), 4);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 4u);
  EXPECT_TRUE(ir::Equal(GraphAccess::Ir((*all)[0]), GraphAccess::Ir(lora)));
  for (size_t i = 1; i < all->size(); ++i) {
    EXPECT_LE(CostOf((*all)[i]).time_ps, CostOf((*all)[i - 1]).time_ps);
    EXPECT_FALSE(CostOf((*all)[i]) == CostOf((*all)[i - 1]));
    const auto check = Check(lora, (*all)[i]);
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_TRUE(check->passed);
  }
  // Fewer are the ends of the same, and the same call gives the same graphs.
  const auto ends = SpreadOf(lora, H200(), 2);
  ASSERT_TRUE(ends.ok()) << ends.status();
  ASSERT_EQ(ends->size(), 2u);
  EXPECT_TRUE(
      ir::Equal(GraphAccess::Ir(ends->back()), GraphAccess::Ir(all->back())));
}

TEST(Spread, WhatCannotBeImprovedIsAlone) {
  const auto all =
      SpreadOf(Model("mobilenet_v2_fp16_b1_dynamo.onnx"), H200(), 5);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 1u);
}

}  // namespace
}  // namespace isomer::cli

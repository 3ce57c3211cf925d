// Moving bytes is what the operators say, and what they cannot say: NaNs keep
// their bits.
#include "graph/move_bytes.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/text.h"

namespace isomer::ir {
namespace {

// The bytes of a graph's last node, moved and computed.
void ExpectSame(absl::string_view text) {
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Value v = graph->outputs()[0].value;
  ASSERT_TRUE(OnlyMoves(*graph, v.node)) << text;
  std::vector<SharedBytes> inputs;
  for (Value in : graph->node(v.node).inputs) {
    inputs.push_back(graph->node(in.node).constant->bytes());
  }
  auto want = EvaluateValues(*graph, {v}, {}, {.interp = Interp::kReal});
  ASSERT_TRUE(want.ok()) << want.status();
  EXPECT_EQ(MoveBytes(*graph, v.node, inputs).view, ToBytes((*want)[0]))
      << text;
}

// A constant of that type that holds 0, 1, 2, ...
std::string Counting(absl::string_view name, const TensorType& type) {
  std::vector<double> values(NumElements(type));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return absl::StrCat("const ", name, ": ", TypeText(type), " = ",
                      TensorText(FromDoubles(type, values, Interp::kReal)),
                      "\n");
}

TEST(MoveBytesTest, Concat) {
  for (DType t : {DType::kF16, DType::kF32, DType::kF64}) {
    for (int axis : {0, 1, 2}) {
      std::vector<int64_t> a = {2, 3, 2}, b = {2, 3, 2};
      b[axis] = 5;
      ExpectSame(absl::StrCat(Counting("a", {t, a}), Counting("b", {t, b}),
                              "c = concat(a, b, a, axis=", axis,
                              ")\noutput y = c\n"));
    }
  }
}

TEST(MoveBytesTest, Slice) {
  const std::string x = Counting("x", {DType::kF16, {3, 4, 5}});
  for (const char* how :
       {"axes=[0], from=[1], to=[3]", "axes=[2], from=[0], to=[4]",
        "axes=[1 2], from=[1 2], to=[4 5]",
        "axes=[0 2], from=[0 1], to=[3 5], step=[2 3]",
        "axes=[2], from=[4], to=[-1], step=[-1]",
        "axes=[0 1], from=[2 3], to=[0 -1], step=[-1 -2]",
        "axes=[1], from=[2], to=[2]", "axes=[], from=[], to=[]"}) {
    ExpectSame(absl::StrCat(x, "s = slice(x, ", how, ")\noutput y = s\n"));
  }
}

TEST(MoveBytesTest, Transpose) {
  for (DType t : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const char* perm :
         {"[0 1 2]", "[0 2 1]", "[1 0 2]", "[1 2 0]", "[2 0 1]", "[2 1 0]"}) {
      ExpectSame(absl::StrCat(Counting("x", {t, {2, 3, 4}}),
                              "s = transpose(x, perm=", perm,
                              ")\noutput y = s\n"));
    }
  }
}

TEST(MoveBytesTest, Reshape) {
  ExpectSame(absl::StrCat(Counting("x", {DType::kF32, {2, 6}}),
                          "s = reshape(x, shape=[3 4])\noutput y = s\n"));
}

TEST(MoveBytesTest, IntegersAndTruths) {
  ExpectSame(
      "const a: i64[2,2] = [[1 -2] [9007199254740993 4]]\n"
      "s = transpose(a, perm=[1 0])\noutput y = s\n");
  ExpectSame(
      "const a: bool[3] = [true false true]\n"
      "s = slice(a, axes=[0], from=[2], to=[-1], step=[-1])\n"
      "output y = s\n");
}

TEST(MoveBytesTest, NothingIsMovedFromNothing) {
  ExpectSame(
      "const a: f32[0] = []\nconst b: f32[2] = [1 2]\n"
      "s = concat(a, b, a, axis=0)\noutput y = s\n");
  ExpectSame(
      "const a: f32[0] = []\ns = transpose(a, perm=[0])\noutput y = s\n");
  ExpectSame("const a: f32[0] = []\ns = concat(a, a, axis=0)\noutput y = s\n");
}

// A signalling NaN of f16: computing with it would make it a quiet one.
TEST(MoveBytesTest, NansKeepTheirBits) {
  Graph graph;
  const std::string bytes("\x01\x7d\x00\x3c", 4);
  auto constant =
      Constant::FromBytes({DType::kF16, {2}}, SharedBytes::Own(bytes));
  ASSERT_TRUE(constant.ok());
  const Value c = graph.AddConstant(*constant);
  auto v = graph.Add("concat", {c, c}, {{"axis", int64_t{0}}});
  ASSERT_TRUE(v.ok()) << v.status();
  const std::vector<SharedBytes> inputs(2, (*constant)->bytes());
  EXPECT_EQ(MoveBytes(graph, v->node, inputs).view, bytes + bytes);
}

// Channels side by side, and nothing.
TEST(MoveBytesTest, OtherSteps) {
  const SharedBytes bytes = SharedBytes::Own("aAbBcCdDeEfF");
  EXPECT_EQ(WithSteps(bytes, {DType::kF16, {1, 2, 3}}, {6, 1, 2}).view,
            "aAdDbBeEcCfF");
  EXPECT_EQ(WithSteps(bytes, {DType::kI8, {2, 6}}, {6, 1}).view, bytes.view);
  EXPECT_EQ(WithSteps({}, {DType::kF32, {2, 0}}, {1, 2}).view, "");
}

TEST(MoveBytesTest, WhatComputesDoesNotOnlyMove) {
  auto graph = ParseGraph(
      "const a: f32[2] = [1 2]\nb = add(a, a)\nc = broadcast(b, shape=[3 2], "
      "dims=[1])\noutput y = c\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (NodeId id : graph->Order()) EXPECT_FALSE(OnlyMoves(*graph, id));
}

}  // namespace
}  // namespace isomer::ir

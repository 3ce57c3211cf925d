// Constants computed in pieces are those computed at once.
#include "graph/fold.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "ops/tensor.h"

namespace isomer::ir {
namespace {

// The first output of a graph of constants, computed in pieces and at once.
void ExpectSame(absl::string_view text, int64_t piece_elements) {
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Value v = graph->outputs()[0].value;
  auto whole = FoldConstant(*graph, v, nullptr);
  auto pieces = FoldConstant(*graph, v, nullptr, piece_elements);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ(whole->view, pieces->view) << text;
  auto t = FromBytes(graph->type(v), {pieces->view.data(), pieces->view.size()},
                     Interp::kRun);
  auto want = EvaluateValues(*graph, {v}, {});
  EXPECT_EQ(TensorText(*t), TensorText((*want)[0]));
}

TEST(FoldConstantTest, ScaledAndMergedWeights) {
  for (int64_t piece : {1, 2, 5, 12, 1000}) {
    ExpectSame(R"(
const w: f16[4,3] = [[1 2 3] [4 5 6] [7 8 9] [10 11 12]]
const v: f16[2,4] = [[1 2 3 4] [5 6 7 8]]
const c: f16[4] = [2 3 4 5]
const s: f16[] = 3
b = broadcast(c, shape=[4 3], dims=[0])
m = mul(w, b)
t = transpose(v, perm=[1 0])
k = concat(m, t, axis=1)
f = broadcast(s, shape=[4 5], dims=[])
z = mul(k, f)
output y = z
)",
               piece);
  }
}

TEST(FoldConstantTest, Products) {
  ExpectSame(R"(
const a: f32[6,2] = [[1 2] [3 4] [5 6] [7 8] [9 1] [2 3]]
const b: f32[2,3] = [[1 2 3] [4 5 6]]
m = matmul(a, b)
output y = m
)",
             6);
}

// A running sum cannot be cut: it is computed at once.
TEST(FoldConstantTest, WhatCannotBeCutIsComputedWhole) {
  ExpectSame(R"(
const a: f32[7] = [1 2 3 4 5 6 7]
c = cumsum(a, axis=0)
output y = c
)",
             2);
}

// What moves elements does so after they were rounded: 2049 is no f16.
TEST(FoldConstantTest, MovesAmongComputations) {
  for (int64_t piece : {1, 3, 1000}) {
    ExpectSame(R"(
const w: f16[2,3] = [[1 2 3] [4 5 6]]
const v: f16[2,3] = [[2048 2 3] [4 5 6]]
s = add(w, v)
t = transpose(s, perm=[1 0])
d = sub(t, t)
k = concat(t, d, t, axis=1)
m = concat(k, k, axis=0)
r = reshape(m, shape=[3 12])
output y = r
)",
               piece);
  }
}

}  // namespace
}  // namespace isomer::ir

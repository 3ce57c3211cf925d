// Which siblings are merged together, and in which order.
#include "search/siblings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

constexpr char kMerge[] = R"(
rule merge:
  matmul(x, y), matmul(x, z)
  => let m = matmul(x, concat(y, z, axis=-1)) in
     slice(m, axis=-1, from=0, to=dim(y, -1)),
     slice(m, axis=-1, from=dim(y, -1), to=end)
fold merge
)";

// Groups as the names of the weights their products use: "w0 w1; w2 w3".
std::string Groups(absl::string_view text) {
  const ir::Graph g = MakeGraph(text);
  const RuleBook book = MakeBook(kMerge);
  const ir::Rule& rule = book[book.size() - 1].rule;
  const std::vector<ir::Match> matches = ir::FindMatches(g, rule);
  std::vector<std::string> out;
  for (const auto& group : SiblingGroups(g, rule, matches)) {
    out.push_back(absl::StrJoin(group, " ", [&](std::string* s, Value v) {
      const ir::Node& n = g.node(g.node(v.node).inputs[1].node);
      absl::StrAppend(s, n.constant == nullptr ? "?" : n.constant->name());
    }));
  }
  return absl::StrJoin(out, "; ");
}

TEST(SiblingsTest, AllProductsOfOneInput) {
  EXPECT_EQ(Groups(R"(
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
)"),
            "w0 w1 w2");
}

TEST(SiblingsTest, OneProductIsNoGroup) {
  EXPECT_EQ(Groups(R"(
input x: f32[2,4]
const w0: f32[4,3] = random
a = matmul(x, w0)
output p = a
)"),
            "");
}

TEST(SiblingsTest, ProductsThatDependOnEachOtherStayApart) {
  // The second product's weight is computed from the first product.
  EXPECT_EQ(Groups(R"(
input x: f32[4,4]
const w0: f32[4,4] = random
a = matmul(x, w0)
b = matmul(x, a)
output p = b
)"),
            "");
}

TEST(SiblingsTest, WhatTwoGroupsShareIsAGroup) {
  EXPECT_EQ(Groups(R"(
input x: f32[2,4]
input y: f32[2,4]
const w0: f32[4,3] = random
const w1: f32[4,3] = random
const v0: f32[4,3] = random
const v1: f32[4,3] = random
a = matmul(x, w0)
b = matmul(x, w1)
c = matmul(x, v0)
d = matmul(x, v1)
e = matmul(y, w0)
f = matmul(y, w1)
output o0 = a
output o1 = b
output o2 = c
output o3 = d
output o4 = e
output o5 = f
)"),
            "w0 w1 v0 v1; w0 w1; w0 w1; v0 v1");
}

}  // namespace
}  // namespace isomer::search

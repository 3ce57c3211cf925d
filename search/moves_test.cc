// Which steps are found, and that none touches constants that are not finite.
#include "search/moves.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/search_testing.h"

namespace isomer::search {
namespace {

const RuleBook& Scales() {
  static const RuleBook& book = *new RuleBook(MakeBook(R"(
rule scales_meet: mul(mul(x, a), b) => mul(x, mul(a, b)) where const(a), const(b)
)"));
  return book;
}

// How many steps there are from (x * c) * d, where c holds these numbers.
size_t Steps(const std::string& type, const std::vector<std::string>& numbers) {
  const std::string shape = absl::StrCat(type, "[", numbers.size(), "]");
  const ir::Graph g = MakeGraph(
      absl::StrCat("input x: ", shape, "\nconst c: ", shape, " = [",
                   absl::StrJoin(numbers, " "), "]\nconst d: ", shape,
                   " = 2\na = mul(x, c)\nb = mul(a, d)\noutput y = b\n"));
  ir::ConstantFacts facts;
  return FindSteps(g, Scales(), {}, facts).size();
}

TEST(MovesTest, ConstantsAreReadToTheLastNumber) {
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    for (size_t n : {1, 3, 4, 5, 16, 37}) {
      std::vector<std::string> numbers(n, "-1.5");
      EXPECT_EQ(Steps(type, numbers), 1) << type << " " << n;
      for (size_t i = 0; i < n; ++i) {
        for (const char* bad : {"inf", "-inf", "nan"}) {
          numbers[i] = bad;
          EXPECT_EQ(Steps(type, numbers), 0) << type << " " << n << " " << i;
        }
        numbers[i] = "-1.5";
      }
    }
  }
}

TEST(MovesTest, WhatIsComputedFromAnInfinityIsNotTouched) {
  auto steps = [](const char* number) {
    const ir::Graph g =
        MakeGraph(absl::StrCat("input x: f32[2]\nconst c: f32[] = ", number, R"(
const d: f32[2] = 2
e = broadcast(c, shape=[2], dims=[])
a = mul(x, d)
b = mul(a, e)
output y = b
)"));
    ir::ConstantFacts facts;
    return FindSteps(g, Scales(), {}, facts).size();
  };
  EXPECT_EQ(steps("3"), 1);
  EXPECT_EQ(steps("inf"), 0);
}

TEST(MovesTest, FrozenNodesAndConstantsStay) {
  const ir::Graph g =
      MakeGraph("input x: f32[2]\na = relu(x)\nb = relu(a)\noutput y = b\n");
  const RuleBook book = MakeBook("rule twice: relu(relu(x)) => relu(x)");
  ir::ConstantFacts facts;
  EXPECT_EQ(FindSteps(g, book, {}, facts).size(), 1);
  const std::vector<bool> all(g.id_bound(), true);
  EXPECT_TRUE(FindSteps(g, book, {.frozen = all}, facts).empty());
  EXPECT_TRUE(FindSteps(g, book, {.constants = true}, facts).empty());
}

}  // namespace
}  // namespace isomer::search

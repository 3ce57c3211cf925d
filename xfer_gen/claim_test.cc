// Candidates as the enumeration hands them on, and whether rules give them at
// the sizes at which they were seen.
#include "xfer_gen/claim.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {
namespace {

// A candidate of two leaves, seen elsewhere as `text` with these types.
Candidate Seen(const std::string& text, const std::string& x,
               const std::string& y) {
  Candidate c;
  c.text = text;
  c.leaves = {{"x", false, *ParseType("f32[2,2]")},
              {"y", false, *ParseType("f32[2,2]")}};
  c.elsewhere = {{text, {*ParseType(x), *ParseType(y)}}};
  return c;
}

Theory Rules(const std::string& text) {
  Theory theory;
  const absl::Status status = theory.AddFile(*ir::ParseRuleFile(text));
  EXPECT_TRUE(status.ok()) << status;
  return theory;
}

TEST(ClaimTest, RulesGiveWhatIsSeenElsewhere) {
  const Candidate c =
      Seen("slice(concat(x, y, axis=1), axis=1, from=3, to=8) => y", "f32[2,3]",
           "f32[2,5]");
  const Claim claim(InstancesOf(c), /*both_ways=*/false);
  const Theory second = Rules(
      "rule second: slice(concat(x, y, axis=a), axis=a, from=dim(x, a), "
      "to=end) => y");
  const auto d = claim.DerivedBy(second, {});
  ASSERT_TRUE(d.has_value());
  EXPECT_TRUE(d->whole);
  const Theory first = Rules(
      "rule first: slice(concat(x, y, axis=a), axis=a, from=0, "
      "to=dim(x, a)) => x");
  EXPECT_FALSE(claim.DerivedBy(first, {}).has_value());
}

TEST(ClaimTest, EveryAssignmentOfSizesMustFollow) {
  Candidate c = Seen("matmul(x, y) <=> matmul(y, x)", "f32[4,4]", "f32[4,4]");
  const Theory theory = Rules(
      "rule small: matmul(x, y) => matmul(y, x) where dim(x, 0) == 4, "
      "dim(x, 1) == 4, dim(y, 0) == 4, dim(y, 1) == 4");
  EXPECT_TRUE(Claim(InstancesOf(c), false).DerivedBy(theory, {}).has_value());
  c.elsewhere.push_back(
      {c.text, {*ParseType("f32[3,3]"), *ParseType("f32[3,3]")}});
  EXPECT_FALSE(Claim(InstancesOf(c), false).DerivedBy(theory, {}).has_value());
}

TEST(ClaimTest, WhatDoesNotTypeElsewhereIsLeftOut) {
  EXPECT_TRUE(
      InstancesOf(Seen("add(x, y) <=> add(y, x)", "f32[2]", "f32[3]")).empty());
}

// Equations that need what was not there when it was asked change nothing.
TEST(ClaimTest, WhatWasTriedIsTold) {
  const Claim claim(InstancesOf(Seen("relu(add(x, y)) <=> add(y, relu(x))",
                                     "f32[2]", "f32[2]")),
                    true);
  const Theory theory = Rules("rule swap: add(x, neg(y)) => sub(x, y)");
  Rewritten tried;
  EXPECT_FALSE(claim.DerivedBy(theory, {}, &tried).has_value());
  auto usable = [&](const char* rule) {
    const Theory more = Rules(rule);
    for (const Traits& graph : tried) {
      if (graph.Has(more.equations()[0].needs)) return true;
    }
    return false;
  };
  EXPECT_TRUE(usable("rule a: relu(add(x, y)) => add(x, y)"));
  EXPECT_TRUE(usable("rule b: add(x, relu(y)) => add(x, y)"));
  EXPECT_FALSE(usable("rule c: tanh(x) => x"));
}

// The maximum of many elements of both signs is above zero, whatever they are.
TEST(ClaimTest, TensorsOfOneSignShowWhatAMaximumHides) {
  const std::string pool = ", kernel=[3 3], pad=[1 1 1 1])";
  auto failure = [&](const std::string& text) {
    const auto at = InstancesOf(Seen(text, "f32[4,2,5,6]", "f32[2,2,3,3]"));
    EXPECT_EQ(at.size(), 1);
    return FindFailureAt(at[0], 1);
  };
  const std::string product = "conv2d(x, y, pad=[1 1 1 1])";
  EXPECT_TRUE(failure("relu(max_pool(" + product + pool + ") <=> max_pool(" +
                      product + pool));
  EXPECT_FALSE(failure("relu(max_pool(" + product + pool +
                       ") <=> max_pool(relu(" + product + ")" + pool));
}

}  // namespace
}  // namespace isomer::gen

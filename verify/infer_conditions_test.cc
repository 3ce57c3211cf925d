// Rules that are wrong at some sizes, with the condition that mends them, and
// rules that no condition mends.
#include "verify/infer_conditions.h"

#include <string>

#include "gtest/gtest.h"
#include "verify/z3.h"

namespace isomer::verify {
namespace {

// The conditions that are found, as text; "" if there are none.
std::string Found(const std::string& text) {
  auto rule = ir::ParseRuleBody(text);
  EXPECT_TRUE(rule.ok()) << rule.status();
  VerifyOptions options;
  options.prove.solver = [](const std::string& question) {
    return Z3Solve(question, {});
  };
  auto with = InferConditions(*rule, options);
  if (!with) return "";
  std::string out;
  for (size_t i = rule->where.size(); i < with->where.size(); ++i) {
    out += (out.empty() ? "" : ", ") + ir::PrintCondition(with->where[i]);
  }
  return out;
}

TEST(InferConditionsTest, EqualSizes) {
  EXPECT_EQ(Found("concat(conv2d(x, w, pad=[1 1 1 1], group=1), "
                  "conv2d(y, v, pad=[1 1 1 1], group=1), axis=1) => "
                  "conv2d(concat(x, y, axis=1), concat(w, v, axis=0), "
                  "pad=[1 1 1 1], group=2) "
                  "where dim(w, 2) == 3, dim(w, 3) == 3"),
            "dim(w, 0) == dim(v, 0)");
}

TEST(InferConditionsTest, ASizeOfOne) {
  EXPECT_EQ(Found("reduce_sum(x, axes=[1]) => reduce_mean(x, axes=[1]) "
                  "where rank(x) == 2"),
            "dim(x, 1) == 1");
}

TEST(InferConditionsTest, TwoConditions) {
  EXPECT_EQ(Found("reduce_sum(x, axes=[0 1]) => reduce_mean(x, axes=[0 1]) "
                  "where rank(x) == 2"),
            "dim(x, 0) == 1, dim(x, 1) == 1");
}

TEST(InferConditionsTest, AnAttribute) {
  EXPECT_EQ(Found("slice(x, axis=0, from=f, to=t) => "
                  "slice(x, axis=0, from=0, to=t - f) where rank(x) == 1"),
            "f == 0");
}

TEST(InferConditionsTest, NothingMendsThese) {
  EXPECT_EQ(Found("add(x, y) => sub(x, y)"), "");
  EXPECT_EQ(Found("relu(x) => mul(x, x) where rank(x) == 1"), "");
  EXPECT_EQ(Found("matmul(x, y) => add(x, y) where rank(x) == 2"), "");
}

}  // namespace
}  // namespace isomer::verify

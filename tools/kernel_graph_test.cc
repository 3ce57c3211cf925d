// What a profile calls a kernel says what it computes.
#include "tools/kernel_graph.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cost_model/profile.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

// Of the largest operand.
int64_t Elements(absl::string_view signature) {
  int64_t most = 0;
  for (absl::string_view word : absl::StrSplit(signature, ' ')) {
    const size_t from = word.find('['), to = word.find(']');
    if (!absl::StrContains(word, ':') || to == word.npos) continue;
    int64_t all = 1, dim = 0;
    for (absl::string_view d :
         absl::StrSplit(word.substr(from + 1, to - from - 1), ',')) {
      all *= absl::SimpleAtoi(d, &dim) ? dim : 1;
    }
    most = std::max(most, all);
  }
  return most;
}

TEST(KernelGraph, IsTheKernelThatAProfileCallsSo) {
  auto cost = cost::CostModel::Create(*cost::Target::Named("h200"));
  auto profile = cost::Profile::Builtin("h200");
  ASSERT_TRUE(cost.ok() && profile.ok());
  int read = 0;
  for (const auto& [signature, time] : profile->entries()) {
    if (Elements(signature) > 100000) continue;
    ++read;
    auto graph = KernelGraph(signature);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_TRUE(IsPlannedAs(*graph, signature, *cost)) << signature;
  }
  EXPECT_GT(read, 100);
}

TEST(KernelGraph, IsNotAnotherKernel) {
  auto cost = cost::CostModel::Create(*cost::Target::Named("h200"));
  const std::string two = "pointwise relu(add(a,b)) a:f16[4] b:f16[4]";
  auto graph = KernelGraph(two);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(IsPlannedAs(*graph, two, *cost));
  EXPECT_FALSE(
      IsPlannedAs(*graph, "pointwise add(a,b) a:f16[4] b:f16[4]", *cost));
}

TEST(KernelGraph, WrongNamesAreErrors) {
  for (const char* wrong :
       {"", "matmul", "matmul matmul(a,b", "matmul matmul(a,b)",
        "matmul matmul(a,b) a b", "matmul matmul(a,b) a:f16[2,3] b:f16[4,5]",
        "pointwise x0=relu(a) a:f16[4]", "pointwise nothing(a) a:f16[4]",
        "pointwise relu(a) a:f16[99999999,99999999]",
        "pointwise relu(a,) a:f16[4]", "pointwise x0!= a:f16[4]"}) {
    EXPECT_FALSE(KernelGraph(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace isomer::cli

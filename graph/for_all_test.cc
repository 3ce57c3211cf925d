#include "graph/for_all.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace isomer {
namespace {

TEST(ForAllTest, EveryNumberComesOnce) {
  for (int threads : {0, 1, 2, 5, 200}) {
    std::vector<std::atomic<int>> runs(100);
    ForAll(
        100, [&](int64_t i) { ++runs[i]; }, threads);
    for (const auto& r : runs) EXPECT_EQ(r, 1);
  }
  ForAll(0, [](int64_t) { FAIL() << "there is none"; });
}

}  // namespace
}  // namespace isomer

// Every task runs once, at most so far ahead, and is done when it is awaited.
#include "xfer_gen/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace isomer::gen {
namespace {

TEST(InParallelTest, EveryTaskRunsOnce) {
  for (int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(100);
    InParallel(threads, runs.size(), [&](size_t i) { ++runs[i]; });
    for (const auto& r : runs) EXPECT_EQ(r, 1);
  }
  InParallel(3, 0, [](size_t) { FAIL() << "there is no task"; });
}

TEST(AheadTest, ATaskIsDoneWhenItIsAwaited) {
  for (int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(200);
    Ahead ahead(threads, runs.size(), [&](size_t i) { ++runs[i]; });
    for (size_t i = 0; i < runs.size(); ++i) {
      ahead.Await(i);
      EXPECT_EQ(runs[i], 1) << i;
    }
  }
}

TEST(AheadTest, OneThreadRunsNothingAhead) {
  std::vector<int> runs(3);
  Ahead ahead(1, runs.size(), [&](size_t i) { ++runs[i]; });
  EXPECT_EQ(runs, (std::vector<int>{0, 0, 0}));
  ahead.Await(0);
  EXPECT_EQ(runs, (std::vector<int>{1, 0, 0}));
}

TEST(AheadTest, TasksFarAheadDoNotBegin) {
  std::vector<std::atomic<int>> runs(1000);
  {
    Ahead ahead(2, runs.size(), [&](size_t i) { ++runs[i]; });
    ahead.Await(0);
  }
  EXPECT_EQ(runs[0], 1);
  for (size_t i = 100; i < runs.size(); ++i) EXPECT_EQ(runs[i], 0) << i;
}

TEST(AheadTest, NothingToDo) {
  Ahead ahead(4, 0, [](size_t) { FAIL() << "there is no task"; });
}

}  // namespace
}  // namespace isomer::gen

// Every task runs once, at most so far ahead, and is done when it is awaited.
#include "xfer_gen/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

namespace isomer::gen {
namespace {

// Counts the parts of tasks; every third has a long one.
struct Counted {
  explicit Counted(size_t n) : begun(n), finished(n) {}

  Ahead On(int threads, size_t window = 20) {
    return Ahead(
        threads, begun.size(), window,
        [this](size_t i) -> std::optional<Ahead::Kind> {
          ++begun[i];
          if (i % 3 != 0) return std::nullopt;
          return i;
        },
        [this](size_t i) {
          EXPECT_EQ(begun[i], 1) << i;
          ++finished[i];
        });
  }

  std::vector<std::atomic<int>> begun, finished;
};

TEST(AheadTest, ATaskIsDoneWhenItIsAwaited) {
  for (int threads : {1, 2, 5}) {
    Counted runs(200);
    Ahead ahead = runs.On(threads);
    for (size_t i = 0; i < 200; ++i) {
      ahead.Await(i);
      EXPECT_EQ(runs.begun[i], 1) << i;
      EXPECT_EQ(runs.finished[i], i % 3 == 0) << i;
    }
  }
}

TEST(AheadTest, OneThreadRunsNothingAhead) {
  Counted runs(4);
  Ahead ahead = runs.On(1);
  EXPECT_EQ(runs.begun[0], 0);
  ahead.Await(0);
  EXPECT_EQ(runs.finished[0], 1);
  EXPECT_EQ(runs.begun[1], 0);
}

TEST(AheadTest, TasksFarAheadDoNotBegin) {
  Counted runs(1000);
  {
    Ahead ahead = runs.On(2, /*window=*/60);
    ahead.Await(0);
    ahead.Await(1);
  }
  EXPECT_EQ(runs.finished[0], 1);
  for (size_t i = 61; i < 1000; ++i) EXPECT_EQ(runs.begun[i], 0) << i;
  // Eight long parts at most: 3, 6, ..., 24.
  for (size_t i = 27; i < 61; ++i) EXPECT_EQ(runs.finished[i], 0) << i;
}

TEST(AheadTest, WhatIsAlikeComesLast) {
  absl::Mutex mutex;
  std::vector<size_t> order;
  auto other_is_done = [&] { return absl::c_linear_search(order, 5); };
  {
    Ahead ahead(
        2, 8, 20,
        [](size_t i) -> std::optional<Ahead::Kind> { return i == 5 ? 1 : 0; },
        [&](size_t i) {
          absl::MutexLock lock(&mutex);
          order.push_back(i);
          if (i == 0) mutex.Await(absl::Condition(&other_is_done));
        });
    ahead.Await(0);
  }
  // A thread may have taken one other before task 0 was there.
  EXPECT_LE(absl::c_find(order, 5) - order.begin(), 2)
      << absl::StrJoin(order, " ");
}

TEST(AheadTest, NothingToDo) {
  auto begin = [](size_t) -> std::optional<Ahead::Kind> {
    ADD_FAILURE() << "there is no task";
    return std::nullopt;
  };
  Ahead ahead(4, 0, 20, begin, [](size_t) {});
}

TEST(MakeAndTake, TakesInOrderWhatIsMadeNotTooFarAhead) {
  constexpr size_t kMany = 1000, kAhead = 3;
  for (int threads : {1, 2, 4}) {
    std::vector<int> made(kMany, 0);
    std::atomic<size_t> taken{0};
    std::atomic<bool> in_order{true}, near{true};
    MakeAndTake(
        threads, kMany, kAhead,
        [&](int thread, size_t i) {
          near = near && i < taken + kAhead + 1 && thread < threads;
          made[i] = static_cast<int>(i) + 1;
        },
        [&](size_t i) {
          in_order =
              in_order && taken == i && made[i] == static_cast<int>(i) + 1;
          ++taken;
        });
    EXPECT_EQ(taken, kMany) << threads;
    EXPECT_TRUE(in_order) << threads;
    EXPECT_TRUE(near) << threads;
  }
  MakeAndTake(
      2, 0, kAhead, [](int, size_t) { FAIL(); }, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace isomer::gen

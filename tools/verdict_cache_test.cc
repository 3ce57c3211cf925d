// Verdicts outlive the run that reached them, also one that was killed while
// it wrote.
#include "tools/verdict_cache.h"

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

using verify::Outcome;

RuleReport Report(const std::string& hash, Outcome outcome) {
  RuleReport r;
  r.name = "r";
  r.hash = hash;
  r.outcome = outcome;
  r.reason = "a\tb\nc";
  r.counterexample = "with\n  x = 1\n";
  r.facts = {"relu(relu(x)) = relu(x)", "exp(a + b) = exp(a) * exp(b)"};
  r.assignments = 24;
  r.time = absl::Microseconds(1234);
  return r;
}

std::string Path(const char* name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::remove(path.c_str());
  return path;
}

TEST(VerdictCacheTest, KeepsVerdicts) {
  const std::string path = Path("keeps");
  for (int round = 0; round < 2; ++round) {
    auto cache = VerdictCache::Open(path);
    ASSERT_TRUE(cache.ok()) << cache.status();
    auto known = (*cache)->Find("00aa", absl::Seconds(10));
    EXPECT_EQ(known.has_value(), round == 1);
    if (round == 0) {
      (*cache)->Add(Report("00aa", Outcome::kRefuted), absl::Seconds(10));
      continue;
    }
    EXPECT_EQ(known->outcome, Outcome::kRefuted);
    EXPECT_EQ(known->reason, "a\tb\nc");
    EXPECT_EQ(known->counterexample, "with\n  x = 1\n");
    EXPECT_EQ(known->facts.size(), 2u);
    EXPECT_EQ(known->assignments, 24);
    EXPECT_TRUE(known->cached);
    EXPECT_FALSE((*cache)->Find("00ab", absl::Seconds(10)));
  }
}

TEST(VerdictCacheTest, UnknownIsTriedAgainWithMoreTime) {
  const std::string path = Path("unknown");
  {
    auto cache = VerdictCache::Open(path);
    ASSERT_TRUE(cache.ok());
    (*cache)->Add(Report("1", Outcome::kUnknown), absl::Seconds(1));
  }
  auto cache = VerdictCache::Open(path);
  ASSERT_TRUE(cache.ok());
  EXPECT_TRUE((*cache)->Find("1", absl::Seconds(1)));
  EXPECT_FALSE((*cache)->Find("1", absl::Seconds(2)));
}

TEST(VerdictCacheTest, ALineCutShortLosesOnlyItself) {
  const std::string path = Path("cut");
  {
    auto cache = VerdictCache::Open(path);
    ASSERT_TRUE(cache.ok());
    (*cache)->Add(Report("1", Outcome::kProved), absl::Seconds(1));
  }
  std::ofstream(path, std::ios::app) << "2\tproved\t10";
  {
    auto cache = VerdictCache::Open(path);
    ASSERT_TRUE(cache.ok());
    EXPECT_TRUE((*cache)->Find("1", absl::Seconds(1)));
    EXPECT_FALSE((*cache)->Find("2", absl::Seconds(1)));
    (*cache)->Add(Report("3", Outcome::kProved), absl::Seconds(1));
  }
  auto cache = VerdictCache::Open(path);
  ASSERT_TRUE(cache.ok());
  EXPECT_TRUE((*cache)->Find("3", absl::Seconds(1)));
}

TEST(VerdictCacheTest, WhatIsNoVerdictIsSkipped) {
  const std::string path = Path("wrong");
  std::ofstream(path) << "nonsense\n1\tsurely\t1\t1\t1\t1\t1\t\t\t\t.\n"
                      << "2\tproved\tx\t1\t1\t1\t1\t\t\t\t.\n";
  auto cache = VerdictCache::Open(path);
  ASSERT_TRUE(cache.ok());
  EXPECT_FALSE((*cache)->Find("1", absl::Seconds(1)));
  EXPECT_FALSE((*cache)->Find("2", absl::Seconds(1)));
  EXPECT_FALSE(VerdictCache::Open("/no/such/folder/cache").ok());
}

}  // namespace
}  // namespace isomer::cli

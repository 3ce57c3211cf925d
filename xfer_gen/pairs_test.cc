// Pairs of equal graphs: the same with any number of threads, also where the
// values at hand decide what may be a variable.
#include "xfer_gen/pairs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "xfer_gen/candidates.h"
#include "xfer_gen/generate.h"

namespace isomer::gen {
namespace {

// Maxima of few elements: what is false is often hidden by the values that
// variables happen to have. Two classes of one type give every pair twice.
Preset Hiding() {
  auto preset = ParsePreset("hiding",
                            "depth 3\nleaf x(2): f32[n]\nweight w(2): f32[n]\n"
                            "sizes n=3\nsizes n=4\n"
                            "template maximum(a, b): max(a, b)\n"
                            "template mul(a, b): mul(a, b)\n"
                            "template relu(a): relu(a)\n");
  EXPECT_TRUE(preset.ok()) << preset.status();
  return *std::move(preset);
}

Generated Found(int threads) {
  GenerateOptions options;
  options.enumerate.depth = 4;
  options.enumerate.threads = threads;
  absl::StatusOr<Generated> g = Generate(Hiding(), options);
  EXPECT_TRUE(g.ok()) << g.status();
  g->stats = {};
  return *std::move(g);
}

TEST(Pairs, ThreadsFindTheSameWhereAMaximumHides) {
  const Generated found = Found(1);
  EXPECT_GT(found.candidates.size(), 1000);
  const std::string one = WriteCandidates("", found);
  for (int threads : {2, 3, 4}) {
    EXPECT_TRUE(WriteCandidates("", Found(threads)) == one) << threads;
  }
}

// Where both sides share a step, a variable may stand for it if the rule holds
// then. One draw of values does not tell: with it these were found.
TEST(Pairs, WhatAMaximumHidesIsNoVariable) {
  bool found = false;
  for (const Candidate& c : Found(1).candidates) {
    EXPECT_NE(c.text, "max(x1, relu(x2)) <=> max(x1, x2)");
    EXPECT_NE(c.text, "max(w1, relu(x1)) <=> max(x1, w1)");
    EXPECT_NE(c.text, "max(relu(x1), x2) => relu(x2)");
    found = found || c.text == "max(x1, relu(w1)) <=> relu(max(x1, w1))";
  }
  EXPECT_TRUE(found);
}

// The candidates of single tensors, compared so many members at a time; what
// was compared is given up before the next if `forget` says so.
std::string InGroups(size_t most, bool forget) {
  const Preset preset = Hiding();
  Enumerator all(preset, {.depth = 3});
  EXPECT_TRUE(all.Run([](int, double) { return true; }));
  Hits hits(all.terms().symmetry().num_leaves());
  PairFinder finder(all, hits, 1);
  const auto on = [] { return true; };
  Met met = SortTables(all, hits, on);
  int groups = 0;
  for (; met.added < met.codes.size(); ++groups) {
    if (forget) finder.Forget();
    const size_t before = hits.members.size();
    EXPECT_TRUE(AddHits(all, met, most, hits, on));
    EXPECT_GT(hits.members.size(), before);
    EXPECT_TRUE(finder.Compare(before, on));
  }
  EXPECT_EQ(groups == 1, most > met.codes.size());
  CandidateStats stats;
  const std::vector<EqualPair> pairs = finder.Take(stats);
  Generated out;
  out.candidates = CandidatesOf(all, finder.kept(), 1, pairs, on);
  return WriteCandidates("", out);
}

TEST(Pairs, GroupsOfClassesFindWhatAllFind) {
  const std::string all = InGroups(1 << 30, false);
  EXPECT_GT(all.size(), 10000);
  for (size_t most : {1, 50, 1000}) {
    EXPECT_TRUE(InGroups(most, false) == all) << most;
    EXPECT_TRUE(InGroups(most, true) == all) << most;
  }
}

// The texts of the candidates over x1, x2 and x3 of one type.
std::vector<std::string> Texts(const std::string& templates, int depth) {
  auto preset = ParsePreset(
      "few", "leaf x(3): f32[n]\nsizes n=3\nsizes n=4\n" + templates);
  EXPECT_TRUE(preset.ok()) << preset.status();
  GenerateOptions options;
  options.enumerate.depth = depth;
  absl::StatusOr<Generated> g = Generate(*preset, options);
  EXPECT_TRUE(g.ok()) << g.status();
  std::vector<std::string> texts;
  for (const Candidate& c : g->candidates) texts.push_back(c.text);
  return texts;
}

// x + -y = x - y for every y, and -(y + z) = -y - z.
TEST(Pairs, WhatSmallerEqualitiesGiveIsPassedOver) {
  const std::vector<std::string> texts = Texts(
      "template neg(a): neg(a)\ntemplate add(a, b): add(a, b)\n"
      "template sub(a, b): sub(a, b)\n",
      3);
  auto some = [&](const char* start) {
    return absl::c_any_of(texts, [&](const std::string& text) {
      return absl::StartsWith(text, start);
    });
  };
  EXPECT_TRUE(some("add(x1, neg(x2)) <=>"));
  EXPECT_FALSE(some("add(x1, neg(add(x2, x3))) <=>"));
  EXPECT_FALSE(some("add(x1, sub(neg(x2), x3)) <=>"));
}

// y - y = x - x is no rule, since it does not say what y is.
TEST(Pairs, WhatNoSmallerRuleGivesIsNotPassedOver) {
  const std::vector<std::string> texts = Texts(
      "template mul(a, b): mul(a, b)\ntemplate sub(a, b): sub(a, b)\n", 2);
  EXPECT_TRUE(
      absl::c_linear_search(texts, "mul(x1, sub(x2, x2)) => sub(x1, x1)"))
      << absl::StrJoin(texts, "\n");
}

}  // namespace
}  // namespace isomer::gen

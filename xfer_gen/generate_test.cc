// Candidates from presets: what is found, what is not, and that a saved run
// reads back.
#include "xfer_gen/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "xfer_gen/presets.h"

namespace isomer::gen {
namespace {

Preset Named(absl::string_view name) {
  for (const PresetText& p : AllPresets()) {
    if (p.name == name) return *ParsePreset(p.name, p.text);
  }
  ADD_FAILURE() << "no preset " << name;
  return {};
}

std::vector<std::string> Texts(const Generated& g) {
  std::vector<std::string> out;
  for (const Candidate& c : g.candidates) {
    out.push_back(absl::StrReplaceAll(c.text, {{"\n", " "}}));
  }
  return out;
}

Generated Found(const Preset& preset, int depth, int threads = 1,
                bool prune = true) {
  GenerateOptions options;
  options.enumerate.depth = depth;
  options.enumerate.threads = threads;
  options.enumerate.prune = prune;
  absl::StatusOr<Generated> g = Generate(preset, options);
  EXPECT_TRUE(g.ok()) << g.status();
  return *std::move(g);
}

bool Has(const std::vector<std::string>& list, absl::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

TEST(Generate, FindsTheLawsOfTwoDimensions) {
  const Generated g = Found(Named("taso-2d-small"), 2);
  const std::vector<std::string> found = Texts(g);
  EXPECT_TRUE(
      Has(found, "matmul(x1, matmul(w1, w2)) <=> matmul(matmul(x1, w1), w2)"));
  EXPECT_TRUE(
      Has(found, "slice(concat(x1, x2, axis=1), axis=1, from=0, to=4) => x1"));
  EXPECT_TRUE(Has(found, "relu(relu(x1)) <=> relu(x1)"));
  // A sum of three, though all ways to write it are one graph but for names.
  EXPECT_TRUE(Has(found, "add(x1, add(x2, x3)) <=> add(x2, add(x1, x3))"));
  for (const Candidate& c : g.candidates) {
    EXPECT_GE(c.source_steps, c.target_steps) << c.text;
    EXPECT_FALSE(c.elsewhere.empty()) << c.text;
  }
}

// A shape that a template gives by sizes of its operand is written so, and as
// numbers once; a template that does not is written once.
TEST(Generate, ShapesAreWrittenBySizesToo) {
  auto preset = ParsePreset("tiny",
                            "depth 2\nleaf x(2): f32[p,q]\nsizes p=4 q=6\n"
                            "sizes p=6 q=10\n"
                            "template grid(a): reshape(a, shape=[2 (dim(a, 0)/2"
                            "*dim(a, 1))]) where rank(a) == 2\n"
                            "template relu(a): relu(a)\n");
  ASSERT_TRUE(preset.ok()) << preset.status();
  const Generated g = Found(*preset, 2);
  std::vector<std::string> numbers, sizes;
  for (const Candidate& c : g.candidates) {
    if (!absl::StrContains(c.text, "reshape(x1")) continue;
    (c.said_by_sizes ? numbers : sizes)
        .push_back(absl::StrReplaceAll(c.text, {{"\n", " "}}));
  }
  EXPECT_THAT(numbers, testing::Contains("relu(reshape(x1, shape=[2 12])) <=> "
                                         "reshape(relu(x1), shape=[2 12])"));
  EXPECT_THAT(
      sizes,
      testing::Contains(
          "let t1 = relu(x1) in reshape(t1, shape=[2 (dim(t1, 0) / 2 * dim(t1, "
          "1))]) <=> relu(reshape(x1, shape=[2 (dim(x1, 0) / 2 * dim(x1, "
          "1))]))"));
}

TEST(Generate, FindsTwoOutputsThatShare) {
  const std::vector<std::string> found =
      Texts(Found(Named("taso-2d-small"), 3));
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const auto& text) {
    return absl::StrContains(
        text,
        "let t1 = matmul(x1, concat(w1, w2, axis=1)) in slice(t1, axis=1, "
        "from=0, to=4), slice(t1, axis=1, from=4, to=8) <=> matmul(x1, w1), "
        "matmul(x1, w2)");
  }));
}

// max is no polynomial: relu(x) * y = x*y + x*x*y is what TASO's stand-in for
// it would give.
TEST(Generate, DoesNotTakeReluForAPolynomial) {
  for (const std::string& text : Texts(Found(Named("taso-2d-small"), 3))) {
    const size_t arrow = text.find("=>");
    const bool left = absl::StrContains(text.substr(0, arrow), "relu");
    const bool right = absl::StrContains(text.substr(arrow), "relu");
    if (left != right) {
      EXPECT_TRUE(absl::StrContains(text, "slice(")) << text;
    }
  }
}

TEST(Generate, RefusesWhatHoldsAtOneSizeAlone) {
  const absl::StatusOr<Preset> p = ParsePreset("p", R"(
leaf x(1): f32[c]
sizes b=4 c=3
sizes b=5 c=3
template times(a): mul(a, 4)
template copies(a):
  reduce_sum(broadcast(a, shape=[b c], dims=[1]), axes=[0])
template twice(a): add(a, a)
)");
  ASSERT_TRUE(p.ok()) << p.status();
  const Generated g = Found(*p, 2);
  EXPECT_GT(g.stats.found.false_positives, 0);
  const std::vector<std::string> found = Texts(g);
  EXPECT_FALSE(found.empty());
  for (const std::string& text : found) {
    const size_t arrow = text.find("=>");
    EXPECT_EQ(absl::StrContains(text.substr(0, arrow), "broadcast"),
              absl::StrContains(text.substr(arrow), "broadcast"))
        << text;
  }
}

TEST(Generate, ThreadsDecideNothing) {
  const Preset preset = Named("taso-2d-small");
  const std::vector<std::string> one = Texts(Found(preset, 3));
  EXPECT_EQ(one, Texts(Found(preset, 3, 2)));
}

TEST(Generate, SavedCandidatesReadBack) {
  const Generated g = Found(Named("taso-2d-small"), 2);
  const std::string text = WriteCandidates("key", g);
  const absl::StatusOr<Generated> back = ReadCandidates("key", text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Texts(*back), Texts(g));
  EXPECT_EQ(WriteCandidates("key", *back), text);
  ASSERT_FALSE(back->candidates.empty());
  EXPECT_EQ(back->candidates[0].leaves[0].type, g.candidates[0].leaves[0].type);
}

TEST(Generate, DamagedStatesAreNamed) {
  const std::string text =
      WriteCandidates("key", Found(Named("taso-2d-small"), 2));
  EXPECT_EQ(ReadCandidates("other", text).status().message(),
            "the state was made with another preset, depth, seed or version");
  std::string broken = text;
  broken[text.size() / 2] ^= 1;
  EXPECT_EQ(ReadCandidates("key", broken).status().message(),
            "the state is damaged: its check sum does not fit");
  EXPECT_EQ(
      ReadCandidates("key", text.substr(0, text.size() / 2)).status().message(),
      "the state is damaged: its check sum does not fit");
  EXPECT_EQ(ReadCandidates("key", "").status().message(),
            "the state is damaged: its check sum does not fit");
}

TEST(Generate, GraphsOfTooManyOutputsAreRefused) {
  const auto preset = ParsePreset("wide", R"(
leaf x(1): f32[b]
sizes b=4
sizes b=8
template parts(a):
  slice(a, axis=0, from=0, to=1), slice(a, axis=0, from=1, to=2),
  slice(a, axis=0, from=2, to=end)
)");
  ASSERT_TRUE(preset.ok()) << preset.status();
  GenerateOptions options;
  options.enumerate.depth = 5;
  EXPECT_EQ(Generate(*preset, options).status().message(),
            "preset wide: depth 5 with templates of up to 3 outputs; at most "
            "depth 6, 4 outputs of a template and 12 of a graph");
  options.enumerate.depth = 7;
  EXPECT_FALSE(Generate(*preset, options).ok());
  options.enumerate.depth = 1;
  EXPECT_TRUE(Generate(*preset, options).ok());
}

TEST(Generate, LimitsStopCleanly) {
  const Preset preset = Named("taso-2d-small");
  GenerateOptions options;
  options.enumerate.depth = 3;
  options.max_bytes = 1;
  absl::StatusOr<Generated> g = Generate(preset, options);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(g->stats.stop_reason, "memory");
  options.max_bytes = INT64_MAX;
  options.max_seconds = 0;
  g = Generate(preset, options);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(g->stats.stop_reason, "time");
  options.max_seconds = 1e9;
  options.progress = [](const GenerateProgress&) { return false; };
  g = Generate(preset, options);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(g->stats.stop_reason, "interrupted");
}

// One that is stopped in the last level says how far it came, and what has met
// so far is compared.
TEST(Generate, AStoppedRunSaysHowFarItCame) {
  GenerateOptions options;
  options.enumerate.depth = 3;
  options.progress = [](const GenerateProgress& p) {
    return p.depth < 3 || p.share < 0.5;
  };
  const absl::StatusOr<Generated> g = Generate(Named("taso-2d-small"), options);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(g->stats.stop_reason, "interrupted");
  EXPECT_EQ(g->stats.outputs, 1);
  const EnumerateStats& s = g->stats.enumerated;
  EXPECT_GT(s.extended, s.to_extend / 4);
  EXPECT_LT(s.extended, s.to_extend);
  EXPECT_FALSE(g->candidates.empty());
}

// Wherever it is stopped, what has been found can be read.
TEST(Generate, StopsAnywhere) {
  const Preset preset = Named("taso-2d-small");
  for (int threads : {1, 2}) {
    for (int stop = 0;; stop += 1 + stop / 4) {
      std::atomic<int> asked{0};
      GenerateOptions options;
      options.enumerate.depth = 2;
      options.enumerate.threads = threads;
      options.progress = [&](const GenerateProgress&) {
        return asked++ < stop;
      };
      const absl::StatusOr<Generated> g = Generate(preset, options);
      ASSERT_TRUE(g.ok()) << g.status();
      for (const Candidate& c : g->candidates) {
        EXPECT_FALSE(c.rule().source.outputs.empty()) << c.text;
      }
      if (g->stats.stop_reason == "complete") {
        EXPECT_GE(stop, 3);
        EXPECT_FALSE(g->candidates.empty());
        break;
      }
      EXPECT_EQ(g->stats.stop_reason, "interrupted");
      ASSERT_LT(stop, 1000);
    }
  }
}

}  // namespace
}  // namespace isomer::gen

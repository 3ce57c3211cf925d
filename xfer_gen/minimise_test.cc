// Candidates as text and the rules that are left of them, with the reason why
// others are not; what must never be left; and files that read back the same.
#include "xfer_gen/minimise.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/foreign_rules.h"
#include "graph/instance.h"
#include "graph/rule.h"
#include "graph/rule_pb.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {
namespace {

// Lines of "BODY ; LEAF TYPE, LEAF TYPE ; STEPS STEPS".
std::vector<Candidate> Read(const std::vector<std::string>& lines) {
  std::vector<Candidate> out;
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = absl::StrSplit(line, " ; ");
    Candidate c;
    auto rule = ir::ParseRuleBody(parts[0]);
    EXPECT_TRUE(rule.ok()) << rule.status() << line;
    if (!rule.ok()) continue;
    c.text = ir::PrintRule(*rule);
    for (absl::string_view leaf : absl::StrSplit(parts[1], ", ")) {
      const std::vector<std::string> words = absl::StrSplit(leaf, ' ');
      c.leaves.push_back({words[0], false, *ParseType(words[1])});
    }
    EXPECT_EQ(std::sscanf(parts[2].c_str(), "%d %d", &c.source_steps,
                          &c.target_steps),
              2);
    c.origin = "test, depth 2";
    out.push_back(std::move(c));
  }
  return out;
}

Minimised Reduce(const std::vector<std::string>& lines) {
  MinimiseOptions options;
  auto result = Minimise(Read(lines), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : Minimised();
}

// The rules without names and comments.
std::string Bodies(const Minimised& m) {
  std::vector<std::string> out;
  for (const ir::RuleItem& item : m.file.items) {
    if (auto* rule = std::get_if<ir::RuleSyntax>(&item)) {
      ir::RuleSyntax bare = *rule;
      bare.name.clear();
      bare.comments.clear();
      out.push_back(ir::PrintRule(bare));
    } else {
      out.push_back("fold");
    }
  }
  return absl::StrJoin(out, "\n");
}

constexpr char kXs[] = "x1 f32[2,4], x2 f32[2,4], x3 f32[2,4]";

TEST(MinimiseTest, InstancesAndDerivedRulesGo) {
  const Minimised m = Reduce({
      absl::StrCat("add(add(x1, x2), x3) <=> add(x1, add(x2, x3)) ; ", kXs,
                   " ; 2 2"),
      absl::StrCat("add(x3, add(x1, x2)) <=> add(x2, add(x1, x3)) ; ", kXs,
                   " ; 2 2"),
      "add(add(x1, x1), x2) <=> add(x1, add(x1, x2)) ; x1 f32[2,4], "
      "x2 f32[2,4] ; 2 2",
      absl::StrCat("add(add(x1, x2), add(x2, x3)) <=> add(x2, add(x2, add(x1,"
                   " x3))) ; ",
                   kXs, " ; 3 3"),
  });
  EXPECT_EQ(Bodies(m), "add(add(x, y), z) <=> add(x, add(y, z))");
  ASSERT_EQ(m.dropped.size(), 3);
  EXPECT_TRUE(absl::StartsWith(m.dropped[0].why, "instance of add_"))
      << m.dropped[0].why;
  EXPECT_TRUE(absl::StartsWith(m.dropped[1].why, "instance of add_"))
      << m.dropped[1].why;
  EXPECT_TRUE(absl::StartsWith(m.dropped[2].why, "derived by add_"))
      << m.dropped[2].why;
  EXPECT_EQ(m.generalised, 1);
}

// Slices of a concat give the merge backwards only; forwards nobody would find
// it, so it stays.
TEST(MinimiseTest, WhatRewritingCannotReachStays) {
  const std::string leaves = " ; x1 f32[2,4], w1 f32[4,4], w2 f32[4,4] ; ";
  const Minimised m = Reduce({
      "concat(matmul(x1, w1), matmul(x1, w2), axis=1) <=> matmul(x1, concat(w1,"
      " w2, axis=1))" +
          leaves + "3 2",
      "slice(concat(x1, x2, axis=1), axis=1, from=0, to=dim(x1, 1)) <=> x1 ; "
      "x1 f32[2,4], x2 f32[2,4] ; 2 0",
      "slice(concat(x1, x2, axis=1), axis=1, from=dim(x1, 1), to=end) <=> x2 ; "
      "x1 f32[2,4], x2 f32[2,4] ; 2 0",
      "matmul(x1, w1), matmul(x1, w2) <=> let m = matmul(x1, concat(w1, w2,"
      " axis=1)) in slice(m, axis=1, from=0, to=dim(w1, 1)), slice(m, axis=1,"
      " from=dim(w1, 1), to=end)" +
          leaves + "2 3",
  });
  EXPECT_TRUE(absl::StrContains(Bodies(m), "matmul(x, y), matmul(x, z)"))
      << Bodies(m);
  EXPECT_TRUE(absl::StrContains(Bodies(m), "fold")) << Bodies(m);
}

// A rule about the last axis, met first, goes when one about all axes is there.
TEST(MinimiseTest, EarlierRulesGoToo) {
  const Minimised m = Reduce({
      "relu(relu(x1)) <=> relu(x1) ; x1 f32[2,4] ; 2 1",
      "relu(relu(relu(x1))) <=> relu(x1) ; x1 f32[2,4] ; 3 1",
  });
  EXPECT_EQ(Bodies(m), "relu(relu(x)) <=> relu(x)");
}

// TASO's engine applies these; its generator, which takes x * (x + 1) + 1 for
// relu, finds the last ones.
TEST(MinimiseTest, UnsoundRulesAreNeverKept) {
  const std::string conv =
      " ; i1 f32[2,4,5,5], w1 f32[4,1,3,3], w2 f32[4,1,3,3] ; ";
  const Minimised m = Reduce({
      // Two depthwise convolutions of one input are not one of all filters.
      "concat(conv2d(i1, w1, pad=[1 1 1 1], group=4), conv2d(i1, w2, pad=[1 1 "
      "1 1], group=4), axis=1) <=> conv2d(i1, concat(w1, w2, axis=0), pad=[1 1 "
      "1 1], group=4)" +
          conv + "3 2",
      // A factor does not vanish.
      "mul(conv2d(i1, w1, pad=[1 1 1 1]), i2) <=> conv2d(i1, w1, pad=[1 1 1 "
      "1]) ; i1 f32[2,4,5,5], w1 f32[4,4,3,3], i2 f32[2,4,5,5] ; 2 1",
      // Nor do two depthwise convolutions add up to a plain one.
      "add(conv2d(i1, w1, pad=[1 1 1 1], group=4), conv2d(i1, w2, pad=[1 1 1 "
      "1], group=4)) <=> conv2d(i1, concat(w1, w2, axis=1), pad=[1 1 1 1],"
      " group=2)" +
          conv + "3 2",
      "mul(x2, relu(x1)) <=> add(x2, add(mul(x1, x2), mul(x1, mul(x1, x2)))) ; "
      "x1 f32[2,4], x2 f32[2,4] ; 2 5",
      "relu(x1) <=> add(mul(x1, add(x1, x2)), x2) ; x1 f32[2,4], x2 f32[2,4] ; "
      "3 3",
  });
  EXPECT_EQ(Bodies(m), "");
  ASSERT_EQ(m.dropped.size(), 5);
  for (const Dropped& d : m.dropped) {
    EXPECT_TRUE(absl::StartsWith(d.why, "fails: ") ||
                absl::StartsWith(d.why, "ill-formed: "))
        << d.rule << ": " << d.why;
  }
}

TEST(MinimiseTest, GroupedMergeGetsItsCondition) {
  const Minimised m = Reduce({
      "concat(conv2d(i1, w1, pad=[1 1 1 1]), conv2d(i2, w2, pad=[1 1 1 1]),"
      " axis=1) <=> conv2d(concat(i1, i2, axis=1), concat(w1, w2, axis=0),"
      " pad=[1 1 1 1], group=2) ; i1 f32[2,4,5,5], w1 f32[4,4,3,3],"
      " i2 f32[2,4,5,5], w2 f32[4,4,3,3] ; 3 3",
  });
  EXPECT_TRUE(absl::StrContains(Bodies(m), "where dim(y, 0) == dim(w, 0)"))
      << Bodies(m);
}

TEST(MinimiseTest, NamesTellOperatorsAndComeFromTheContent) {
  const std::string line = absl::StrCat(
      "add(add(x1, x2), x3) <=> add(x1, add(x2, x3)) ; ", kXs, " ; 2 2");
  const Minimised a = Reduce({line}), b = Reduce({line});
  const std::string text = ir::PrintRuleFile(a.file);
  EXPECT_EQ(text, ir::PrintRuleFile(b.file));
  EXPECT_TRUE(absl::StartsWith(text,
                               "# From test, depth 2: 2 steps and 2.\n"
                               "rule add_"))
      << text;
}

TEST(MinimiseTest, StopsWhenToldTo) {
  MinimiseOptions options;
  options.progress = [](int64_t done, int64_t) { return done < 1; };
  const std::string xs(kXs);
  auto m = Minimise(
      Read(
          {"add(add(x1, x2), x3) <=> add(x1, add(x2, x3)) ; " + xs + " ; 2 2",
           "mul(mul(x1, x2), x3) <=> mul(x1, mul(x2, x3)) ; " + xs + " ; 2 2"}),
      options);
  ASSERT_TRUE(m.ok());
  EXPECT_TRUE(m->stopped);
  EXPECT_EQ(m->file.items.size(), 1);
}

// ---- A whole file

std::string RuleFile(const std::string& name) {
  const char* shared = std::getenv("ISOMER_SHARED");
  if (shared == nullptr) return "";
  std::ifstream in(absl::StrCat(shared, "/data/rule_files/", name, ".pb"),
                   std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The rules of a file as candidates, at sizes picked at random.
std::vector<Candidate> CandidatesOf(const std::string& bytes) {
  std::vector<Candidate> out;
  auto rules = ir::ReadForeignRules(bytes);
  EXPECT_TRUE(rules.ok()) << rules.status();
  if (!rules.ok()) return out;
  std::mt19937_64 random(1);
  for (const ir::ForeignRule& r : *rules) {
    auto rule = ir::Rule::Create(*r.rule);
    EXPECT_TRUE(rule.ok()) << rule.status();
    if (!rule.ok()) continue;
    auto at = ir::MakeInstance(*rule, rule->cases()[0], random);
    EXPECT_TRUE(at.ok()) << at.status();
    if (!at.ok()) continue;
    Candidate c;
    ir::RuleSyntax syntax = *r.rule;
    syntax.name.clear();
    syntax.where.clear();
    syntax.both_ways = true;
    c.text = ir::PrintRule(syntax);
    c.source_steps = static_cast<int>(rule->source().nodes.size());
    c.target_steps = static_cast<int>(rule->target().nodes.size());
    for (NodeId id : at->source.inputs()) {
      c.leaves.push_back(
          {*at->source.node(id).name, false, at->source.type({id, 0})});
    }
    out.push_back(std::move(c));
  }
  return out;
}

TEST(MinimiseFileTest, NothingThatIsKeptIsRefutedAndFilesReadBack) {
  const std::string bytes = RuleFile("taso_shipped_133");
  if (bytes.empty()) GTEST_SKIP() << "SKIPPED: no $ISOMER_SHARED/data";
  auto m = Minimise(CandidatesOf(bytes), {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_LT(m->file.items.size(), 45);
  std::vector<ir::RuleSyntax> rules;
  for (const ir::RuleItem& item : m->file.items) {
    auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    rules.push_back(*syntax);
    auto rule = ir::Rule::Create(*syntax);
    ASSERT_TRUE(rule.ok()) << rule.status();
    const auto failure = FindFailure(*rule, {.assignments = 1000, .seed = 7});
    EXPECT_FALSE(failure.has_value()) << ir::PrintRule(*syntax) << "\n"
                                      << *failure;
  }
  auto parsed = ir::ParseRuleFile(ir::PrintRuleFile(m->file));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, m->file);
  auto binary = ir::DeserializeRules(ir::SerializeRules(m->file));
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_EQ(*binary, m->file);
}

}  // namespace
}  // namespace isomer::gen

// What is proved and unchanged is taken; everything else is refused by name.
#include "verify/trust.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace isomer::verify {
namespace {

ir::RuleFileSyntax Parse(const std::string& text) {
  auto file = ir::ParseRuleFile(text);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *file : ir::RuleFileSyntax();
}

// The file with each rule stamped with `verdict` and its right hash.
std::string Stamped(const std::string& text, const std::string& verdict) {
  ir::RuleFileSyntax file = Parse(text);
  const uint64_t operators = OperatorDigest(Ops());
  for (ir::RuleItem& item : file.items) {
    if (auto* rule = std::get_if<ir::RuleSyntax>(&item)) {
      SetStamp(*rule, {verdict, RuleHash(*rule, operators)});
    }
  }
  return ir::PrintRuleFile(file);
}

// Names of the rules that are taken, then what is refused.
std::string Taken(const std::string& text) {
  const TrustedRules t = TakeProved(Parse(text));
  std::string out;
  for (const ir::Rule& r : t.rules.rules) absl::StrAppend(&out, r.name(), "\n");
  for (const std::string& f : t.rules.folds) {
    absl::StrAppend(&out, "fold ", f, "\n");
  }
  for (const std::string& r : t.refused) absl::StrAppend(&out, "- ", r, "\n");
  return out;
}

constexpr char kRules[] =
    "# Sums commute.\n"
    "rule swap: add(x, y) => add(y, x)\n"
    "rule assoc: add(add(x, y), z) <=> add(x, add(y, z))\n"
    "fold swap\n";

TEST(TrustTest, ProvedRulesAreTaken) {
  EXPECT_EQ(Taken(Stamped(kRules, "proved")),
            "swap\nassoc\nassoc'\nfold swap\n");
}

TEST(TrustTest, OthersAreRefusedByName) {
  EXPECT_EQ(Taken(kRules),
            "- swap: it has no verdict\n- assoc: it has no verdict\n");
  EXPECT_EQ(Taken(Stamped(kRules, "unknown")),
            "- swap: it is unknown\n- assoc: it is unknown\n");
  EXPECT_EQ(Taken(Stamped("rule r: add(x, y) => sub(x, y)", "refuted")),
            "- r: it is refuted\n");
}

TEST(TrustTest, AnEditedRuleIsRefused) {
  const std::string text = Stamped(kRules, "proved");
  EXPECT_EQ(Taken(absl::StrReplaceAll(text, {{"add(y, x)", "add(y, y)"}})),
            "assoc\nassoc'\n- swap: its verdict is about another text or other "
            "operators\n");
  EXPECT_EQ(Taken(absl::StrReplaceAll(text, {{"<=>", "=>"}})),
            "swap\nfold swap\n- assoc: its verdict is about another text or "
            "other operators\n");
}

TEST(TrustTest, NamesCommentsAndLayoutDoNotMatter) {
  const std::string text = Stamped(kRules, "proved");
  EXPECT_EQ(Taken(absl::StrReplaceAll(text, {{"Sums commute.", "Well."},
                                             {"rule assoc:", "rule a :\n"}})),
            "swap\na\na'\nfold swap\n");
}

TEST(TrustTest, OneStampIsKept) {
  ir::RuleFileSyntax file = Parse(kRules);
  auto& rule = std::get<ir::RuleSyntax>(file.items[0]);
  SetStamp(rule, {"unknown", "0123456789abcdef"});
  SetStamp(rule, {"proved", "fedcba9876543210"});
  EXPECT_EQ(ir::PrintRule(rule),
            "# Sums commute.\n# proved fedcba9876543210\n"
            "rule swap: add(x, y) => add(y, x)");
  ASSERT_TRUE(FindStamp(rule));
  EXPECT_EQ(FindStamp(rule)->verdict, "proved");
}

TEST(TrustTest, WhatLooksLikeAStampAndIsNone) {
  for (const char* comment :
       {"proved", "proved by hand", "proved 0123456789abcde",
        "proved 0123456789abcdeg", "Proved 0123456789abcdef",
        "proved 0123456789abcdef again"}) {
    ir::RuleSyntax rule;
    rule.comments = {comment};
    EXPECT_FALSE(FindStamp(rule)) << comment;
  }
}

// ---- The digest

TEST(OperatorDigestTest, IsTheSameEveryTime) {
  EXPECT_EQ(OperatorDigest(Ops()), OperatorDigest(Registry(AllOpDefs())));
}

// Every change of one operator changes the digest.
TEST(OperatorDigestTest, SeesEveryChange) {
  const uint64_t before = OperatorDigest(Ops());
  auto changed = [](auto change) {
    std::vector<OpDef> defs = AllOpDefs();
    for (OpDef& op : defs) {
      if (op.name == "silu" || op.name == "sub") change(op);
    }
    return OperatorDigest(Registry(std::move(defs)));
  };
  EXPECT_NE(changed([](OpDef& op) { op.commutative = true; }), before);
  EXPECT_NE(changed([](OpDef& op) { op.expansion += " "; }), before);
  EXPECT_NE(changed([](OpDef& op) { op.axioms.push_back("x => x"); }), before);
  EXPECT_NE(changed([](OpDef& op) {
              if (op.name == "sub") op.element = Ops().Find("add")->element;
            }),
            before);
  EXPECT_NE(changed([](OpDef& op) {
              if (op.name == "sub") op.infer = Ops().Find("neg")->infer;
            }),
            before);
}

}  // namespace
}  // namespace isomer::verify

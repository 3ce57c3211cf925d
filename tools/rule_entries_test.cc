// Files with bad rules: the good ones are kept, the bad ones named with their
// place; stamps come and go without touching anything else.
#include "tools/rule_entries.h"

#include "absl/strings/str_cat.h"
#include "graph/rule_pb.h"
#include "gtest/gtest.h"

namespace isomer::cli {
namespace {

std::string Listed(const std::string& text) {
  std::string out;
  for (const RuleEntry& e : TextEntries(text).rules) {
    absl::StrAppend(&out, e.name,
                    e.rule ? "" : absl::StrCat(": ", e.ill_formed), "\n");
  }
  return out;
}

TEST(RuleEntriesTest, GoodFiles) {
  EXPECT_EQ(Listed(""), "");
  EXPECT_EQ(Listed("# nothing\n"), "");
  EXPECT_EQ(Listed("rule a: relu(x) => x\nrule b: neg(x) => x\nfold a\n"),
            "a\nb\n");
}

TEST(RuleEntriesTest, ABadRuleDoesNotHideTheOthers) {
  EXPECT_EQ(Listed("rule a: relu(x) => x\n"
                   "# this one is wrong\n"
                   "rule b: neg(x => x\n"
                   "rule c: abs(x) => x\n"
                   "fold a\n"
                   "rule d: exp(x) =>\n"),
            "a\nb: 3:15: expected ',' or ')', found '=>'\nc\n"
            "d: 7:1: expected an operator, a variable or a number, found the "
            "end of the text\n");
  EXPECT_EQ(Listed("nonsense\nrule a: relu(x) => x"),
            ": 1:1: expected 'rule' or 'fold', found 'nonsense'\na\n");
  EXPECT_EQ(Listed("rule : x\nrule a: relu(x) => x"),
            "?: 1:6: expected the name of the rule, found ':'\na\n");
}

TEST(RuleEntriesTest, TwoRulesOfOneName) {
  EXPECT_EQ(Listed("rule a: relu(x) => x\nrule a: neg(x) => x\n"),
            "a\na: 2:1: there is a rule 'a' already\n");
}

constexpr char kText[] =
    "# First.\n"
    "\n"
    "# About a.\n"
    "# proved 0000000000000000\n"
    "rule a:   relu(x)\n"
    "  => x   # odd layout\n"
    "rule b: neg(x => x\n"
    "rule c: abs(x) => x\n"
    "fold c\n";

TEST(RuleEntriesTest, StampsTouchNothingElse) {
  auto text = WithStamps(TextEntries(kText), {"refuted 1111111111111111", "",
                                              "proved 2222222222222222"});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text,
            "# First.\n"
            "\n"
            "# About a.\n"
            "# refuted 1111111111111111\n"
            "rule a:   relu(x)\n"
            "  => x   # odd layout\n"
            "rule b: neg(x => x\n"
            "# proved 2222222222222222\n"
            "rule c: abs(x) => x\n"
            "fold c\n");
  auto again = WithStamps(TextEntries(*text), {"refuted 1111111111111111", "",
                                               "proved 2222222222222222"});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *text);
}

TEST(RuleEntriesTest, ForeignFilesHaveNoPlaceForStamps) {
  EXPECT_FALSE(WithStamps({"foreign", "", {}}, {}).ok());
}

}  // namespace
}  // namespace isomer::cli

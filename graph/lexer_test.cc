// Tokens, their places, and texts that are not tokens.
#include "graph/lexer.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::ir {
namespace {

// The tokens with their places, or the error.
std::string Lexed(absl::string_view text) {
  auto tokens = Tokenize(text);
  if (!tokens.ok()) return std::string(tokens.status().message());
  std::vector<std::string> out;
  for (const Token& t : *tokens) {
    std::string s = absl::StrCat(t.text, "@", t.at.line, ":", t.at.column);
    for (const std::string& c : t.comments) absl::StrAppend(&s, "#", c);
    out.push_back(s);
  }
  return absl::StrJoin(out, " ");
}

TEST(LexerTest, LongestSignWins) {
  EXPECT_EQ(Lexed("a<=>b"), "a@1:1 <=>@1:2 b@1:5 @1:6");
  EXPECT_EQ(Lexed("<= = == =>"), "<=@1:1 =@1:4 ==@1:6 =>@1:9 @1:11");
}

TEST(LexerTest, RangesAreNotFloats) {
  EXPECT_EQ(Lexed("1..3"), "1@1:1 ..@1:2 3@1:4 @1:5");
  EXPECT_EQ(Lexed("t.1 1.5 2e-3 7e"),
            "t@1:1 .@1:2 1@1:3 1.5@1:5 2e-3@1:9 7@1:14 e@1:15 @1:16");
}

TEST(LexerTest, CommentsStayWithTheNextToken) {
  EXPECT_EQ(Lexed("# one\n#two  \nx # three\n"), "x@3:1#one#two @4:1#three");
  EXPECT_EQ(Lexed("#"), "@1:2#");
}

TEST(LexerTest, NumbersHaveValues) {
  auto tokens = Tokenize("9223372036854775807 0.25 1e300");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ((*tokens)[0].integer, 9223372036854775807);
  EXPECT_EQ((*tokens)[1].real, 0.25);
  EXPECT_EQ((*tokens)[2].real, 1e300);
}

TEST(LexerTest, RefusesOtherCharactersWithTheirPlace) {
  EXPECT_EQ(Lexed("a\n  $"),
            "2:3: character '$' starts no name, number or sign");
  EXPECT_EQ(Lexed("\x01"), "1:1: byte 0x1 starts no name, number or sign");
  EXPECT_EQ(Lexed("x ! y"),
            "1:3: character '!' starts no name, number or sign");
  EXPECT_EQ(Lexed("9223372036854775808"),
            "1:1: number 9223372036854775808 does not fit 64 bits");
}

}  // namespace
}  // namespace isomer::ir

// Tokens of Isomer's text forms: names, numbers, strings and punctuation, each
// with the line and column where it starts. A comment runs from # to the end of
// its line and is kept with the token that follows it, so that a printer can
// put it back.
#ifndef ISOMER_GRAPH_LEXER_H_
#define ISOMER_GRAPH_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::ir {

// A place in a text, counted from 1.
struct Position {
  int line = 1;
  int column = 1;
};

struct Token {
  enum class Kind { kName, kInteger, kFloat, kString, kPunctuation, kEnd };
  Kind kind = Kind::kEnd;
  absl::string_view text;  // points into the text that was read
  Position at;
  int64_t integer = 0;  // the value of a kInteger
  double real = 0;      // the value of a kInteger or kFloat
  std::string string;   // the value of a kString, its escapes resolved
  // The comment lines before the token, without # and the blank after it. An
  // empty line after a comment, within or at the end, is the entry "\n".
  std::vector<std::string> comments;

  bool Is(absl::string_view punctuation_or_name) const {
    return (kind == Kind::kPunctuation || kind == Kind::kName) &&
           text == punctuation_or_name;
  }
};

// Splits `text` into tokens; the last one is kEnd. The tokens point into
// `text`. A character that starts no token, or a number that does not fit, is
// an error with its place.
absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view text);

// An error at a place: "3:14: what".
absl::Status ErrorAt(Position at, absl::string_view what);

// The token as an error message names it: 'name', '=>', end of text.
std::string Describe(const Token& token);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_LEXER_H_

// One pass over the text; the longest punctuation wins, so that <=> is not
// read as <= and >, and 1..3 is two integers with .. between them.
#include "graph/lexer.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// Longer ones before their prefixes.
constexpr absl::string_view kPunctuation[] = {
    "<=>", "=>", "==", "!=", "<=", ">=", "..", "(", ")",
    "[",   "]",  "{",  "}",  "<",  ">",  "=",  "+", "-",
    "*",   "/",  ",",  ":",  ".",  "@",  "%",  ";", "?"};

class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    do {
      Token token;
      token.comments = SkipBlanks();
      token.at = at_;
      RETURN_IF_ERROR(Read(token));
      tokens.push_back(std::move(token));
    } while (tokens.back().kind != Token::Kind::kEnd);
    return tokens;
  }

 private:
  absl::string_view Rest() const { return text_.substr(i_); }
  char Peek(size_t ahead = 0) const {
    return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0';
  }
  void Advance(size_t n) {
    for (; n > 0; --n) {
      if (text_[i_++] == '\n') {
        ++at_.line;
        at_.column = 1;
      } else {
        ++at_.column;
      }
    }
  }

  // Skips blanks and comments, and returns the comments' lines.
  std::vector<std::string> SkipBlanks() {
    std::vector<std::string> comments;
    int comment_line = 0;
    auto note_gap = [&] {
      if (!comments.empty() && at_.line > comment_line + 1) {
        comments.push_back("\n");
      }
    };
    while (i_ < text_.size()) {
      if (absl::ascii_isspace(static_cast<unsigned char>(Peek()))) {
        Advance(1);
      } else if (Peek() == '#') {
        note_gap();
        comment_line = at_.line;
        absl::string_view line = Rest().substr(1, Rest().find('\n') - 1);
        Advance(line.size() + 1);
        absl::ConsumePrefix(&line, " ");
        comments.emplace_back(absl::StripTrailingAsciiWhitespace(line));
      } else {
        note_gap();
        break;
      }
    }
    return comments;
  }

  static bool IsNameStart(char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_';
  }
  static bool IsDigit(char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  }

  absl::Status Read(Token& token) {
    if (i_ == text_.size()) return absl::OkStatus();
    const char c = Peek();
    size_t n = 0;
    if (IsNameStart(c)) {
      token.kind = Token::Kind::kName;
      while (IsNameStart(Peek(n)) || IsDigit(Peek(n))) ++n;
    } else if (IsDigit(c)) {
      return ReadNumber(token);
    } else if (c == '"') {
      return ReadString(token);
    } else {
      token.kind = Token::Kind::kPunctuation;
      for (absl::string_view p : kPunctuation) {
        if (absl::StartsWith(Rest(), p)) {
          n = p.size();
          break;
        }
      }
    }
    if (n == 0) return ErrorAt(at_, UnknownCharacter(c));
    token.text = Rest().substr(0, n);
    Advance(n);
    return absl::OkStatus();
  }

  absl::Status ReadString(Token& token) {
    size_t n = 1;
    while (Peek(n) != '"' && Peek(n) != '\n' && i_ + n < text_.size()) {
      n += Peek(n) == '\\' && i_ + n + 1 < text_.size() ? 2 : 1;
    }
    if (Peek(n) != '"') return ErrorAt(at_, "the string does not end");
    token.kind = Token::Kind::kString;
    token.text = Rest().substr(0, n + 1);
    std::string error;
    if (!absl::CUnescape(Rest().substr(1, n - 1), &token.string, &error)) {
      return ErrorAt(at_, error);
    }
    Advance(n + 1);
    return absl::OkStatus();
  }

  static std::string UnknownCharacter(char c) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      return absl::StrCat("character '", std::string(1, c),
                          "' starts no name, number or sign");
    }
    return absl::StrCat("byte 0x", absl::Hex(static_cast<unsigned char>(c)),
                        " starts no name, number or sign");
  }

  absl::Status ReadNumber(Token& token) {
    size_t n = 0;
    bool real = false;
    while (IsDigit(Peek(n))) ++n;
    if (Peek(n) == '.' && IsDigit(Peek(n + 1))) {
      real = true;
      ++n;
      while (IsDigit(Peek(n))) ++n;
    }
    if (Peek(n) == 'e' || Peek(n) == 'E') {
      const size_t sign = Peek(n + 1) == '+' || Peek(n + 1) == '-';
      if (IsDigit(Peek(n + 1 + sign))) {
        real = true;
        n += 1 + sign;
        while (IsDigit(Peek(n))) ++n;
      }
    }
    token.text = Rest().substr(0, n);
    token.kind = real ? Token::Kind::kFloat : Token::Kind::kInteger;
    if (!absl::SimpleAtod(token.text, &token.real) ||
        (!real && !absl::SimpleAtoi(token.text, &token.integer))) {
      return ErrorAt(
          at_, absl::StrCat("number ", token.text, " does not fit 64 bits"));
    }
    Advance(n);
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t i_ = 0;
  Position at_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view text) {
  return Lexer(text).Run();
}

absl::Status ErrorAt(Position at, absl::string_view what) {
  return Invalid(at.line, ":", at.column, ": ", what);
}

std::string Describe(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end of the text";
  return absl::StrCat("'", token.text, "'");
}

}  // namespace isomer::ir

// The text is cut at the commas, semicolons and signs that lie outside all
// brackets; each piece is then read by the parser of tensors, types or values.
#include "ops/example.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ops/status.h"

namespace isomer {

namespace {

// A part of the text and where it starts.
struct Piece {
  absl::string_view text;
  size_t at;
};

absl::Status Error(absl::string_view text, size_t at, absl::string_view why) {
  return Invalid("call '", text, "': ", why, " at column ", at + 1);
}

// A piece without the space around it.
Piece Strip(Piece p) {
  const absl::string_view left = absl::StripLeadingAsciiWhitespace(p.text);
  const size_t at = p.at + (p.text.size() - left.size());
  return {absl::StripTrailingAsciiWhitespace(left), at};
}

// The first `c` from `from` on outside brackets, or npos.
size_t FindOutside(absl::string_view text, char c, size_t from) {
  int depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    const char x = text[i];
    if (depth == 0 && x == c) return i;
    if (x == '[' || x == '{' || x == '(') ++depth;
    if (x == ']' || x == '}' || x == ')') --depth;
  }
  return absl::string_view::npos;
}

// The pieces between separators; none if there is only space.
std::vector<Piece> SplitOutside(Piece p, char separator) {
  std::vector<Piece> pieces;
  size_t start = 0;
  while (true) {
    const size_t end = FindOutside(p.text, separator, start);
    if (end == absl::string_view::npos) break;
    pieces.push_back(Strip({p.text.substr(start, end - start), p.at + start}));
    start = end + 1;
  }
  Piece last = Strip({p.text.substr(start), p.at + start});
  if (!pieces.empty() || !last.text.empty()) pieces.push_back(last);
  return pieces;
}

bool IsWord(absl::string_view s) {
  return !s.empty() && (absl::ascii_isalpha(s[0]) || s[0] == '_') &&
         std::all_of(s.begin(), s.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Reads one number; nothing if `word` is none.
bool ReadInt(absl::string_view word, int64_t& value) {
  return absl::SimpleAtoi(word, &value);
}
bool ReadDouble(absl::string_view word, double& value) {
  return absl::SimpleAtod(word, &value);
}

template <class T, class Read>
bool ReadList(const std::vector<absl::string_view>& words, Read read,
              std::vector<T>& out) {
  for (absl::string_view word : words) {
    T value;
    if (!read(word, value)) return false;
    out.push_back(value);
  }
  return true;
}

absl::StatusOr<Attr> ParseAttr(absl::string_view text, Piece p) {
  if (int64_t i; ReadInt(p.text, i)) return Attr(i);
  if (double d; ReadDouble(p.text, d)) return Attr(d);
  if (IsWord(p.text)) return Attr(std::string(p.text));
  if (p.text.size() >= 2 && p.text.front() == '[' && p.text.back() == ']') {
    const std::vector<absl::string_view> words =
        absl::StrSplit(p.text.substr(1, p.text.size() - 2),
                       absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
    if (std::vector<int64_t> ints; ReadList(words, ReadInt, ints)) {
      return Attr(ints);
    }
    if (std::vector<double> reals; ReadList(words, ReadDouble, reals)) {
      return Attr(reals);
    }
  }
  return Error(text, p.at,
               absl::StrCat("'", p.text,
                            "' is no attribute value: a number, a list of "
                            "numbers or a word"));
}

// What a call is before its operands are read.
struct Pieces {
  std::string op;
  std::vector<Piece> operands;
  Attrs attrs;
  Piece rest;  // what follows the closing parenthesis
};

absl::Status SortArguments(absl::string_view text, Piece inside, Pieces& out) {
  for (const Piece& p : SplitOutside(inside, ',')) {
    if (p.text.empty()) return Error(text, p.at, "expected an argument");
    const size_t equals = FindOutside(p.text, '=', 0);
    if (equals == absl::string_view::npos) {
      if (!out.attrs.empty()) {
        return Error(text, p.at, "an operand after an attribute");
      }
      out.operands.push_back(p);
      continue;
    }
    const Piece name = Strip({p.text.substr(0, equals), p.at});
    if (!IsWord(name.text)) {
      return Error(text, name.at, "expected the name of an attribute");
    }
    if (out.attrs.Find(name.text)) {
      return Error(text, name.at,
                   absl::StrCat("attribute '", name.text, "' comes twice"));
    }
    ASSIGN_OR_RETURN(
        Attr value,
        ParseAttr(text, Strip({p.text.substr(equals + 1), p.at + equals + 1})));
    out.attrs.Set(name.text, std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<Pieces> CutCall(absl::string_view text) {
  Pieces out;
  const size_t open = text.find('(');
  const Piece name = Strip({text.substr(0, open), 0});
  if (!IsWord(name.text)) {
    return Error(text, name.at, "expected the name of an operator");
  }
  out.op = std::string(name.text);
  if (open == absl::string_view::npos) {
    return Error(text, text.size(), "expected '('");
  }
  const size_t close = FindOutside(text, ')', open + 1);
  if (close == absl::string_view::npos) {
    return Error(text, text.size(), "expected ')'");
  }
  RETURN_IF_ERROR(SortArguments(
      text, {text.substr(open + 1, close - open - 1), open + 1}, out));
  out.rest = Strip({text.substr(close + 1), close + 1});
  return out;
}

// Reads each piece with `parse`; an error says which piece and where it is.
template <class T>
absl::Status ReadAll(absl::string_view text, const std::vector<Piece>& pieces,
                     absl::StatusOr<T> (*parse)(absl::string_view),
                     std::vector<T>& out) {
  for (const Piece& p : pieces) {
    absl::StatusOr<T> value = parse(p.text);
    if (!value.ok()) return Error(text, p.at, value.status().message());
    out.push_back(*std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Example> ParseExample(absl::string_view text) {
  ASSIGN_OR_RETURN(Pieces call, CutCall(text));
  if (call.rest.text.empty() || call.rest.text[0] != '=') {
    return Error(text, call.rest.at, "expected '=' and the outputs");
  }
  Example out{std::move(call.op), {}, std::move(call.attrs), {}};
  RETURN_IF_ERROR(ReadAll(text, call.operands, ParseTensor, out.inputs));
  const Piece after = {call.rest.text.substr(1), call.rest.at + 1};
  const std::vector<Piece> outputs = SplitOutside(after, ';');
  if (outputs.empty()) return Error(text, after.at, "expected an output");
  RETURN_IF_ERROR(ReadAll(text, outputs, ParseTensor, out.outputs));
  return out;
}

absl::StatusOr<TypedCall> ParseTypedCall(absl::string_view text) {
  ASSIGN_OR_RETURN(Pieces call, CutCall(text));
  if (!call.rest.text.empty()) {
    return Error(text, call.rest.at, "unexpected text after the call");
  }
  TypedCall out{std::move(call.op), {}, std::move(call.attrs)};
  RETURN_IF_ERROR(ReadAll(text, call.operands, ParseType, out.inputs));
  return out;
}

std::string TypedCallText(const TypedCall& call) {
  std::vector<std::string> parts;
  for (const TensorType& t : call.inputs) parts.push_back(TypeText(t));
  if (!call.attrs.empty()) parts.push_back(AttrsText<int64_t>(call.attrs));
  return absl::StrCat(call.op, "(", absl::StrJoin(parts, ", "), ")");
}

}  // namespace isomer

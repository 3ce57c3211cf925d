// A parser by recursive descent, with a bound on nesting so that no text can
// exhaust the stack.
#include "graph/rule_syntax.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

constexpr int kMaxDepth = 100;
constexpr int kMaxSigns = 1000;  // + - * / in one rule

// Words that name no variable.
constexpr absl::string_view kReserved[] = {
    "rule", "fold",  "let",      "in",  "choose", "where", "divides", "end",
    "real", "range", "floordiv", "mod", "dim",    "rank",  "inf"};

bool IsReserved(absl::string_view name) {
  return absl::c_linear_search(kReserved, name);
}

// The function of attribute values that a token names.
std::optional<ValueSyntax::Kind> FunctionKind(const Token& t) {
  using K = ValueSyntax::Kind;
  if (t.Is("floordiv")) return K::kFloorDiv;
  if (t.Is("mod")) return K::kMod;
  if (t.Is("dim")) return K::kDim;
  if (t.Is("rank")) return K::kRank;
  if (t.Is("range")) return K::kRange;
  return std::nullopt;
}

class RuleParser {
 public:
  explicit RuleParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<RuleFileSyntax> File();
  absl::StatusOr<RuleSyntax> Body();
  absl::Status End() {
    if (Peek().kind == Token::Kind::kEnd) return absl::OkStatus();
    return Expected("the end of the rule");
  }

 private:
  using V = ValueSyntax;

  const Token& Peek(int ahead = 0) const {
    return tokens_[std::min(i_ + ahead, tokens_.size() - 1)];
  }
  // Takes the next token; comments inside a rule go to that rule.
  Token Next() {
    Token t = Peek();
    for (std::string& c : t.comments) comments_.push_back(std::move(c));
    if (i_ + 1 < tokens_.size()) ++i_;
    return t;
  }
  bool Take(absl::string_view text) {
    if (!Peek().Is(text)) return false;
    Next();
    return true;
  }
  absl::Status Expected(absl::string_view what) const {
    return ErrorAt(Peek().at, absl::StrCat("expected ", what, ", found ",
                                           Describe(Peek())));
  }
  absl::Status Expect(absl::string_view text) {
    if (Take(text)) return absl::OkStatus();
    return Expected(absl::StrCat("'", text, "'"));
  }
  absl::StatusOr<std::string> Name(absl::string_view what) {
    if (Peek().kind != Token::Kind::kName) return Expected(what);
    if (IsReserved(Peek().text)) {
      return ErrorAt(Peek().at,
                     absl::StrCat("expected ", what, "; '", Peek().text,
                                  "' is a word of the language"));
    }
    return std::string(Next().text);
  }
  absl::Status Enter() {
    if (++depth_ <= kMaxDepth) return absl::OkStatus();
    return ErrorAt(Peek().at,
                   absl::StrCat("nested more than ", kMaxDepth, " deep"));
  }
  absl::Status CountSign() {
    if (++signs_ <= kMaxSigns) return absl::OkStatus();
    return ErrorAt(Peek().at, absl::StrCat("more than ", kMaxSigns,
                                           " arithmetic signs in one rule"));
  }
  struct Nest {
    int& depth;
    ~Nest() { --depth; }
  };

  absl::StatusOr<SideSyntax> Side();
  absl::Status Lets(SideSyntax& side);
  absl::Status Choose(SideSyntax& side);
  absl::StatusOr<ExprSyntax> Expr();
  absl::Status Arguments(ExprSyntax& call);
  absl::Status OutputNumber(ExprSyntax& e);
  absl::StatusOr<V> Value();
  absl::StatusOr<V> Term();
  absl::StatusOr<V> Factor();
  absl::StatusOr<V> List();
  absl::StatusOr<V> Function();
  absl::StatusOr<ConditionSyntax> Condition();

  std::vector<Token> tokens_;
  size_t i_ = 0;
  int depth_ = 0;
  int signs_ = 0;
  std::vector<std::string> comments_;
};

ValueSyntax Binary(ValueSyntax::Kind kind, ValueSyntax a, ValueSyntax b,
                   Position at) {
  ValueSyntax v{.kind = kind, .at = at};
  v.args.push_back(std::move(a));
  v.args.push_back(std::move(b));
  return v;
}

// A minus before a number is part of the number, so that printing and reading
// agree on one tree.
ValueSyntax Negated(ValueSyntax v, Position at) {
  v.at = at;
  if (v.kind == ValueSyntax::Kind::kInteger) {
    v.integer = -v.integer;
    return v;
  }
  if (v.kind == ValueSyntax::Kind::kFloat) {
    v.real = -v.real;
    return v;
  }
  ValueSyntax negated{.kind = ValueSyntax::Kind::kNegate, .at = at};
  negated.args.push_back(std::move(v));
  return negated;
}

absl::StatusOr<RuleFileSyntax> RuleParser::File() {
  RuleFileSyntax file;
  std::set<std::string> names;
  while (Peek().kind != Token::Kind::kEnd) {
    const Position at = Peek().at;
    comments_.clear();
    if (Take("fold")) {
      FoldSyntax fold{.at = at};
      const Position name_at = Peek().at;
      ASSIGN_OR_RETURN(fold.name, Name("the name of a rule"));
      if (!names.contains(fold.name)) {
        return ErrorAt(name_at, absl::StrCat("no rule '", fold.name,
                                             "' comes before its fold"));
      }
      fold.comments = comments_;
      file.items.emplace_back(std::move(fold));
      continue;
    }
    if (!Take("rule")) return Expected("'rule' or 'fold'");
    const Position name_at = Peek().at;
    ASSIGN_OR_RETURN(std::string name, Name("the name of the rule"));
    if (!names.insert(name).second) {
      return ErrorAt(name_at,
                     absl::StrCat("there are two rules called '", name, "'"));
    }
    RETURN_IF_ERROR(Expect(":"));
    ASSIGN_OR_RETURN(RuleSyntax rule, Body());
    rule.name = std::move(name);
    rule.at = at;
    file.items.emplace_back(std::move(rule));
  }
  file.trailing_comments = Peek().comments;
  return file;
}

absl::StatusOr<RuleSyntax> RuleParser::Body() {
  RuleSyntax rule{.at = Peek().at};
  signs_ = 0;
  ASSIGN_OR_RETURN(rule.source, Side());
  if (Take("<=>")) {
    rule.both_ways = true;
  } else if (!Take("=>")) {
    return Expected("',', '=>' or '<=>'");
  }
  ASSIGN_OR_RETURN(rule.target, Side());
  if (Take("where")) {
    do {
      ASSIGN_OR_RETURN(ConditionSyntax c, Condition());
      rule.where.push_back(std::move(c));
    } while (Take(","));
  }
  rule.comments = comments_;
  return rule;
}

absl::StatusOr<SideSyntax> RuleParser::Side() {
  SideSyntax side;
  while (true) {
    if (Peek().Is("let")) {
      RETURN_IF_ERROR(Lets(side));
    } else if (Peek().Is("choose")) {
      RETURN_IF_ERROR(Choose(side));
    } else {
      break;
    }
  }
  do {
    ASSIGN_OR_RETURN(ExprSyntax e, Expr());
    side.outputs.push_back(std::move(e));
  } while (Take(","));
  return side;
}

absl::Status RuleParser::Lets(SideSyntax& side) {
  Next();
  do {
    BinderSyntax b{.at = Peek().at};
    ASSIGN_OR_RETURN(b.name, Name("a variable"));
    RETURN_IF_ERROR(Expect("="));
    ASSIGN_OR_RETURN(b.value, Expr());
    side.binders.push_back(std::move(b));
  } while (Take(","));
  return Expect("in");
}

absl::Status RuleParser::Choose(SideSyntax& side) {
  BinderSyntax b{.choose = true, .at = Next().at};
  ASSIGN_OR_RETURN(b.name, Name("a variable"));
  RETURN_IF_ERROR(Expect("in"));
  ASSIGN_OR_RETURN(b.low, Value());
  RETURN_IF_ERROR(Expect(".."));
  ASSIGN_OR_RETURN(b.high, Value());
  RETURN_IF_ERROR(Expect(":"));
  side.binders.push_back(std::move(b));
  return absl::OkStatus();
}

absl::StatusOr<ExprSyntax> RuleParser::Expr() {
  RETURN_IF_ERROR(Enter());
  Nest nest{depth_};
  ExprSyntax e{.at = Peek().at};
  const bool negative = Take("-");
  const Token& t = Peek();
  if (t.kind == Token::Kind::kInteger || t.kind == Token::Kind::kFloat ||
      t.Is("inf")) {
    e.kind = ExprSyntax::Kind::kNumber;
    e.number = t.Is("inf") ? std::numeric_limits<double>::infinity() : t.real;
    if (negative) e.number = -e.number;
    Next();
    return e;
  }
  if (negative) return Expected("a number after '-'");
  if (Take("real")) {
    e.kind = ExprSyntax::Kind::kReal;
    RETURN_IF_ERROR(Expect("("));
    ASSIGN_OR_RETURN(e.value, Value());
    RETURN_IF_ERROR(Expect(")"));
    return e;
  }
  if (t.kind != Token::Kind::kName) {
    return Expected("an operator, a variable or a number");
  }
  // An operator may be called like a function of attribute values (mod).
  if (Peek(1).Is("(") && !t.Is("rule")) {
    e.kind = ExprSyntax::Kind::kCall;
    e.name = std::string(Next().text);
    RETURN_IF_ERROR(Arguments(e));
  } else {
    ASSIGN_OR_RETURN(e.name, Name("an operator, a variable or a number"));
  }
  RETURN_IF_ERROR(OutputNumber(e));
  return e;
}

absl::Status RuleParser::OutputNumber(ExprSyntax& e) {
  if (!Take(".")) return absl::OkStatus();
  const Token& t = Peek();
  if (t.kind != Token::Kind::kInteger || t.integer > 1000) {
    return Expected("the number of an output");
  }
  e.output = static_cast<int>(Next().integer);
  return absl::OkStatus();
}

absl::Status RuleParser::Arguments(ExprSyntax& call) {
  RETURN_IF_ERROR(Expect("("));
  if (Take(")")) return absl::OkStatus();
  do {
    if (Peek().Is("[")) {
      ASSIGN_OR_RETURN(ValueSyntax list, List());
      call.attrs.push_back({"", std::move(list)});
    } else if (Peek().kind == Token::Kind::kName && Peek(1).Is("=")) {
      AttrSyntax attr;
      attr.name = std::string(Next().text);
      Next();
      ASSIGN_OR_RETURN(attr.value, Value());
      call.attrs.push_back(std::move(attr));
    } else if (!call.attrs.empty()) {
      return Expected("an attribute: operands come before attributes");
    } else {
      ASSIGN_OR_RETURN(ExprSyntax arg, Expr());
      call.args.push_back(std::move(arg));
    }
  } while (Take(","));
  if (Take(")")) return absl::OkStatus();
  return Expected("',' or ')'");
}

absl::StatusOr<ValueSyntax> RuleParser::Value() {
  ASSIGN_OR_RETURN(V left, Term());
  while (Peek().Is("+") || Peek().Is("-")) {
    RETURN_IF_ERROR(CountSign());
    const Token sign = Next();
    ASSIGN_OR_RETURN(V right, Term());
    left = Binary(sign.Is("+") ? V::Kind::kAdd : V::Kind::kSub, std::move(left),
                  std::move(right), sign.at);
  }
  return left;
}

absl::StatusOr<ValueSyntax> RuleParser::Term() {
  ASSIGN_OR_RETURN(V left, Factor());
  while (Peek().Is("*") || Peek().Is("/")) {
    RETURN_IF_ERROR(CountSign());
    const Token sign = Next();
    ASSIGN_OR_RETURN(V right, Factor());
    left = Binary(sign.Is("*") ? V::Kind::kMul : V::Kind::kDiv, std::move(left),
                  std::move(right), sign.at);
  }
  return left;
}

absl::StatusOr<ValueSyntax> RuleParser::Factor() {
  RETURN_IF_ERROR(Enter());
  Nest nest{depth_};
  const Position at = Peek().at;
  const Token& t = Peek();
  if (t.kind == Token::Kind::kInteger) {
    return V{.kind = V::Kind::kInteger, .integer = Next().integer, .at = at};
  }
  if (t.kind == Token::Kind::kFloat) {
    return V{.kind = V::Kind::kFloat, .real = Next().real, .at = at};
  }
  if (Take("inf")) {
    return V{.kind = V::Kind::kFloat,
             .real = std::numeric_limits<double>::infinity(),
             .at = at};
  }
  if (Take("-")) {
    ASSIGN_OR_RETURN(V v, Factor());
    return Negated(std::move(v), at);
  }
  if (Take("(")) {
    ASSIGN_OR_RETURN(V v, Value());
    RETURN_IF_ERROR(Expect(")"));
    return v;
  }
  if (t.Is("[")) return List();
  if (Take("end")) return V{.kind = V::Kind::kEnd, .at = at};
  if (FunctionKind(t)) return Function();
  ASSIGN_OR_RETURN(std::string name, Name("a value"));
  return V{.kind = V::Kind::kName, .name = std::move(name), .at = at};
}

absl::StatusOr<ValueSyntax> RuleParser::List() {
  V list{.kind = V::Kind::kList, .at = Peek().at};
  RETURN_IF_ERROR(Expect("["));
  while (!Peek().Is("]")) {
    if (Peek().kind == Token::Kind::kEnd || Peek().Is(",")) {
      return Expected("an item of the list or ']'");
    }
    ASSIGN_OR_RETURN(V item, Factor());
    list.args.push_back(std::move(item));
  }
  Next();
  return list;
}

absl::StatusOr<ValueSyntax> RuleParser::Function() {
  V v{.kind = *FunctionKind(Peek()), .at = Peek().at};
  Next();
  RETURN_IF_ERROR(Expect("("));
  if (v.kind == V::Kind::kDim || v.kind == V::Kind::kRank) {
    ASSIGN_OR_RETURN(v.name, Name("a tensor variable"));
  } else {
    ASSIGN_OR_RETURN(V first, Value());
    v.args.push_back(std::move(first));
  }
  if (v.kind != V::Kind::kRank) {
    RETURN_IF_ERROR(Expect(","));
    ASSIGN_OR_RETURN(V last, Value());
    v.args.push_back(std::move(last));
  }
  RETURN_IF_ERROR(Expect(")"));
  return v;
}

absl::StatusOr<ConditionSyntax> RuleParser::Condition() {
  using C = ConditionSyntax;
  static constexpr std::pair<absl::string_view, C::Kind> kPredicates[] = {
      {"const", C::Kind::kConst},
      {"positive", C::Kind::kPositive},
      {"finite", C::Kind::kFinite}};
  static constexpr std::pair<absl::string_view, C::Kind> kRelations[] = {
      {"==", C::Kind::kEq},          {"!=", C::Kind::kNe}, {"<", C::Kind::kLt},
      {"<=", C::Kind::kLe},          {">", C::Kind::kGt},  {">=", C::Kind::kGe},
      {"divides", C::Kind::kDivides}};
  C c{.at = Peek().at};
  for (const auto& [text, kind] : kPredicates) {
    if (!Peek().Is(text) || !Peek(1).Is("(")) continue;
    Next();
    Next();
    c.kind = kind;
    ASSIGN_OR_RETURN(c.name, Name("a tensor variable"));
    RETURN_IF_ERROR(Expect(")"));
    return c;
  }
  ASSIGN_OR_RETURN(c.left, Value());
  for (const auto& [text, kind] : kRelations) {
    if (!Take(text)) continue;
    c.kind = kind;
    ASSIGN_OR_RETURN(c.right, Value());
    return c;
  }
  return Expected("'==', '!=', '<', '<=', '>', '>=' or 'divides'");
}

}  // namespace

absl::StatusOr<RuleFileSyntax> ParseRuleFile(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return RuleParser(std::move(tokens)).File();
}

absl::StatusOr<RuleSyntax> ParseRuleBody(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  RuleParser parser(std::move(tokens));
  ASSIGN_OR_RETURN(RuleSyntax rule, parser.Body());
  RETURN_IF_ERROR(parser.End());
  return rule;
}

}  // namespace isomer::ir

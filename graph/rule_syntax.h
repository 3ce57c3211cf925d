// The rule language as text: syntax trees, the parser and the canonical
// printer. Nothing here knows operators; graph/rule.h binds and type-checks.
//
//   file    = { rule | fold }
//   rule    = "rule" NAME ":" body
//   fold    = "fold" NAME
//   body    = side ("=>" | "<=>") side [ "where" condition { "," condition } ]
//   side    = { "let" NAME "=" expr { "," NAME "=" expr } "in"
//             | "choose" NAME "in" value ".." value ":" } expr { "," expr }
//   expr    = NAME [ "." N ] | ["-"] NUMBER | "real" "(" value ")"
//           | NAME "(" [ argument { "," argument } ] ")" [ "." N ]
//   argument = expr | NAME "=" value | list
//   value   = term { ("+" | "-") term };   term = factor { ("*" | "/") factor }
//   factor  = NUMBER | NAME | "-" factor | "(" value ")" | list | "end"
//           | "floordiv" "(" value "," value ")" | "mod" "(" value "," value
//           ")" | "dim" "(" NAME "," value ")" | "rank" "(" NAME ")" | "range"
//           "(" value "," value ")"
//   list    = "[" { factor } "]"
//   condition = value ("==" | "!=" | "<" | "<=" | ">" | ">=" | "divides") value
//           | ("const" | "positive" | "finite") "(" NAME ")"
//
// A comment (# to the end of the line) belongs to the rule that follows it.
// `a / b` divides exactly; `expr.N` is output N of an operator with several.
// Lengths are bounded (kMaxDepth, kMaxSigns), so that no text overflows a
// stack.
#ifndef ISOMER_GRAPH_RULE_SYNTAX_H_
#define ISOMER_GRAPH_RULE_SYNTAX_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/lexer.h"

namespace isomer::ir {

// The value of an attribute, or one side of a condition.
struct ValueSyntax {
  enum class Kind {
    kInteger,
    kFloat,
    kName,  // an attribute variable, or a word: an enumerator, a dtype
    kAdd,   // from here on `args` are the operands
    kSub,
    kMul,
    kDiv,  // exact
    kFloorDiv,
    kMod,
    kNegate,
    kDim,    // dim(name, args[0])
    kRank,   // rank(name)
    kRange,  // the integers from args[0] up to, not including, args[1]
    kEnd,    // the size of the dimension that is sliced
    kList,
  };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;
  double real = 0;
  std::string name = {};
  std::vector<ValueSyntax> args = {};
  Position at = {};
};

// An attribute as written; a list may stand without a name.
struct AttrSyntax {
  std::string name;
  ValueSyntax value;
};

// An expression for a tensor.
struct ExprSyntax {
  enum class Kind { kVariable, kCall, kNumber, kReal };
  Kind kind = Kind::kVariable;
  std::string name = {};               // of the variable or operator
  std::vector<ExprSyntax> args = {};   // kCall
  std::vector<AttrSyntax> attrs = {};  // kCall
  double number = 0;                   // kNumber
  ValueSyntax value = {};              // kReal
  int output = 0;                      // kVariable, kCall
  Position at = {};
};

// `let name = value` or `choose name in low..high`.
struct BinderSyntax {
  bool choose = false;
  std::string name = {};
  ExprSyntax value = {};
  ValueSyntax low = {}, high = {};
  Position at = {};
};

struct SideSyntax {
  std::vector<BinderSyntax> binders;
  std::vector<ExprSyntax> outputs;
};

struct ConditionSyntax {
  enum class Kind {
    kEq,
    kNe,
    kLt,
    kLe,
    kGt,
    kGe,
    kDivides,
    kConst,     // const(name): the value depends on constants alone
    kPositive,  // positive(name): all elements are above zero
    kFinite,    // finite(name): no element is infinite or not a number
  };
  Kind kind = Kind::kEq;
  ValueSyntax left = {}, right = {};
  std::string name = {};
  Position at = {};
};

struct RuleSyntax {
  std::vector<std::string> comments = {};  // as in Token
  std::string name = {};                   // "" for a rule that has none
  SideSyntax source = {}, target = {};
  bool both_ways = false;
  std::vector<ConditionSyntax> where = {};
  Position at = {};
};

// `fold name`: the n-ary form of the pair rule called `name`.
struct FoldSyntax {
  std::vector<std::string> comments = {};
  std::string name = {};
  Position at = {};
};

using RuleItem = std::variant<RuleSyntax, FoldSyntax>;

struct RuleFileSyntax {
  std::vector<RuleItem> items;
  std::vector<std::string> trailing_comments;
};

// Reads a file of rules. Two rules of one name are an error, as is a fold of a
// rule that does not come before it.
absl::StatusOr<RuleFileSyntax> ParseRuleFile(absl::string_view text);

// Reads one rule without `rule NAME:`, as operators state their axioms and
// expansions.
absl::StatusOr<RuleSyntax> ParseRuleBody(absl::string_view text);

// Prints in canonical form; parsing that gives the same tree back.
std::string PrintRule(const RuleSyntax& rule);
std::string PrintRuleFile(const RuleFileSyntax& file);
std::string PrintExpr(const ExprSyntax& expr);
std::string PrintValue(const ValueSyntax& value);
std::string PrintCondition(const ConditionSyntax& condition);

// Equality of trees, whatever their places in the text.
bool operator==(const ValueSyntax& a, const ValueSyntax& b);
bool operator==(const ExprSyntax& a, const ExprSyntax& b);
bool operator==(const ConditionSyntax& a, const ConditionSyntax& b);
bool operator==(const RuleSyntax& a, const RuleSyntax& b);
bool operator==(const RuleFileSyntax& a, const RuleFileSyntax& b);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_SYNTAX_H_

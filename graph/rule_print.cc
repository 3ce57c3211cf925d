// The canonical text of rules, and equality of their trees.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/rule_syntax.h"
#include "ops/attr.h"

namespace isomer::ir {

namespace {

using V = ValueSyntax;

constexpr size_t kLineWidth = 80;

// How tightly an operator binds its operands: sums 1, products 2, rest 3.
int Level(const V& v) {
  switch (v.kind) {
    case V::Kind::kAdd:
    case V::Kind::kSub:
      return 1;
    case V::Kind::kMul:
    case V::Kind::kDiv:
      return 2;
    default:
      return 3;
  }
}

// A float always shows that it is one, so that it does not read as an integer.
std::string FloatText(double x) {
  std::string s = DoubleText(x);
  if (std::isfinite(x) && s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

std::string AtLevel(const V& v, int level) {
  std::string s = PrintValue(v);
  return Level(v) < level ? absl::StrCat("(", s, ")") : s;
}

absl::string_view Sign(V::Kind kind) {
  switch (kind) {
    case V::Kind::kAdd:
      return " + ";
    case V::Kind::kSub:
      return " - ";
    case V::Kind::kMul:
      return " * ";
    default:
      return " / ";
  }
}

std::string Call(absl::string_view name, const V& v) {
  return absl::StrCat(name, "(", PrintValue(v.args[0]), ", ",
                      PrintValue(v.args[1]), ")");
}

absl::string_view Relation(ConditionSyntax::Kind kind) {
  static constexpr absl::string_view kNames[] = {
      "==", "!=",      "<",     "<=",       ">",
      ">=", "divides", "const", "positive", "finite"};
  return kNames[static_cast<int>(kind)];
}

std::string PrintBinders(const std::vector<BinderSyntax>& binders,
                         absl::string_view separator) {
  std::string s;
  for (size_t i = 0; i < binders.size(); ++i) {
    const BinderSyntax& b = binders[i];
    if (b.choose) {
      absl::StrAppend(&s, "choose ", b.name, " in ", PrintValue(b.low), "..",
                      PrintValue(b.high), ":", separator);
      continue;
    }
    const bool first = i == 0 || binders[i - 1].choose;
    const bool last = i + 1 == binders.size() || binders[i + 1].choose;
    absl::StrAppend(&s, first ? "let " : "", b.name, " = ", PrintExpr(b.value),
                    last ? " in" : ",", separator);
  }
  return s;
}

std::string PrintOutputs(const std::vector<ExprSyntax>& outputs) {
  return absl::StrJoin(outputs, ", ",
                       [](std::string* out, const ExprSyntax& e) {
                         absl::StrAppend(out, PrintExpr(e));
                       });
}

std::string PrintComments(const std::vector<std::string>& comments) {
  std::string s;
  for (const std::string& c : comments) {
    if (c == "\n") {
      s += c;
    } else {
      absl::StrAppend(&s, c.empty() ? "#" : "# ", c, "\n");
    }
  }
  return s;
}

// The rule after its head: on one line, or one line for each part, indented
// by `indent`.
std::string PrintBody(const RuleSyntax& r, bool one_line,
                      absl::string_view indent) {
  const std::string next_line = one_line ? " " : absl::StrCat("\n", indent);
  const std::string inside =
      one_line ? " " : absl::StrCat("\n", indent, r.both_ways ? "    " : "   ");
  std::string s = PrintBinders(r.source.binders, one_line ? " " : next_line);
  absl::StrAppend(&s, PrintOutputs(r.source.outputs), next_line,
                  r.both_ways ? "<=> " : "=> ",
                  PrintBinders(r.target.binders, inside),
                  PrintOutputs(r.target.outputs));
  if (r.where.empty()) return s;
  absl::StrAppend(
      &s, next_line, "where ",
      absl::StrJoin(r.where, ", ", [](std::string* out, const auto& c) {
        absl::StrAppend(out, PrintCondition(c));
      }));
  return s;
}

}  // namespace

std::string PrintValue(const V& v) {
  switch (v.kind) {
    case V::Kind::kInteger:
      return absl::StrCat(v.integer);
    case V::Kind::kFloat:
      return FloatText(v.real);
    case V::Kind::kName:
      return v.name;
    case V::Kind::kAdd:
    case V::Kind::kSub:
    case V::Kind::kMul:
    case V::Kind::kDiv:
      return absl::StrCat(AtLevel(v.args[0], Level(v)), Sign(v.kind),
                          AtLevel(v.args[1], Level(v) + 1));
    case V::Kind::kFloorDiv:
      return Call("floordiv", v);
    case V::Kind::kMod:
      return Call("mod", v);
    case V::Kind::kNegate:
      return absl::StrCat("-", AtLevel(v.args[0], 3));
    case V::Kind::kDim:
      return absl::StrCat("dim(", v.name, ", ", PrintValue(v.args[0]), ")");
    case V::Kind::kRank:
      return absl::StrCat("rank(", v.name, ")");
    case V::Kind::kRange:
      return Call("range", v);
    case V::Kind::kEnd:
      return "end";
    case V::Kind::kList:
      return absl::StrCat("[",
                          absl::StrJoin(v.args, " ",
                                        [](std::string* out, const V& item) {
                                          absl::StrAppend(out,
                                                          AtLevel(item, 3));
                                        }),
                          "]");
  }
  return "";
}

std::string PrintExpr(const ExprSyntax& e) {
  std::string s;
  switch (e.kind) {
    case ExprSyntax::Kind::kNumber:
      return DoubleText(e.number);
    case ExprSyntax::Kind::kReal:
      return absl::StrCat("real(", PrintValue(e.value), ")");
    case ExprSyntax::Kind::kVariable:
      s = e.name;
      break;
    case ExprSyntax::Kind::kCall: {
      std::vector<std::string> parts;
      for (const ExprSyntax& a : e.args) parts.push_back(PrintExpr(a));
      for (const AttrSyntax& a : e.attrs) {
        parts.push_back(absl::StrCat(a.name, a.name.empty() ? "" : "=",
                                     PrintValue(a.value)));
      }
      s = absl::StrCat(e.name, "(", absl::StrJoin(parts, ", "), ")");
      break;
    }
  }
  if (e.output != 0) absl::StrAppend(&s, ".", e.output);
  return s;
}

std::string PrintCondition(const ConditionSyntax& c) {
  if (c.kind >= ConditionSyntax::Kind::kConst) {
    return absl::StrCat(Relation(c.kind), "(", c.name, ")");
  }
  return absl::StrCat(PrintValue(c.left), " ", Relation(c.kind), " ",
                      PrintValue(c.right));
}

std::string PrintRule(const RuleSyntax& r) {
  const std::string head =
      r.name.empty() ? "" : absl::StrCat("rule ", r.name, ":");
  const std::string gap = head.empty() ? "" : " ";
  const std::string line = absl::StrCat(head, gap, PrintBody(r, true, ""));
  std::string s = PrintComments(r.comments);
  if (line.size() <= kLineWidth && r.source.binders.empty() &&
      r.target.binders.empty()) {
    return absl::StrCat(s, line);
  }
  if (head.empty()) return absl::StrCat(s, PrintBody(r, false, ""));
  return absl::StrCat(s, head, "\n  ", PrintBody(r, false, "  "));
}

std::string PrintRuleFile(const RuleFileSyntax& file) {
  std::string s;
  for (const RuleItem& item : file.items) {
    if (!s.empty()) s += "\n";
    if (const auto* rule = std::get_if<RuleSyntax>(&item)) {
      absl::StrAppend(&s, PrintRule(*rule), "\n");
    } else {
      const auto& fold = std::get<FoldSyntax>(item);
      absl::StrAppend(&s, PrintComments(fold.comments), "fold ", fold.name,
                      "\n");
    }
  }
  if (!s.empty() && !file.trailing_comments.empty()) s += "\n";
  return s + PrintComments(file.trailing_comments);
}

namespace {

// Bits, so that a tree equals itself whatever its numbers.
bool SameNumber(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b)
                : std::isnan(a) && std::isnan(b);
}

bool SameBinder(const BinderSyntax& a, const BinderSyntax& b) {
  return a.choose == b.choose && a.name == b.name && a.value == b.value &&
         a.low == b.low && a.high == b.high;
}

bool SameSide(const SideSyntax& a, const SideSyntax& b) {
  return std::equal(a.binders.begin(), a.binders.end(), b.binders.begin(),
                    b.binders.end(), SameBinder) &&
         a.outputs == b.outputs;
}

}  // namespace

bool operator==(const V& a, const V& b) {
  return a.kind == b.kind && a.integer == b.integer &&
         SameNumber(a.real, b.real) && a.name == b.name && a.args == b.args;
}

bool operator==(const ExprSyntax& a, const ExprSyntax& b) {
  return a.kind == b.kind && a.name == b.name && a.args == b.args &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(),
                    b.attrs.end(),
                    [](const AttrSyntax& p, const AttrSyntax& q) {
                      return p.name == q.name && p.value == q.value;
                    }) &&
         SameNumber(a.number, b.number) && a.value == b.value &&
         a.output == b.output;
}

bool operator==(const ConditionSyntax& a, const ConditionSyntax& b) {
  return a.kind == b.kind && a.left == b.left && a.right == b.right &&
         a.name == b.name;
}

bool operator==(const RuleSyntax& a, const RuleSyntax& b) {
  return a.comments == b.comments && a.name == b.name &&
         SameSide(a.source, b.source) && SameSide(a.target, b.target) &&
         a.both_ways == b.both_ways && a.where == b.where;
}

bool operator==(const RuleFileSyntax& a, const RuleFileSyntax& b) {
  return a.trailing_comments == b.trailing_comments &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(),
                    b.items.end(), [](const RuleItem& p, const RuleItem& q) {
                      if (p.index() != q.index()) return false;
                      if (const auto* r = std::get_if<RuleSyntax>(&p)) {
                        return *r == std::get<RuleSyntax>(q);
                      }
                      const auto &f = std::get<FoldSyntax>(p),
                                 &g = std::get<FoldSyntax>(q);
                      return f.comments == g.comments && f.name == g.name;
                    });
}

}  // namespace isomer::ir

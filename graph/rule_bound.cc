// Walks over a bound rule.
#include "graph/rule_bound.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::ir {

namespace {

using VKind = ValueExpr::Kind;

// The degree of v in a variable: 0, 1, or 2 for what cannot be solved.
int DegreeIn(const ValueExpr& v, int variable) {
  int most = 0, sum = 0;
  for (const ValueExpr& a : v.args) {
    const int d = DegreeIn(a, variable);
    most = std::max(most, d);
    sum += d;
  }
  switch (v.kind) {
    case VKind::kName:
      return v.variable == variable ? 1 : 0;
    case VKind::kAdd:
    case VKind::kSub:
    case VKind::kNegate:
    case VKind::kList:
      return most;
    case VKind::kMul:
      return std::min(sum, 2);
    default:
      return most > 0 ? 2 : 0;
  }
}

}  // namespace

// A variable names dimensions if it stands in an axis attribute, in an index
// of dim, or in a bound of range.
void MarkAxes(BoundRule& rule) {
  auto mark = [&](const ValueExpr& v) {
    Visit(v, [&](const ValueExpr& p) {
      if (p.variable >= 0) rule.attrs[p.variable].axis = true;
    });
  };
  auto mark_indices = [&](const ValueExpr& v) {
    Visit(v, [&](const ValueExpr& p) {
      if (p.kind == VKind::kDim || p.kind == VKind::kRange) {
        for (const ValueExpr& a : p.args) mark(a);
      }
    });
  };
  for (const RuleSide* side : {&rule.source, &rule.target}) {
    for (const RuleNode& n : side->nodes) {
      mark_indices(n.literal);
      for (const RuleAttr& a : n.attrs) {
        mark_indices(a.value);
        if (n.op->attrs[a.spec].role == AttrRole::kAxis) mark(a.value);
      }
    }
  }
  for (const RuleCondition& c : rule.where) {
    mark_indices(c.left);
    mark_indices(c.right);
  }
}

// Every value of the source must become known: a variable alone binds; in an
// expression all but one variable must be known, and that one is solved for.
absl::Status CheckSolvable(const BoundRule& rule) {
  std::vector<const ValueExpr*> open;
  for (const RuleNode& n : rule.source.nodes) {
    if (n.kind == RuleNode::Kind::kLiteral) open.push_back(&n.literal);
    for (const RuleAttr& a : n.attrs) open.push_back(&a.value);
  }
  for (size_t i = 0; i < open.size(); ++i) {  // lists match item by item
    if (open[i]->kind != VKind::kList) continue;
    for (const ValueExpr& item : open[i]->args) open.push_back(&item);
  }
  std::set<int> known;
  auto unknown = [&](const ValueExpr& v) {
    std::set<int> out;
    Visit(v, [&](const ValueExpr& p) {
      if (p.variable >= 0 && !known.contains(p.variable)) {
        out.insert(p.variable);
      }
    });
    return out;
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const ValueExpr* v : open) {
      const std::set<int> missing = unknown(*v);
      if (missing.size() != 1 || DegreeIn(*v, *missing.begin()) != 1) continue;
      known.insert(*missing.begin());
      grew = true;
    }
  }
  for (const ValueExpr* v : open) {
    const std::set<int> missing = unknown(*v);
    if (missing.empty() || v->kind == VKind::kList) continue;
    const std::string& name = rule.attrs[*missing.begin()].name;
    if (missing.size() == 1) {
      return ErrorAt(v->at, absl::StrCat("a source cannot be solved for '",
                                         name, "': it is not linear in it"));
    }
    return ErrorAt(
        v->at, absl::StrCat("a source cannot be solved for ",
                            absl::StrJoin(missing, ", ",
                                          [&](std::string* out, int m) {
                                            absl::StrAppend(out, "'",
                                                            rule.attrs[m].name,
                                                            "'");
                                          }),
                            " at once: one unbound variable to an expression"));
  }
  return absl::OkStatus();
}

}  // namespace isomer::ir

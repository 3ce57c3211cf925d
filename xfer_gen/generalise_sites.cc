// Walks over syntax trees. Ranks come from typing both sides at the sizes the
// rule was found with.
#include "xfer_gen/generalise_sites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "graph/rule_side.h"
#include "ops/registry.h"

namespace isomer::gen {

namespace {

using ir::ExprSyntax;
using ir::RuleSyntax;
using ir::ValueSyntax;
using VKind = ValueSyntax::Kind;

void VisitExprs(ExprSyntax& e, absl::FunctionRef<void(ExprSyntax&)> f) {
  f(e);
  for (ExprSyntax& a : e.args) VisitExprs(a, f);
}

void VisitExprs(RuleSyntax& rule, absl::FunctionRef<void(ExprSyntax&)> f) {
  for (ir::SideSyntax* side : {&rule.source, &rule.target}) {
    for (ir::BinderSyntax& b : side->binders) {
      if (!b.choose) VisitExprs(b.value, f);
    }
    for (ExprSyntax& e : side->outputs) VisitExprs(e, f);
  }
}

void VisitValues(ValueSyntax& v, absl::FunctionRef<void(ValueSyntax&)> f) {
  f(v);
  for (ValueSyntax& a : v.args) VisitValues(a, f);
}

ValueSyntax Integer(int64_t value) {
  ValueSyntax v;
  v.integer = value;
  return v;
}

ValueSyntax Name(const std::string& name) {
  ValueSyntax v;
  v.kind = VKind::kName;
  v.name = name;
  return v;
}

const AttrSpec* SpecOf(const OpDef& op, const std::string& name) {
  for (const AttrSpec& s : op.attrs) {
    if (s.name == name || (name == "axis" && s.name == "axes")) return &s;
  }
  return nullptr;
}

// A literal that a variable can stand for: a whole number or a list of them. An
// empty list says that there are none (the broadcast of a scalar), and stays.
bool IsLiteral(const ValueSyntax& v) {
  if (v.kind == VKind::kNegate) return IsLiteral(v.args[0]);
  if (v.kind == VKind::kList) {
    return !v.args.empty() && absl::c_all_of(v.args, IsLiteral);
  }
  return v.kind == VKind::kInteger;
}

std::optional<ValueSyntax> DefaultOf(const AttrSpec& spec) {
  if (spec.required || spec.role == AttrRole::kAxis) return std::nullopt;
  if (spec.kind != AttrKind::kInt && spec.kind != AttrKind::kInts) {
    return std::nullopt;
  }
  const auto* value = std::get_if<int64_t>(&spec.default_value);
  if (value == nullptr) return std::nullopt;
  return Integer(*value);
}

// Names that a reader expects first.
std::string Fresh(const AttrSpec& spec, bool axis,
                  std::set<std::string>& used) {
  std::string name(1, axis && spec.kind == AttrKind::kInt ? 'a' : spec.name[0]);
  std::string out = name;
  for (int i = 2; !used.insert(out).second; ++i) out = absl::StrCat(name, i);
  return out;
}

std::set<std::string> NamesOf(RuleSyntax rule) {
  std::set<std::string> names;
  for (const auto* side : {&rule.source, &rule.target}) {
    for (const ir::BinderSyntax& b : side->binders) names.insert(b.name);
  }
  VisitExprs(rule, [&](ExprSyntax& e) {
    names.insert(e.name);
    for (ir::AttrSyntax& a : e.attrs) {
      VisitValues(a.value, [&](ValueSyntax& v) { names.insert(v.name); });
    }
  });
  return names;
}

// An axis, or a list of them, counted from the end.
ValueSyntax FromEnd(const ValueSyntax& axis, int rank) {
  ValueSyntax v;
  if (axis.kind == VKind::kList) {
    v.kind = VKind::kList;
    for (const ValueSyntax& a : axis.args) v.args.push_back(FromEnd(a, rank));
    return v;
  }
  if (axis.kind != VKind::kInteger) return axis;
  v.kind = VKind::kNegate;
  v.args.push_back(Integer(rank - axis.integer));
  return v;
}

// What an axis looks like at a site in a form.
ValueSyntax Formed(const AttrGroup& g, const AttrSite& site, AttrForm form) {
  if (form == AttrForm::kVariable) return Name(g.variable);
  if (form == AttrForm::kFromEnd) return FromEnd(g.value, site.rank);
  return g.value;
}

// What a side's typing says of its calls.
void AddTypes(const ir::RuleSide& side, const ir::SideTyping<int64_t>& typing,
              CallTypes& out) {
  for (size_t k = 0; k < side.nodes.size(); ++k) {
    const ir::RuleNode& n = side.nodes[k];
    const std::vector<TensorType>& results = typing.nodes[k].types;
    if (n.op == nullptr || results.empty()) continue;
    const TensorType& operand =
        n.inputs.empty()
            ? results[0]
            : typing.nodes[n.inputs[0].node].types[n.inputs[0].output];
    const int axes = n.inputs.size() == 1
                         ? std::max(operand.rank(), results[0].rank())
                         : operand.rank();
    out.insert({n.at.line, {operand, axes}});
  }
}

}  // namespace

CallTypes TypesOfCalls(const RuleSyntax& rule, const SeenTensors& seen) {
  CallTypes out;
  for (const bool reversed : {false, true}) {
    const auto checked = ir::Rule::Create(rule, reversed);
    if (!checked.ok()) continue;
    std::vector<const TensorType*> tensors;
    for (const std::string& name : checked->tensors()) {
      const auto t = absl::c_find_if(
          seen, [&](const SeenTensor& s) { return s.name == name; });
      tensors.push_back(t == seen.end() ? nullptr : &t->type);
    }
    const std::vector<std::optional<Attr>> attrs(checked->attrs().size());
    std::vector<TensorType> expected;
    for (const ir::RuleSide* side : {&checked->source(), &checked->target()}) {
      ir::SideTyping<int64_t> typing;
      const bool typed =
          ir::TypeSide<int64_t>(*side, tensors, attrs, expected, typing).ok();
      if (!typed) continue;
      AddTypes(*side, typing, out);
      for (ir::RuleOperand o : side->outputs) {
        expected.push_back(typing.nodes[o.node].types[o.output]);
      }
    }
  }
  return out;
}

std::vector<ExprSyntax*> Calls(RuleSyntax& rule) {
  std::vector<ExprSyntax*> out;
  VisitExprs(rule, [&](ExprSyntax& e) {
    if (e.kind == ExprSyntax::Kind::kCall) out.push_back(&e);
  });
  return out;
}

std::vector<AttrGroup> GroupsOf(const RuleSyntax& rule,
                                const CallTypes& types) {
  RuleSyntax copy = rule;
  std::set<std::string> used = NamesOf(copy);
  std::vector<AttrGroup> groups;
  std::map<std::pair<std::string, std::string>, size_t> known;
  auto add = [&](const AttrSpec& spec, const ValueSyntax& value, AttrSite s) {
    const bool axis = spec.role == AttrRole::kAxis;
    const std::string kind =
        axis ? absl::StrCat("axis", value.kind == VKind::kList) : spec.name;
    auto [it, fresh] =
        known.emplace(std::pair(kind, ir::PrintValue(value)), groups.size());
    if (fresh) groups.push_back({Fresh(spec, axis, used), axis, value, {}});
    groups[it->second].sites.push_back(std::move(s));
  };
  const std::vector<ExprSyntax*> calls = Calls(copy);
  for (size_t c = 0; c < calls.size(); ++c) {
    const OpDef* op = Ops().Find(calls[c]->name);
    if (op == nullptr) continue;
    const auto type = types.find(static_cast<int>(c) + 1);
    AttrSite site{static_cast<int>(c), "",
                  type == types.end() ? -1 : type->second.axes, true};
    std::set<const AttrSpec*> given;
    for (const ir::AttrSyntax& a : calls[c]->attrs) {
      const AttrSpec* spec = SpecOf(*op, a.name);
      given.insert(spec);
      if (spec == nullptr || !IsLiteral(a.value)) continue;
      site.attr = a.name;
      add(*spec, a.value, site);
    }
    site.given = false;
    for (const AttrSpec& spec : op->attrs) {
      const auto value = DefaultOf(spec);
      if (!value || given.contains(&spec)) continue;
      site.attr = spec.name;
      add(spec, *value, site);
    }
  }
  return groups;
}

RuleSyntax WithForms(RuleSyntax rule, absl::Span<const AttrGroup> groups,
                     absl::Span<const AttrForm> forms) {
  const std::vector<ExprSyntax*> calls = Calls(rule);
  for (size_t g = 0; g < groups.size(); ++g) {
    if (forms[g] == AttrForm::kAsIs) continue;
    for (const AttrSite& site : groups[g].sites) {
      ExprSyntax& call = *calls[site.call];
      const ValueSyntax now = Formed(groups[g], site, forms[g]);
      if (!site.given) {
        call.attrs.push_back({site.attr, now});
        continue;
      }
      for (ir::AttrSyntax& a : call.attrs) {
        if (a.name == site.attr) {
          a.value = now;
        } else if (groups[g].axis) {
          VisitValues(a.value, [&](ValueSyntax& v) {
            if (v.kind == VKind::kDim && v.args[0] == groups[g].value) {
              v.args[0] = now;
            }
          });
        }
      }
    }
  }
  return rule;
}

RuleSyntax Numbered(RuleSyntax rule) {
  const std::vector<ExprSyntax*> calls = Calls(rule);
  for (size_t c = 0; c < calls.size(); ++c) {
    calls[c]->at = {static_cast<int>(c) + 1, 1};
  }
  return rule;
}

RuleSyntax Renamed(RuleSyntax rule) {
  static constexpr absl::string_view kNames = "xyzwvu";
  std::set<std::string> bound;
  for (const auto* side : {&rule.source, &rule.target}) {
    for (const ir::BinderSyntax& b : side->binders) bound.insert(b.name);
  }
  std::map<std::string, std::string> names;
  auto rename = [&](std::string& name) {
    auto [it, fresh] = names.emplace(name, "");
    if (fresh) {
      const size_t i = names.size() - 1;
      it->second =
          i < kNames.size() ? std::string(1, kNames[i]) : absl::StrCat("x", i);
    }
    name = it->second;
  };
  VisitExprs(rule, [&](ExprSyntax& e) {
    if (e.kind == ExprSyntax::Kind::kVariable && !bound.contains(e.name)) {
      rename(e.name);
    }
  });
  auto in_value = [&](ValueSyntax& v) {
    VisitValues(v, [&](ValueSyntax& p) {
      if ((p.kind == VKind::kDim || p.kind == VKind::kRank) &&
          !bound.contains(p.name)) {
        rename(p.name);
      }
    });
  };
  VisitExprs(rule, [&](ExprSyntax& e) {
    for (ir::AttrSyntax& a : e.attrs) in_value(a.value);
  });
  for (ir::ConditionSyntax& c : rule.where) {
    in_value(c.left);
    in_value(c.right);
    if (c.kind >= ir::ConditionSyntax::Kind::kConst) rename(c.name);
  }
  return rule;
}

}  // namespace isomer::gen

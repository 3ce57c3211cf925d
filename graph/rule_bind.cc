// Two passes over the source: the first notes its tensor variables and the
// attribute variables that stand alone, so that expressions may use names that
// come later; the second builds nodes. Then the target, then the conditions.
#include "graph/rule_bind.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/rule_bound.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

using VKind = ValueSyntax::Kind;

const AttrSpec* FindSpec(const OpDef& op, absl::string_view name) {
  for (const AttrSpec& s : op.attrs) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

// An attribute of a call as it is written, found in the schema.
struct GivenAttr {
  const AttrSpec* spec;
  ValueSyntax value;
  bool complement = false;
};

// Where a value stands: what a name in it may mean.
struct Place {
  const AttrSpec* spec = nullptr;
  bool in_list = false;  // an item of a list, not a list
  // What `end` reads: the operand and the axes, one by one; and which item.
  RuleOperand operand = {};
  const std::vector<ValueSyntax>* axes = nullptr;
  size_t item = 0;
};

class Binder {
 public:
  explicit Binder(const Registry& registry) : registry_(registry) {}

  absl::StatusOr<BoundRule> Run(const RuleSyntax& rule);

 private:
  // ---- Names
  int FindAttr(absl::string_view name) const {
    for (size_t i = 0; i < out_.attrs.size(); ++i) {
      if (out_.attrs[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  int FindTensor(absl::string_view name) const {
    auto it = absl::c_find(out_.tensors, name);
    return it == out_.tensors.end() ? -1 : it - out_.tensors.begin();
  }
  int Declare(absl::string_view name, AttrKind kind, const AttrSpec* spec,
              Position at) {
    out_.attrs.push_back(
        {.name = std::string(name), .kind = kind, .spec = spec, .at = at});
    return static_cast<int>(out_.attrs.size()) - 1;
  }
  absl::StatusOr<RuleOperand> Tensor(absl::string_view name, Position at);
  static AttrKind VariableKind(const Place& p) {
    if (p.spec == nullptr) return AttrKind::kInt;
    if (p.in_list && p.spec->kind == AttrKind::kInts) return AttrKind::kInt;
    if (p.in_list && p.spec->kind == AttrKind::kFloats) return AttrKind::kFloat;
    return p.spec->kind;
  }

  // ---- The first pass over the source
  absl::Status Collect(const SideSyntax& side);
  absl::Status Collect(const ExprSyntax& e, const std::set<std::string>& lets);
  void CollectNames(const ValueSyntax& v, Place place);

  // ---- Nodes
  absl::Status BindSide(const SideSyntax& syntax, RuleSide& side);
  absl::Status BindChoose(const BinderSyntax& b);
  absl::StatusOr<RuleOperand> Expr(const ExprSyntax& e);
  absl::StatusOr<RuleOperand> Call(const ExprSyntax& e);
  absl::Status BindAttrs(const ExprSyntax& e, RuleNode& node);
  absl::StatusOr<std::vector<GivenAttr>> Given(const ExprSyntax& e,
                                               const OpDef& op) const;
  absl::StatusOr<GivenAttr> Resolve(const AttrSyntax& a, const ExprSyntax& e,
                                    const OpDef& op) const;
  absl::Status LeftOut(RuleNode& node);
  RuleOperand Add(RuleNode node);
  absl::Status CheckOutputs(const RuleSyntax& rule) const;

  // ---- Values
  absl::StatusOr<ValueExpr> Value(const ValueSyntax& v, const Place& place);
  absl::StatusOr<ValueExpr> Name(const ValueSyntax& v, const Place& place);
  absl::StatusOr<ValueExpr> End(const ValueSyntax& v, const Place& place);
  absl::StatusOr<RuleCondition> Condition(const ConditionSyntax& c);

  const Registry& registry_;
  BoundRule out_;
  RuleSide* side_ = nullptr;
  bool declares_ = false;  // whether new attribute variables may come up
  std::map<std::string, RuleOperand> lets_;
};

bool IsWord(const ValueSyntax& v, const AttrSpec& spec) {
  if (spec.kind == AttrKind::kDType) return ParseDType(v.name).ok();
  if (spec.kind != AttrKind::kString) return false;
  return absl::c_linear_search(spec.choices, v.name);
}

// ---- Names

absl::StatusOr<RuleOperand> Binder::Tensor(absl::string_view name,
                                           Position at) {
  if (auto it = lets_.find(std::string(name)); it != lets_.end()) {
    return it->second;
  }
  const int variable = FindTensor(name);
  if (variable < 0) {
    if (FindAttr(name) >= 0) {
      return ErrorAt(
          at, absl::StrCat("'", name, "' is an attribute, not a tensor"));
    }
    return ErrorAt(at,
                   absl::StrCat("variable '", name,
                                "' is not bound: the source does not have it"));
  }
  for (size_t i = 0; i < side_->nodes.size(); ++i) {
    const RuleNode& n = side_->nodes[i];
    if (n.kind == RuleNode::Kind::kVariable && n.variable == variable) {
      return RuleOperand{static_cast<int>(i), 0};
    }
  }
  side_->nodes.push_back(
      {.kind = RuleNode::Kind::kVariable, .variable = variable, .at = at});
  return RuleOperand{static_cast<int>(side_->nodes.size()) - 1, 0};
}

absl::Status Binder::Collect(const SideSyntax& side) {
  std::set<std::string> lets;
  for (const BinderSyntax& b : side.binders) {
    if (b.choose) {
      return ErrorAt(b.at, "a source cannot choose: only the target may");
    }
    RETURN_IF_ERROR(Collect(b.value, lets));
    lets.insert(b.name);
  }
  for (const ExprSyntax& e : side.outputs) RETURN_IF_ERROR(Collect(e, lets));
  return absl::OkStatus();
}

absl::Status Binder::Collect(const ExprSyntax& e,
                             const std::set<std::string>& lets) {
  if (e.kind == ExprSyntax::Kind::kVariable) {
    if (!lets.contains(e.name) && FindTensor(e.name) < 0) {
      out_.tensors.push_back(e.name);
    }
  } else if (e.kind == ExprSyntax::Kind::kCall) {
    for (const ExprSyntax& a : e.args) RETURN_IF_ERROR(Collect(a, lets));
    const OpDef* op = registry_.Find(e.name);
    if (op == nullptr) {
      return ErrorAt(e.at, absl::StrCat("there is no operator '", e.name, "'"));
    }
    ASSIGN_OR_RETURN(std::vector<GivenAttr> given, Given(e, *op));
    for (const GivenAttr& a : given) CollectNames(a.value, {.spec = a.spec});
  }
  return absl::OkStatus();
}

void Binder::CollectNames(const ValueSyntax& v, Place place) {
  if (v.kind == VKind::kList) {
    place.in_list = true;
    for (const ValueSyntax& item : v.args) CollectNames(item, place);
  }
  if (v.kind != VKind::kName || IsWord(v, *place.spec)) return;
  if (FindAttr(v.name) < 0) {
    Declare(v.name, VariableKind(place), place.spec, v.at);
  }
}

// ---- Values

absl::StatusOr<ValueExpr> Binder::Name(const ValueSyntax& v,
                                       const Place& place) {
  ValueExpr out{.kind = VKind::kName, .at = v.at};
  if (place.spec != nullptr && IsWord(v, *place.spec)) {
    out.word = v.name;
    return out;
  }
  out.variable = FindAttr(v.name);
  if (out.variable >= 0) return out;
  if (FindTensor(v.name) >= 0 || lets_.contains(v.name)) {
    return ErrorAt(
        v.at, absl::StrCat("'", v.name, "' is a tensor, not an attribute"));
  }
  // A device axis that only the target speaks of is the one of that name.
  const bool free_word = place.spec != nullptr &&
                         place.spec->kind == AttrKind::kString &&
                         place.spec->choices.empty();
  if (!declares_ && free_word) {
    out.word = v.name;
    return out;
  }
  if (!declares_) {
    std::string hint;
    if (place.spec != nullptr && !place.spec->choices.empty()) {
      hint = absl::StrCat("; the words of '", place.spec->name, "' are ",
                          absl::StrJoin(place.spec->choices, ", "));
    }
    return ErrorAt(
        v.at, absl::StrCat("variable '", v.name, "' is not bound: the source ",
                           "does not have it, and no choose brings it", hint));
  }
  out.variable = Declare(v.name, VariableKind(place), place.spec, v.at);
  return out;
}

absl::StatusOr<ValueExpr> Binder::End(const ValueSyntax& v,
                                      const Place& place) {
  if (place.axes == nullptr || place.item >= place.axes->size() ||
      place.operand.node < 0) {
    return ErrorAt(v.at,
                   "'end' stands for the size of a sliced dimension: the call "
                   "must list its axes one by one");
  }
  ValueExpr out{.kind = VKind::kDim, .tensor = place.operand, .at = v.at};
  static const AttrSpec kAxis = AxisAttr("axis");
  ASSIGN_OR_RETURN(ValueExpr axis,
                   Value((*place.axes)[place.item], {.spec = &kAxis}));
  out.args.push_back(std::move(axis));
  return out;
}

absl::StatusOr<ValueExpr> Binder::Value(const ValueSyntax& v,
                                        const Place& place) {
  if (v.kind == VKind::kName) return Name(v, place);
  if (v.kind == VKind::kEnd) return End(v, place);
  ValueExpr out{
      .kind = v.kind, .integer = v.integer, .real = v.real, .at = v.at};
  if (v.kind == VKind::kDim || v.kind == VKind::kRank) {
    ASSIGN_OR_RETURN(out.tensor, Tensor(v.name, v.at));
  }
  Place inside = place;
  const bool index = v.kind == VKind::kDim || v.kind == VKind::kRange;
  if (index) inside = {};
  for (size_t i = 0; i < v.args.size(); ++i) {
    if (v.kind == VKind::kList) {
      inside.in_list = true;
      inside.item = i;
    }
    ASSIGN_OR_RETURN(ValueExpr arg, Value(v.args[i], inside));
    out.args.push_back(std::move(arg));
  }
  return out;
}

absl::StatusOr<RuleCondition> Binder::Condition(const ConditionSyntax& c) {
  RuleCondition out{.kind = c.kind, .at = c.at};
  if (c.kind >= ConditionSyntax::Kind::kConst) {
    ASSIGN_OR_RETURN(out.tensor, Tensor(c.name, c.at));
    return out;
  }
  // A word is compared with the variable on the other side.
  Place left, right;
  for (auto [place, other] : {std::pair(&left, &c.right), {&right, &c.left}}) {
    const int v = other->kind == VKind::kName ? FindAttr(other->name) : -1;
    if (v >= 0) place->spec = out_.attrs[v].spec;
  }
  ASSIGN_OR_RETURN(out.left, Value(c.left, left));
  ASSIGN_OR_RETURN(out.right, Value(c.right, right));
  return out;
}

// ---- Attributes of a call

absl::StatusOr<GivenAttr> Binder::Resolve(const AttrSyntax& a,
                                          const ExprSyntax& e,
                                          const OpDef& op) const {
  const AttrSpec* axes = FindSpec(op, "axes");
  if (const AttrSpec* spec = FindSpec(op, a.name)) {
    return GivenAttr{spec, a.value};
  }
  if (a.name == "axis" && axes != nullptr) {
    return GivenAttr{axes, a.value};
  }
  const AttrSpec* dims = FindSpec(op, "dims");
  if (a.name == "axes" && dims != nullptr && ShapeAttr(op) >= 0) {
    return GivenAttr{dims, a.value, /*complement=*/true};
  }
  return ErrorAt(
      a.value.at,
      absl::StrCat(e.name, ": no attribute '", a.name, "'; it has ",
                   op.attrs.empty()
                       ? "none"
                       : absl::StrJoin(op.attrs, ", ",
                                       [](std::string* out, const auto& s) {
                                         absl::StrAppend(out, s.name);
                                       })));
}

absl::StatusOr<std::vector<GivenAttr>> Binder::Given(const ExprSyntax& e,
                                                     const OpDef& op) const {
  std::vector<GivenAttr> given;
  bool one_axis = false;
  for (const AttrSyntax& a : e.attrs) {
    if (a.name.empty()) continue;
    ASSIGN_OR_RETURN(GivenAttr g, Resolve(a, e, op));
    one_axis = one_axis || (a.name == "axis" && g.spec->name == "axes");
    given.push_back(std::move(g));
  }
  auto has = [&](const AttrSpec& s) {
    return absl::c_any_of(given,
                          [&](const GivenAttr& g) { return g.spec == &s; });
  };
  for (const AttrSyntax& a : e.attrs) {
    if (!a.name.empty()) continue;
    auto next =
        absl::c_find_if(op.attrs, [&](const auto& s) { return !has(s); });
    if (next == op.attrs.end()) {
      return ErrorAt(a.value.at,
                     absl::StrCat(e.name, ": more lists than attributes"));
    }
    given.push_back({&*next, a.value});
  }
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (given[i].spec == given[j].spec) {
        return ErrorAt(given[i].value.at,
                       absl::StrCat(e.name, ": attribute '",
                                    given[i].spec->name, "' is given twice"));
      }
    }
    ValueSyntax& v = given[i].value;
    if (one_axis && given[i].spec->kind == AttrKind::kInts &&
        v.kind != VKind::kList) {
      ValueSyntax list{.kind = VKind::kList, .at = v.at};
      list.args.push_back(std::move(v));
      v = std::move(list);
    }
  }
  return given;
}

absl::Status Binder::LeftOut(RuleNode& node) {
  const int shape = ShapeAttr(*node.op), dtype = DTypeAttrOf(*node.op);
  for (size_t i = 0; i < node.op->attrs.size(); ++i) {
    const AttrSpec& s = node.op->attrs[i];
    const int spec = static_cast<int>(i);
    if (absl::c_any_of(node.attrs,
                       [&](const RuleAttr& a) { return a.spec == spec; })) {
      continue;
    }
    if (spec == shape || spec == dtype) {
      if (!declares_) {
        node.needs_context = true;
        continue;
      }
      const int variable =
          Declare(absl::StrCat("$", out_.attrs.size()), s.kind, &s, node.at);
      node.attrs.push_back(
          {spec, {.kind = VKind::kName, .variable = variable, .at = node.at}});
    } else if (s.required) {
      return ErrorAt(node.at, absl::StrCat(node.op->name, ": attribute '",
                                           s.name, "' is missing"));
    }
  }
  return absl::OkStatus();
}

absl::Status Binder::BindAttrs(const ExprSyntax& e, RuleNode& node) {
  ASSIGN_OR_RETURN(std::vector<GivenAttr> given, Given(e, *node.op));
  std::vector<ValueSyntax> axes;
  for (const GivenAttr& g : given) {
    if (g.spec->name == "axes" && g.value.kind == VKind::kList) {
      axes = g.value.args;
    }
  }
  for (const GivenAttr& g : given) {
    Place place{.spec = g.spec, .axes = &axes};
    if (!node.inputs.empty()) place.operand = node.inputs[0];
    ASSIGN_OR_RETURN(ValueExpr value, Value(g.value, place));
    node.attrs.push_back({static_cast<int>(g.spec - node.op->attrs.data()),
                          std::move(value), g.complement});
  }
  RETURN_IF_ERROR(LeftOut(node));
  // Complements read the shape, so they come last.
  std::stable_sort(node.attrs.begin(), node.attrs.end(),
                   [](const RuleAttr& a, const RuleAttr& b) {
                     return std::pair(a.complement, a.spec) <
                            std::pair(b.complement, b.spec);
                   });
  return absl::OkStatus();
}

// ---- Nodes

// Equal nodes are one node, unless their surroundings may make them differ.
RuleOperand Binder::Add(RuleNode node) {
  auto same_attrs = [](const RuleAttr& a, const RuleAttr& b) {
    return a.spec == b.spec && a.complement == b.complement &&
           a.value == b.value;
  };
  for (size_t i = 0; i < side_->nodes.size() && !node.needs_context; ++i) {
    const RuleNode& n = side_->nodes[i];
    if (n.kind == node.kind && n.op == node.op && n.inputs == node.inputs &&
        !n.needs_context &&
        std::equal(n.attrs.begin(), n.attrs.end(), node.attrs.begin(),
                   node.attrs.end(), same_attrs)) {
      return {static_cast<int>(i), 0};
    }
  }
  side_->nodes.push_back(std::move(node));
  return {static_cast<int>(side_->nodes.size()) - 1, 0};
}

absl::StatusOr<RuleOperand> Binder::Call(const ExprSyntax& e) {
  RuleNode node{.kind = RuleNode::Kind::kCall, .at = e.at};
  node.op = registry_.Find(e.name);
  if (node.op == nullptr) {
    return ErrorAt(e.at, absl::StrCat("there is no operator '", e.name, "'"));
  }
  const Arity& arity = node.op->inputs;
  const size_t named = arity.names.size(), n = e.args.size();
  if (arity.variadic ? n < named : n != named) {
    return ErrorAt(e.at, absl::StrCat(e.name, ": takes ", named,
                                      arity.variadic ? " or more" : "",
                                      " inputs, given ", n));
  }
  bool open = false, closed = false;
  for (const ExprSyntax& a : e.args) {
    ASSIGN_OR_RETURN(RuleOperand o, Expr(a));
    (side_->nodes[o.node].needs_context ? open : closed) = true;
    node.inputs.push_back(o);
  }
  node.needs_context = open && !closed;
  RETURN_IF_ERROR(BindAttrs(e, node));
  RuleOperand out = Add(std::move(node));
  out.output = e.output;
  if (e.output >= side_->nodes[out.node].op->outputs) {
    return ErrorAt(e.at, absl::StrCat(e.name, ": has no output ", e.output));
  }
  return out;
}

absl::StatusOr<RuleOperand> Binder::Expr(const ExprSyntax& e) {
  if (e.kind == ExprSyntax::Kind::kCall) return Call(e);
  if (e.kind == ExprSyntax::Kind::kVariable) {
    ASSIGN_OR_RETURN(RuleOperand o, Tensor(e.name, e.at));
    if (e.output == 0) return o;
    const RuleNode& n = side_->nodes[o.node];
    if (n.op == nullptr || e.output >= n.op->outputs) {
      return ErrorAt(e.at,
                     absl::StrCat("'", e.name, "' has no output ", e.output));
    }
    return RuleOperand{o.node, e.output};
  }
  RuleNode node{
      .kind = RuleNode::Kind::kLiteral, .needs_context = true, .at = e.at};
  if (e.kind == ExprSyntax::Kind::kNumber) {
    node.literal = {.kind = VKind::kFloat, .real = e.number, .at = e.at};
  } else {
    static const AttrSpec kReal = FloatAttr("real");
    ASSIGN_OR_RETURN(node.literal, Value(e.value, {.spec = &kReal}));
  }
  return Add(std::move(node));
}

absl::Status Binder::BindChoose(const BinderSyntax& b) {
  if (FindAttr(b.name) >= 0 || FindTensor(b.name) >= 0) {
    return ErrorAt(b.at, absl::StrCat("'", b.name,
                                      "' is bound already: choose must "
                                      "bring a new variable"));
  }
  ASSIGN_OR_RETURN(ValueExpr low, Value(b.low, {}));
  ASSIGN_OR_RETURN(ValueExpr high, Value(b.high, {}));
  const int v = Declare(b.name, AttrKind::kInt, nullptr, b.at);
  out_.attrs[v].low = std::move(low);
  out_.attrs[v].high = std::move(high);
  return absl::OkStatus();
}

absl::Status Binder::BindSide(const SideSyntax& syntax, RuleSide& side) {
  side_ = &side;
  lets_.clear();
  for (const BinderSyntax& b : syntax.binders) {
    if (b.choose) {
      RETURN_IF_ERROR(BindChoose(b));
      continue;
    }
    if (FindTensor(b.name) >= 0 || FindAttr(b.name) >= 0 ||
        lets_.contains(b.name)) {
      return ErrorAt(b.at, absl::StrCat("'", b.name, "' is bound already"));
    }
    ASSIGN_OR_RETURN(lets_[b.name], Expr(b.value));
  }
  for (const ExprSyntax& e : syntax.outputs) {
    ASSIGN_OR_RETURN(RuleOperand o, Expr(e));
    side.outputs.push_back(o);
  }
  return absl::OkStatus();
}

absl::Status Binder::CheckOutputs(const RuleSyntax& rule) const {
  if (rule.source.outputs.size() != rule.target.outputs.size()) {
    return ErrorAt(
        rule.target.outputs[0].at,
        absl::StrCat("the source has ", rule.source.outputs.size(),
                     " outputs, the target ", rule.target.outputs.size()));
  }
  for (size_t i = 0; i < out_.source.outputs.size(); ++i) {
    const RuleOperand o = out_.source.outputs[i];
    const Position at = rule.source.outputs[i].at;
    if (out_.source.nodes[o.node].kind != RuleNode::Kind::kCall) {
      return ErrorAt(at,
                     "a source must be an operator: a bare variable or "
                     "number matches everything");
    }
    for (size_t j = 0; j < i; ++j) {
      if (out_.source.outputs[j] == o) {
        return ErrorAt(at, "the source has this output twice");
      }
    }
  }
  return absl::OkStatus();
}

// ---- The whole rule

absl::StatusOr<BoundRule> Binder::Run(const RuleSyntax& rule) {
  RETURN_IF_ERROR(Collect(rule.source));
  for (const std::string& name : out_.tensors) {
    if (const int v = FindAttr(name); v >= 0) {
      return ErrorAt(out_.attrs[v].at, absl::StrCat("'", name,
                                                    "' is both a tensor and an "
                                                    "attribute"));
    }
  }
  declares_ = true;
  RETURN_IF_ERROR(BindSide(rule.source, out_.source));
  declares_ = false;
  const std::map<std::string, RuleOperand> source_lets = lets_;
  RETURN_IF_ERROR(CheckSolvable(out_));
  RETURN_IF_ERROR(BindSide(rule.target, out_.target));
  RETURN_IF_ERROR(CheckOutputs(rule));
  side_ = &out_.source;
  lets_ = source_lets;
  for (const ConditionSyntax& c : rule.where) {
    ASSIGN_OR_RETURN(RuleCondition bound, Condition(c));
    out_.where.push_back(std::move(bound));
  }
  MarkAxes(out_);
  return std::move(out_);
}

}  // namespace

absl::StatusOr<BoundRule> Bind(const RuleSyntax& syntax,
                               const Registry& registry) {
  return Binder(registry).Run(syntax);
}

}  // namespace isomer::ir

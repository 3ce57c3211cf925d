#include "verify/nf_build.h"

#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/rule_bind.h"
#include "ops/status.h"

namespace isomer::verify {

namespace {

using ir::RuleNode;
using ir::RuleOperand;
using ir::RuleSide;
using ir::ValueExpr;

constexpr int kMaxDepth = 64;  // of expansions inside one another

// What a tensor variable is at an index.
using Resolve = std::function<absl::StatusOr<Sum>(
    int variable, const std::vector<DimExpr>& index)>;

Sum FunctionSum(const std::string& name, std::vector<Sum> args) {
  return LeafSum({Leaf::Kind::kFunction, name, {}, std::move(args)});
}

Sum MaxSum(std::vector<Item> items) {
  return LeafSum({Leaf::Kind::kMax, "max", {}, {}, std::move(items)});
}

Item PlainItem(Sum s) {
  return {{}, {}, std::make_shared<const Sum>(std::move(s))};
}

Sum Negated(Sum s) { return Scale(std::move(s), Polynomial(-1)); }

// A number as a sum: exactly, if it is simple, else as an opaque constant.
// Signs that depend on a floating-point variable are not known.
absl::StatusOr<Sum> ConstantSum(double v, const CaseView& view) {
  if (!std::isfinite(v)) {
    return Unsupported("the rule holds the number ", v);
  }
  const auto variable = view.float_names.find(std::abs(v));
  const Polynomial sign = v < 0 ? -1 : 1;
  if (variable == view.float_names.end()) {
    const Rational r = Rational::FromDouble(v);
    if (r.ok() && std::abs(r.num()) < (1 << 24) && r.den() <= (1 << 16)) {
      return NumberSum(Polynomial(r));
    }
    const std::string text = absl::StrCat(view.float_names.empty() ? "+" : "~",
                                          DoubleText(std::abs(v)));
    return Scale(LeafSum({Leaf::Kind::kConstant, text}), sign);
  }
  return Scale(LeafSum({Leaf::Kind::kConstant, variable->second}), sign);
}

// Does not outlive what it is given.
class SideBuilder {
 public:
  SideBuilder(const CaseView& view, const RuleSide& side,
              const std::vector<ir::TypedNode<DimExpr>>& typed,
              const std::vector<std::optional<SymAttr>>& attrs, Resolve resolve,
              Names& names, int depth)
      : view_(view),
        side_(side),
        typed_(typed),
        attrs_(attrs),
        resolve_(std::move(resolve)),
        names_(names),
        depth_(depth) {}

  absl::StatusOr<Sum> Element(RuleOperand o,
                              const std::vector<DimExpr>& index) {
    const RuleNode& n = side_.nodes[o.node];
    switch (n.kind) {
      case RuleNode::Kind::kVariable:
        return resolve_(n.variable, index);
      case RuleNode::Kind::kLiteral:
        return Literal(n.literal);
      case RuleNode::Kind::kCall:
        break;
    }
    const ir::TypedNode<DimExpr>& typed = typed_[o.node];
    if (!n.op->element && !n.op->expansion.empty()) {
      return Expanded(n, typed, o.output, index);
    }
    if (o.output != 0) {
      return Unsupported(n.op->name, ": has several outputs");
    }
    std::vector<SymType> inputs;
    for (RuleOperand in : n.inputs) {
      inputs.push_back(typed_[in.node].types[in.output]);
    }
    // Other operators do on each device what they do on one.
    const size_t devices = n.op->parallel ? 0 : typed.types[0].device.size();
    const auto shape = index.begin() + devices;
    const Inferred<DimExpr> inferred{typed.types, typed.attrs, {}};
    ASSIGN_OR_RETURN(Elem e,
                     IndexOp(*n.op, inputs, inferred, {shape, index.end()}));
    return Convert(e, Site{n, {index.begin(), shape}}, {});
  }

 private:
  const SymType& TypeOf(RuleOperand o) const {
    return typed_[o.node].types[o.output];
  }

  // ---- Literals

  absl::StatusOr<Sum> Literal(const ValueExpr& v) {
    using Kind = ValueExpr::Kind;
    switch (v.kind) {
      case Kind::kAdd:
      case Kind::kSub:
      case Kind::kMul:
      case Kind::kDiv: {
        ASSIGN_OR_RETURN(Sum a, Literal(v.args[0]));
        ASSIGN_OR_RETURN(Sum b, Literal(v.args[1]));
        if (v.kind == Kind::kAdd) return Add(std::move(a), b);
        if (v.kind == Kind::kSub) return Add(std::move(a), Negated(b));
        if (v.kind == Kind::kMul) return Multiply(a, b, names_);
        return Quotient(a, b);
      }
      case Kind::kNegate: {
        ASSIGN_OR_RETURN(Sum a, Literal(v.args[0]));
        return Negated(std::move(a));
      }
      default:
        break;
    }
    auto type = [&](RuleOperand o) -> const SymType* {
      const auto& t = typed_[o.node].types;
      return t.empty() ? nullptr : &t[o.output];
    };
    ASSIGN_OR_RETURN(SymAttr value,
                     ir::EvalValue<DimExpr>(v, {attrs_, type, nullptr}));
    if (auto* f = std::get_if<double>(&value)) return ConstantSum(*f, view_);
    if (auto* d = std::get_if<DimExpr>(&value)) {
      return NumberSum(d->polynomial());
    }
    return Unsupported("a literal is no number");
  }

  Sum Quotient(const Sum& a, const Sum& b) {
    return Multiply(a, LeafSum({Leaf::Kind::kInverse, "inv", {}, {b}}), names_);
  }

  // ---- Composites

  absl::StatusOr<Sum> Expanded(const RuleNode& n,
                               const ir::TypedNode<DimExpr>& typed, int output,
                               const std::vector<DimExpr>& index) {
    if (depth_ >= kMaxDepth) {
      return Unsupported(n.op->name, ": its expansion does not end");
    }
    ASSIGN_OR_RETURN(ir::RuleSyntax syntax, ir::ParseRuleBody(n.op->expansion));
    ASSIGN_OR_RETURN(ir::BoundRule rule, ir::Bind(syntax, Ops()));
    const RuleNode& call = rule.source.nodes[rule.source.outputs[0].node];
    std::vector<const SymType*> types(rule.tensors.size(), nullptr);
    std::vector<RuleOperand> operands(rule.tensors.size());
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const RuleNode& in = rule.source.nodes[call.inputs[i].node];
      if (in.kind != RuleNode::Kind::kVariable) {
        return Unsupported(n.op->name, ": expands only for special operands");
      }
      types[in.variable] = &TypeOf(n.inputs[i]);
      operands[in.variable] = n.inputs[i];
    }
    std::vector<std::optional<SymAttr>> attrs(rule.attrs.size());
    for (const ir::RuleAttr& a : call.attrs) {
      if (a.value.variable < 0) {
        return Unsupported(n.op->name, ": expands only for special attributes");
      }
      attrs[a.value.variable] = *typed.attrs.Find(call.op->attrs[a.spec].name);
    }
    ir::SideTyping<DimExpr> inner;
    RETURN_IF_ERROR(
        ir::TypeSide<DimExpr>(rule.target, types, attrs, typed.types, inner));
    auto resolve = [&](int variable, const std::vector<DimExpr>& at) {
      return Element(operands[variable], at);
    };
    SideBuilder builder(view_, rule.target, inner.nodes, attrs, resolve, names_,
                        depth_ + 1);
    return builder.Element(rule.target.outputs[output], index);
  }

  // ---- Index semantics

  // An operator that is looked at on one device.
  struct Site {
    const RuleNode& node;
    std::vector<DimExpr> device;

    std::vector<DimExpr> At(const std::vector<DimExpr>& index) const {
      std::vector<DimExpr> out = device;
      out.insert(out.end(), index.begin(), index.end());
      return out;
    }
  };

  // Bound variables of an element by their own names, here by fresh ones.
  using Scope = Substitution;

  // An index, with the elements of integer tensors that it reads.
  absl::StatusOr<DimExpr> Index(const DimExpr& e, const Site& n,
                                const Scope& scope) {
    absl::Status failed;
    const Polynomial p = IndexPoly(e.polynomial(), n, scope, failed);
    RETURN_IF_ERROR(failed);
    return DimExpr(p);
  }

  Polynomial IndexPoly(const Polynomial& p, const Site& n, const Scope& scope,
                       absl::Status& failed) {
    return p.Transform([&](const Atom& atom) -> std::optional<Polynomial> {
      if (atom.is_symbol()) {
        auto it = scope.find(atom.name());
        if (it == scope.end()) return std::nullopt;
        return it->second.polynomial();
      }
      if (auto element = DimExpr::AsElement(atom)) {
        auto value = IntegerElement(*element, n, scope);
        if (value.ok()) return *value;
        failed = value.status();
        return std::nullopt;
      }
      std::vector<Polynomial> args;
      for (const Polynomial& arg : atom.args()) {
        args.push_back(IndexPoly(arg, n, scope, failed));
      }
      return Reapply(atom, std::move(args));
    });
  }

  absl::StatusOr<Polynomial> IntegerElement(const DimExpr::ElementRef& ref,
                                            const Site& n, const Scope& scope) {
    ASSIGN_OR_RETURN(std::vector<DimExpr> at, Indices(ref.indices, n, scope));
    ASSIGN_OR_RETURN(Sum s, Element(n.node.inputs[ref.input], n.At(at)));
    if (auto number = NumberOf(s)) return *number;
    if (s.size() == 1 && s[0].bound.empty() && s[0].guards.empty() &&
        s[0].factors.size() == 1 && s[0].factors[0].power == 1 &&
        s[0].coefficient == Polynomial(1) &&
        s[0].factors[0].leaf->kind == Leaf::Kind::kInput) {
      std::vector<Polynomial> args;
      for (const DimExpr& e : s[0].factors[0].leaf->index) {
        args.push_back(e.polynomial());
      }
      return Polynomial::Apply(absl::StrCat("at:", s[0].factors[0].leaf->name),
                               std::move(args));
    }
    return Unsupported(n.node.op->name, ": reads computed indices");
  }

  absl::StatusOr<std::vector<DimExpr>> Indices(const std::vector<DimExpr>& list,
                                               const Site& n,
                                               const Scope& scope) {
    std::vector<DimExpr> out;
    for (const DimExpr& e : list) {
      ASSIGN_OR_RETURN(DimExpr i, Index(e, n, scope));
      out.push_back(std::move(i));
    }
    return out;
  }

  absl::StatusOr<Sum> Convert(const Elem& e, const Site& n,
                              const Scope& scope) {
    switch (e.kind()) {
      case Elem::Kind::kConst:
        return ConstantSum(e.value(), view_);
      case Elem::Kind::kIndex: {
        ASSIGN_OR_RETURN(DimExpr i, Index(e.expr(), n, scope));
        return NumberSum(i.polynomial());
      }
      case Elem::Kind::kInput: {
        ASSIGN_OR_RETURN(std::vector<DimExpr> at,
                         Indices(e.indices(), n, scope));
        return Element(n.node.inputs[e.input()], n.At(at));
      }
      case Elem::Kind::kAdd: {
        ASSIGN_OR_RETURN(Sum a, Convert(e.args()[0], n, scope));
        ASSIGN_OR_RETURN(Sum b, Convert(e.args()[1], n, scope));
        return Add(std::move(a), b);
      }
      case Elem::Kind::kMul: {
        ASSIGN_OR_RETURN(Sum a, Convert(e.args()[0], n, scope));
        ASSIGN_OR_RETURN(Sum b, Convert(e.args()[1], n, scope));
        return Multiply(a, b, names_);
      }
      case Elem::Kind::kDiv: {
        ASSIGN_OR_RETURN(Sum a, Convert(e.args()[0], n, scope));
        ASSIGN_OR_RETURN(Sum b, Convert(e.args()[1], n, scope));
        return Quotient(a, b);
      }
      case Elem::Kind::kFn:
        return Function(e, n, scope);
      case Elem::Kind::kReduce:
        return Reduce(e, n, scope);
      case Elem::Kind::kIf:
        return If(e.cond(), e.args()[0], e.args()[1], n, scope);
    }
    return Unsupported(n.node.op->name, ": an element of an unknown kind");
  }

  absl::StatusOr<Sum> Function(const Elem& e, const Site& n,
                               const Scope& scope) {
    std::vector<Sum> args;
    for (const Elem& a : e.args()) {
      ASSIGN_OR_RETURN(Sum s, Convert(a, n, scope));
      args.push_back(std::move(s));
    }
    if (e.name() == "max") {
      return MaxSum({PlainItem(args[0]), PlainItem(args[1])});
    }
    if (e.name() == "min") {
      return Negated(
          MaxSum({PlainItem(Negated(args[0])), PlainItem(Negated(args[1]))}));
    }
    return FunctionSum(e.name(), std::move(args));
  }

  absl::StatusOr<Sum> Reduce(const Elem& e, const Site& n, const Scope& scope) {
    ASSIGN_OR_RETURN(DimExpr extent, Index(e.expr(), n, scope));
    const Bound bound{names_.Fresh(), 0, extent};
    Scope inner = scope;
    inner[e.name()] = DimExpr::Symbol(bound.var);
    ASSIGN_OR_RETURN(Sum body, Convert(e.args()[0], n, inner));
    switch (e.fold()) {
      case Elem::Fold::kSum:
        for (Term& t : body) t.bound.push_back(bound);
        return body;
      case Elem::Fold::kProd: {
        Item item{{bound}, {}, std::make_shared<const Sum>(std::move(body))};
        return LeafSum({Leaf::Kind::kProduct, "prod", {}, {}, {item}});
      }
      case Elem::Fold::kMax:
        return MaxSum(
            {{{bound}, {}, std::make_shared<const Sum>(std::move(body))}});
      case Elem::Fold::kMin:
        return Negated(MaxSum(
            {{{bound}, {}, std::make_shared<const Sum>(Negated(body))}}));
    }
    return Unsupported(n.node.op->name, ": an unknown fold");
  }

  // cond ? then : otherwise, as a sum of both, each where it counts.
  absl::StatusOr<Sum> If(const ElemCond& cond, const Elem& then,
                         const Elem& otherwise, const Site& n,
                         const Scope& scope) {
    ASSIGN_OR_RETURN(Sum a, Convert(then, n, scope));
    ASSIGN_OR_RETURN(Sum b, Convert(otherwise, n, scope));
    return Choose(cond, a, b, n, scope);
  }

  absl::StatusOr<Sum> Choose(const ElemCond& cond, const Sum& a, const Sum& b,
                             const Site& n, const Scope& scope) {
    constexpr auto kGe = Obligation::kNonNegative;
    switch (cond.kind()) {
      case ElemCond::Kind::kGe0: {
        ASSIGN_OR_RETURN(DimExpr e, Index(cond.expr(), n, scope));
        return Add(Guarded(a, {kGe, e}), Guarded(b, {kGe, -e - 1}));
      }
      case ElemCond::Kind::kEq0: {
        ASSIGN_OR_RETURN(DimExpr e, Index(cond.expr(), n, scope));
        Sum out = Guarded(a, {Obligation::kZero, e});
        out = Add(std::move(out), Guarded(b, {kGe, e - 1}));
        return Add(std::move(out), Guarded(b, {kGe, -e - 1}));
      }
      case ElemCond::Kind::kAnd: {
        ASSIGN_OR_RETURN(Sum inner, Choose(cond.parts()[1], a, b, n, scope));
        return Choose(cond.parts()[0], inner, b, n, scope);
      }
      case ElemCond::Kind::kOr: {
        ASSIGN_OR_RETURN(Sum inner, Choose(cond.parts()[1], a, b, n, scope));
        return Choose(cond.parts()[0], a, inner, n, scope);
      }
      case ElemCond::Kind::kNot:
        return Choose(cond.parts()[0], b, a, n, scope);
      case ElemCond::Kind::kTruth: {
        ASSIGN_OR_RETURN(std::vector<DimExpr> at,
                         Indices(cond.indices(), n, scope));
        ASSIGN_OR_RETURN(Sum s, Element(n.node.inputs[cond.input()], n.At(at)));
        if (TypeOf(n.node.inputs[cond.input()]).dtype != DType::kBool) {
          return Unsupported(n.node.op->name, ": a condition that is no bool");
        }
        return Blend(s, a, b);
      }
      case ElemCond::Kind::kLess:
      case ElemCond::Kind::kEqual: {
        ASSIGN_OR_RETURN(Sum x, Convert(cond.operands()[0], n, scope));
        ASSIGN_OR_RETURN(Sum y, Convert(cond.operands()[1], n, scope));
        Sum difference = Add(std::move(y), Negated(x));
        const bool less = cond.kind() == ElemCond::Kind::kLess;
        return Blend(
            FunctionSum(less ? "less" : "equal", {std::move(difference)}), a,
            b);
      }
    }
    return Unsupported(n.node.op->name, ": an unknown condition");
  }

  // s*a + (1 - s)*b for a truth value s.
  Sum Blend(const Sum& s, const Sum& a, const Sum& b) {
    const Sum rest = Add(NumberSum(1), Negated(s));
    return Add(Multiply(s, a, names_), Multiply(rest, b, names_));
  }

  const CaseView& view_;
  const RuleSide& side_;
  const std::vector<ir::TypedNode<DimExpr>>& typed_;
  const std::vector<std::optional<SymAttr>>& attrs_;
  const Resolve resolve_;
  Names& names_;
  const int depth_;
};

}  // namespace

CaseView ViewOf(const ir::Rule& rule, const ir::RuleCase& rule_case) {
  CaseView view{rule, rule_case, {}, {}};
  for (size_t i = 0; i < rule.attrs().size(); ++i) {
    SymAttr value = rule_case.attrs[i];
    if (rule.attrs()[i].kind == AttrKind::kFloat) {
      // No operator computes with such a number as if it were a simple one.
      const double stand_in = 0.6180339887498949 + 0.0314159265358979 * i;
      view.float_names[stand_in] = absl::StrCat("?", rule.attrs()[i].name);
      value = stand_in;
    }
    view.attrs.push_back(std::move(value));
  }
  return view;
}

const SymType& OutputType(const CaseView& view, int output) {
  const RuleOperand o = view.rule.source().outputs[output];
  return view.rule_case.source[o.node].types[o.output];
}

namespace {

// The side of a rule in which floating-point variables have stand-ins.
absl::StatusOr<std::vector<ir::TypedNode<DimExpr>>> TypedAnew(
    const CaseView& view, bool target) {
  const RuleSide& side = target ? view.rule.target() : view.rule.source();
  std::vector<const SymType*> types;
  for (const SymType& t : view.rule_case.tensors) types.push_back(&t);
  std::vector<SymType> expected;
  for (size_t o = 0; o < view.rule.source().outputs.size(); ++o) {
    expected.push_back(OutputType(view, static_cast<int>(o)));
  }
  ir::SideTyping<DimExpr> typing;
  RETURN_IF_ERROR(ir::TypeSide<DimExpr>(
      side, types, view.attrs, target ? expected : std::vector<SymType>{},
      typing));
  return std::move(typing.nodes);
}

}  // namespace

absl::StatusOr<Sum> OutputElement(const CaseView& view, bool target, int output,
                                  const std::vector<DimExpr>& index,
                                  Names& names) {
  const RuleSide& side = target ? view.rule.target() : view.rule.source();
  const ir::RuleCase& c = view.rule_case;
  std::vector<ir::TypedNode<DimExpr>> anew;
  if (!view.float_names.empty()) {
    ASSIGN_OR_RETURN(anew, TypedAnew(view, target));
  }
  auto resolve = [&](int variable,
                     const std::vector<DimExpr>& at) -> absl::StatusOr<Sum> {
    Leaf leaf{Leaf::Kind::kInput, view.rule.tensors()[variable], at};
    Sum s = LeafSum(std::move(leaf));
    if (c.tensors[variable].dtype == DType::kBool) {
      return FunctionSum("truth", {std::move(s)});
    }
    return s;
  };
  const auto& typed = !view.float_names.empty() ? anew
                      : target                  ? c.target
                                                : c.source;
  SideBuilder builder(view, side, typed, view.attrs, resolve, names, 0);
  return builder.Element(side.outputs[output], index);
}

}  // namespace isomer::verify

// Arithmetic on attribute values. Over numbers every step is checked for
// overflow; over expressions DimExpr does that itself.
#include "graph/rule_value.h"

#include <cmath>
#include <utility>

#include "ops/status.h"

namespace isomer::ir {

namespace {

using Kind = ValueExpr::Kind;

absl::StatusOr<int64_t> Arithmetic(Kind kind, int64_t a, int64_t b,
                                   std::vector<Obligation>*) {
  int64_t out = 0;
  bool overflow = false;
  switch (kind) {
    case Kind::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case Kind::kSub:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case Kind::kMul:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    default:
      if (b == 0) return Invalid("division by zero");
      if (b == -1) {  // the one divisor whose quotient may not fit
        if (kind == Kind::kMod) return 0;
        overflow = __builtin_sub_overflow(int64_t{0}, a, &out);
        break;
      }
      if (kind == Kind::kDiv && a % b != 0) {
        return Invalid(b, " does not divide ", a);
      }
      out = kind == Kind::kMod ? Mod(a, b) : FloorDiv(a, b);
  }
  if (overflow) return Invalid("a value leaves 64 bits");
  return out;
}

absl::StatusOr<DimExpr> Arithmetic(Kind kind, const DimExpr& a,
                                   const DimExpr& b,
                                   std::vector<Obligation>* demands) {
  switch (kind) {
    case Kind::kAdd:
      return a + b;
    case Kind::kSub:
      return a - b;
    case Kind::kMul:
      return a * b;
    default:
      break;
  }
  if (b.constant() == 0) return Invalid("division by zero");
  if (kind == Kind::kMod) return Mod(a, b);
  if (kind == Kind::kDiv) {
    const DimExpr rest = Mod(a, b);
    if (auto c = rest.constant(); c && *c != 0) {
      return Invalid(b.ToString(), " does not divide ", a.ToString());
    } else if (!c && demands != nullptr) {
      demands->push_back({Obligation::kZero, rest});
    }
  }
  return FloorDiv(a, b);
}

template <class D>
absl::StatusOr<AttrT<D>> Combine(Kind kind, const AttrT<D>& a,
                                 const AttrT<D>& b,
                                 std::vector<Obligation>* demands) {
  const D *x = std::get_if<D>(&a), *y = std::get_if<D>(&b);
  if (x && y) {
    ASSIGN_OR_RETURN(D out, Arithmetic(kind, *x, *y, demands));
    return AttrT<D>(std::move(out));
  }
  const auto *xs = std::get_if<std::vector<D>>(&a),
             *ys = std::get_if<std::vector<D>>(&b);
  if ((!x && !xs) || (!y && !ys)) {
    return Invalid("arithmetic on ", AttrText<D>(a), " and ", AttrText<D>(b),
                   ", which are not integers or lists of them");
  }
  if (xs && ys && xs->size() != ys->size()) {
    return Invalid("lists ", AttrText<D>(a), " and ", AttrText<D>(b),
                   " differ in length");
  }
  std::vector<D> out;
  for (size_t i = 0; i < (xs ? *xs : *ys).size(); ++i) {
    ASSIGN_OR_RETURN(D item, Arithmetic(kind, xs ? (*xs)[i] : *x,
                                        ys ? (*ys)[i] : *y, demands));
    out.push_back(std::move(item));
  }
  return AttrT<D>(std::move(out));
}

// An integer that must be a plain number: an axis or a bound of a range.
template <class D>
absl::StatusOr<int64_t> EvalNumber(const ValueExpr& v,
                                   const ValueContext<D>& context) {
  ASSIGN_OR_RETURN(AttrT<D> value, EvalValue<D>(v, context));
  if (const D* d = std::get_if<D>(&value)) {
    if (auto c = KnownSize(*d)) return *c;
  }
  return Invalid("expected a number, not ", AttrText<D>(value));
}

template <class D>
absl::StatusOr<AttrT<D>> EvalDim(const ValueExpr& v,
                                 const ValueContext<D>& context) {
  const TypeT<D>* type = context.type(v.tensor);
  if (type == nullptr) return absl::UnavailableError("a type is not known");
  if (v.kind == Kind::kRank) return AttrT<D>(D(type->rank()));
  ASSIGN_OR_RETURN(int64_t i, EvalNumber<D>(v.args[0], context));
  const int64_t rank = type->rank();
  if (i < -rank || i >= rank) {
    return Invalid("there is no dimension ", i, " in ", TypeText(*type));
  }
  return AttrT<D>(type->shape[i < 0 ? i + rank : i]);
}

template <class D>
absl::StatusOr<AttrT<D>> EvalRange(const ValueExpr& v,
                                   const ValueContext<D>& context) {
  ASSIGN_OR_RETURN(int64_t low, EvalNumber<D>(v.args[0], context));
  ASSIGN_OR_RETURN(int64_t high, EvalNumber<D>(v.args[1], context));
  constexpr int64_t kLongest = 64;
  std::vector<D> out;
  for (int64_t i = low; i < high; ++i) {
    if (static_cast<int64_t>(out.size()) == kLongest) {
      return Invalid("range(", low, ", ", high, ") is longer than ", kLongest);
    }
    out.push_back(D(i));
  }
  return AttrT<D>(std::move(out));
}

// A list is of floats if one item is.
template <class D>
absl::StatusOr<AttrT<D>> EvalList(const ValueExpr& v,
                                  const ValueContext<D>& context) {
  std::vector<D> ints;
  std::vector<double> reals;
  bool real = false;
  for (const ValueExpr& item : v.args) {
    ASSIGN_OR_RETURN(AttrT<D> value, EvalValue<D>(item, context));
    if (const double* f = std::get_if<double>(&value)) {
      real = true;
      reals.push_back(*f);
    } else if (const D* d = std::get_if<D>(&value)) {
      ints.push_back(*d);
      reals.push_back(static_cast<double>(KnownSize(*d).value_or(0)));
    } else {
      return Invalid("a list cannot hold ", AttrText<D>(value));
    }
  }
  if (real) return AttrT<D>(std::move(reals));
  return AttrT<D>(std::move(ints));
}

}  // namespace

bool operator==(const ValueExpr& a, const ValueExpr& b) {
  return a.kind == b.kind && a.integer == b.integer &&
         (a.real == b.real || (std::isnan(a.real) && std::isnan(b.real))) &&
         a.word == b.word && a.variable == b.variable && a.tensor == b.tensor &&
         a.args == b.args;
}

void Visit(const ValueExpr& v, absl::FunctionRef<void(const ValueExpr&)> f) {
  f(v);
  for (const ValueExpr& a : v.args) Visit(a, f);
}

template <class D>
absl::StatusOr<AttrT<D>> EvalValue(const ValueExpr& v,
                                   const ValueContext<D>& context) {
  switch (v.kind) {
    case Kind::kInteger:
      return AttrT<D>(D(v.integer));
    case Kind::kFloat:
      return AttrT<D>(v.real);
    case Kind::kName:
      if (v.variable < 0) return AttrT<D>(v.word);
      if (!context.attrs[v.variable]) {
        return absl::UnavailableError("a variable has no value yet");
      }
      return *context.attrs[v.variable];
    case Kind::kNegate: {
      ASSIGN_OR_RETURN(AttrT<D> value, EvalValue<D>(v.args[0], context));
      if (auto* f = std::get_if<double>(&value)) return AttrT<D>(-*f);
      return Combine<D>(Kind::kSub, AttrT<D>(D(0)), value, context.demands);
    }
    case Kind::kDim:
    case Kind::kRank:
      return EvalDim<D>(v, context);
    case Kind::kRange:
      return EvalRange<D>(v, context);
    case Kind::kList:
      return EvalList<D>(v, context);
    case Kind::kEnd:
      return Invalid("'end' stands for no dimension here");
    default: {
      ASSIGN_OR_RETURN(AttrT<D> a, EvalValue<D>(v.args[0], context));
      ASSIGN_OR_RETURN(AttrT<D> b, EvalValue<D>(v.args[1], context));
      return Combine<D>(v.kind, a, b, context.demands);
    }
  }
}

template absl::StatusOr<Attr> EvalValue<int64_t>(const ValueExpr&,
                                                 const ValueContext<int64_t>&);
template absl::StatusOr<SymAttr> EvalValue<DimExpr>(
    const ValueExpr&, const ValueContext<DimExpr>&);

absl::StatusOr<double> EvalLiteral(const ValueExpr& v,
                                   const ValueContext<int64_t>& context) {
  ASSIGN_OR_RETURN(Attr value, EvalValue<int64_t>(v, context));
  if (auto* f = std::get_if<double>(&value)) return *f;
  if (auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return Invalid("a literal cannot be ", AttrText<int64_t>(value));
}

// ---- Conditions

namespace {

bool Compare(RuleCondition::Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case RuleCondition::Kind::kEq:
      return a == b;
    case RuleCondition::Kind::kNe:
      return a != b;
    case RuleCondition::Kind::kLt:
      return a < b;
    case RuleCondition::Kind::kLe:
      return a <= b;
    case RuleCondition::Kind::kGt:
      return a > b;
    case RuleCondition::Kind::kGe:
      return a >= b;
    case RuleCondition::Kind::kDivides:
      return a != 0 && (a == -1 || b % a == 0);
    default:
      return true;
  }
}

template <class D>
std::optional<std::vector<D>> Items(const AttrT<D>& a) {
  if (auto* d = std::get_if<D>(&a)) return std::vector<D>{*d};
  if (auto* v = std::get_if<std::vector<D>>(&a)) return *v;
  return std::nullopt;
}

// Pairs of what is compared: scalars meet all elements of a list. Nothing if
// the lists differ in length or the values are not integers.
template <class D>
std::optional<std::vector<std::pair<D, D>>> Pairs(const AttrT<D>& a,
                                                  const AttrT<D>& b) {
  auto x = Items<D>(a), y = Items<D>(b);
  if (!x || !y) return std::nullopt;
  const bool x_scalar = a.index() == 0, y_scalar = b.index() == 0;
  if (!x_scalar && !y_scalar && x->size() != y->size()) return std::nullopt;
  std::vector<std::pair<D, D>> out;
  const size_t n = x_scalar ? y->size() : x->size();
  for (size_t i = 0; i < n; ++i) {
    out.push_back({(*x)[x_scalar ? 0 : i], (*y)[y_scalar ? 0 : i]});
  }
  return out;
}

}  // namespace

absl::StatusOr<bool> Holds(const RuleCondition& c,
                           const ValueContext<int64_t>& context) {
  ASSIGN_OR_RETURN(Attr a, EvalValue<int64_t>(c.left, context));
  ASSIGN_OR_RETURN(Attr b, EvalValue<int64_t>(c.right, context));
  const bool negated = c.kind == RuleCondition::Kind::kNe;
  auto pairs = Pairs<int64_t>(a, b);
  if (!pairs) {
    const bool equal = a == b;  // words, types, floats, unequal lengths
    return negated ? !equal
                   : equal && (c.kind == RuleCondition::Kind::kEq ||
                               c.kind == RuleCondition::Kind::kLe ||
                               c.kind == RuleCondition::Kind::kGe);
  }
  if (negated) {  // some element differs
    for (const auto& [x, y] : *pairs) {
      if (x != y) return true;
    }
    return false;
  }
  for (const auto& [x, y] : *pairs) {
    if (!Compare(c.kind, x, y)) return false;
  }
  return true;
}

absl::Status AddFacts(const RuleCondition& c,
                      const ValueContext<DimExpr>& context,
                      std::vector<Obligation>& facts) {
  ASSIGN_OR_RETURN(SymAttr a, EvalValue<DimExpr>(c.left, context));
  ASSIGN_OR_RETURN(SymAttr b, EvalValue<DimExpr>(c.right, context));
  auto pairs = Pairs<DimExpr>(a, b);
  if (!pairs) {  // words, types, floats, unequal lengths
    const bool wants_equal = c.kind != RuleCondition::Kind::kNe;
    if ((a == b) == wants_equal) return absl::OkStatus();
    return Invalid("a condition does not hold: ", AttrText<DimExpr>(a), " and ",
                   AttrText<DimExpr>(b));
  }
  for (const auto& [x, y] : *pairs) {
    const auto m = x.constant(), n = y.constant();
    if (m && n) {
      if (Compare(c.kind, *m, *n)) continue;
      if (c.kind == RuleCondition::Kind::kNe && pairs->size() > 1) continue;
      return Invalid("a condition does not hold: ", x.ToString(), " and ",
                     y.ToString());
    }
    switch (c.kind) {
      case RuleCondition::Kind::kEq:
        if (!(x == y)) facts.push_back({Obligation::kZero, x - y});
        break;
      case RuleCondition::Kind::kLt:
        facts.push_back({Obligation::kNonNegative, y - x - 1});
        break;
      case RuleCondition::Kind::kLe:
        facts.push_back({Obligation::kNonNegative, y - x});
        break;
      case RuleCondition::Kind::kGt:
        facts.push_back({Obligation::kNonNegative, x - y - 1});
        break;
      case RuleCondition::Kind::kGe:
        facts.push_back({Obligation::kNonNegative, x - y});
        break;
      case RuleCondition::Kind::kDivides:
        if (const DimExpr rest = Mod(y, x); !(rest == DimExpr(0))) {
          facts.push_back({Obligation::kZero, rest});
        }
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

// ---- Solving

namespace {

// The x for which `e`, linear in `symbol`, is `target`.
absl::StatusOr<int64_t> SolveLinear(const DimExpr& e, absl::string_view symbol,
                                    int64_t target) {
  const Polynomial& p = e.polynomial();
  const DimExpr slope(p.Coefficient(Atom::Symbol(symbol)));
  const DimExpr rest = e - slope * DimExpr::Symbol(symbol);
  const auto a = slope.constant(), b = rest.constant();
  int64_t difference = 0;
  if (!a || !b || *a == 0 || __builtin_sub_overflow(target, *b, &difference)) {
    return absl::FailedPreconditionError("the value is not linear");
  }
  if (*a == -1 || difference % *a != 0) {
    if (*a == -1 && difference != std::numeric_limits<int64_t>::min()) {
      return -difference;
    }
    return absl::FailedPreconditionError("no integer solves the value");
  }
  return difference / *a;
}

}  // namespace

absl::StatusOr<Attr> SolveValue(const ValueExpr& v, int variable, AttrKind kind,
                                const Attr& target,
                                const ValueContext<int64_t>& context) {
  auto items = Items<int64_t>(target);
  if (!items) return absl::FailedPreconditionError("only integers are solved");
  std::vector<std::optional<SymAttr>> attrs(context.attrs.size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (!context.attrs[i]) continue;
    attrs[i] = *ToSymbolic(Attrs{{"v", *context.attrs[i]}}).Find("v");
  }
  std::vector<DimExpr> symbols;
  for (size_t i = 0; i < items->size(); ++i) {
    symbols.push_back(DimExpr::Symbol(absl::StrCat("?", i)));
  }
  const bool list = kind == AttrKind::kInts;
  if (!list && items->empty()) {
    return absl::FailedPreconditionError("an empty list gives no value");
  }
  attrs[variable] = list ? SymAttr(symbols) : SymAttr(symbols[0]);
  SymType type;
  auto type_of = [&](RuleOperand o) -> const SymType* {
    const TensorType* t = context.type(o);
    if (t == nullptr) return nullptr;
    type = ToSymbolic(*t);
    return &type;
  };
  ASSIGN_OR_RETURN(SymAttr value,
                   EvalValue<DimExpr>(v, {attrs, type_of, nullptr}));
  auto exprs = Items<DimExpr>(value);
  if (!exprs || exprs->size() != items->size()) {
    return absl::FailedPreconditionError("the lists differ in length");
  }
  std::vector<int64_t> out;
  for (size_t i = 0; i < items->size(); ++i) {
    ASSIGN_OR_RETURN(
        int64_t x,
        SolveLinear((*exprs)[i], absl::StrCat("?", list ? i : 0), (*items)[i]));
    if (!list && i > 0 && x != out[0]) {
      return absl::FailedPreconditionError("elements ask for different values");
    }
    out.push_back(x);
  }
  if (list) return Attr(std::move(out));
  return Attr(out[0]);
}

}  // namespace isomer::ir

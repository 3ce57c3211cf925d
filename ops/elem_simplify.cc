// A bound of a polynomial follows monomial by monomial: an index takes its
// least value where it helps and its greatest where it hurts; what is left
// speaks of sizes alone, and with n = m + 1, m >= 0 its signs decide.
#include "ops/elem_simplify.h"

#include <optional>
#include <utility>
#include <vector>

namespace isomer {

namespace {

// Whether every factor is a power of a symbol that is known not to be negative.
bool KnownFactors(const Monomial& m, const Ranges& ranges) {
  for (const Factor& f : m.factors) {
    if (f.power < 0 || !f.atom.is_symbol()) return false;
    if (!ranges.indices.count(f.atom.name()) &&
        !ranges.sizes.count(f.atom.name())) {
      return false;
    }
  }
  return true;
}

// The factors of `m` that are indices.
std::vector<Factor> IndexFactors(const Monomial& m, const Ranges& ranges) {
  std::vector<Factor> out;
  for (const Factor& f : m.factors) {
    if (f.atom.is_symbol() && ranges.indices.count(f.atom.name())) {
      out.push_back(f);
    }
  }
  return out;
}

// A polynomial without indices that is never greater than `p`.
std::optional<Polynomial> LowerBound(const Polynomial& p,
                                     const Ranges& ranges) {
  Polynomial bound = p;
  for (size_t round = 0; round <= ranges.indices.size(); ++round) {
    Polynomial next(bound.constant_term());
    bool changed = false;
    for (const Monomial& m : bound.monomials()) {
      if (!KnownFactors(m, ranges)) return std::nullopt;
      const std::vector<Factor> indices = IndexFactors(m, ranges);
      const Polynomial whole = Polynomial::Sum({m});
      if (indices.empty()) {
        next = next + whole;
        continue;
      }
      changed = true;
      if (!(m.coefficient < Rational(0))) continue;  // at least 0
      if (indices[0].power != 1) return std::nullopt;
      const Polynomial greatest =
          ranges.indices.at(indices[0].atom.name()).polynomial() - 1;
      next = next + whole.Coefficient(indices[0].atom) * greatest;
    }
    bound = std::move(next);
    if (!changed) return bound;
  }
  return std::nullopt;
}

class Simplifier {
 public:
  explicit Simplifier(Ranges ranges) : ranges_(std::move(ranges)) {}

  Elem Value(const Elem& e) {
    switch (e.kind()) {
      case Elem::Kind::kConst:
        return e;
      case Elem::Kind::kIndex:
        return Elem::FromIndex(Index(e.expr()));
      case Elem::Kind::kInput:
        return Elem::Input(e.input(), Indices(e.indices()));
      case Elem::Kind::kAdd:
        return Value(e.args()[0]) + Value(e.args()[1]);
      case Elem::Kind::kMul:
        return Value(e.args()[0]) * Value(e.args()[1]);
      case Elem::Kind::kDiv:
        return Value(e.args()[0]) / Value(e.args()[1]);
      case Elem::Kind::kFn:
        return Elem::Fn(e.name(), Values(e.args()));
      case Elem::Kind::kReduce: {
        DimExpr extent = Index(e.expr());
        ranges_.indices[e.name()] = extent;
        Elem body = Value(e.args()[0]);
        ranges_.indices.erase(e.name());
        return Elem::Reduce(e.fold(), e.name(), std::move(extent),
                            std::move(body));
      }
      case Elem::Kind::kIf: {
        auto [cond, known] = Condition(e.cond());
        if (known) return Value(e.args()[*known ? 0 : 1]);
        return Elem::If(std::move(cond), Value(e.args()[0]),
                        Value(e.args()[1]));
      }
    }
    return e;
  }

 private:
  // A condition, and whether it holds if that is known.
  using Outcome = std::pair<ElemCond, std::optional<bool>>;

  Polynomial Poly(const Polynomial& p) {
    return p.Transform([this](const Atom& atom) -> std::optional<Polynomial> {
      if (atom.is_symbol()) return std::nullopt;
      std::vector<Polynomial> args;
      for (const Polynomial& arg : atom.args()) args.push_back(Poly(arg));
      if (atom.Is("floordiv")) {
        const DimExpr a(args[0]), b(args[1]);
        if (NonNegative(a, ranges_) && NonNegative(b - 1 - a, ranges_)) {
          return Polynomial(0);
        }
      }
      return Reapply(atom, std::move(args));
    });
  }
  DimExpr Index(const DimExpr& e) { return DimExpr(Poly(e.polynomial())); }
  std::vector<DimExpr> Indices(const std::vector<DimExpr>& list) {
    std::vector<DimExpr> out;
    for (const DimExpr& e : list) out.push_back(Index(e));
    return out;
  }
  std::vector<Elem> Values(const std::vector<Elem>& list) {
    std::vector<Elem> out;
    for (const Elem& e : list) out.push_back(Value(e));
    return out;
  }

  Outcome Condition(const ElemCond& c) {
    switch (c.kind()) {
      case ElemCond::Kind::kGe0: {
        const DimExpr e = Index(c.expr());
        return {ElemCond::Ge0(e), Sign(e, -e - 1)};
      }
      case ElemCond::Kind::kEq0: {
        const DimExpr e = Index(c.expr());
        std::optional<bool> known;
        if (e == DimExpr(0)) known = true;
        if (NonNegative(e - 1, ranges_) || NonNegative(-e - 1, ranges_)) {
          known = false;
        }
        return {ElemCond::Eq0(e), known};
      }
      case ElemCond::Kind::kAnd:
        return Both(c, false, ElemCond::And);
      case ElemCond::Kind::kOr:
        return Both(c, true, ElemCond::Or);
      case ElemCond::Kind::kNot: {
        auto [cond, known] = Condition(c.parts()[0]);
        if (known) known = !*known;
        return {ElemCond::Not(std::move(cond)), known};
      }
      case ElemCond::Kind::kTruth:
        return {ElemCond::Truth(c.input(), Indices(c.indices())), {}};
      case ElemCond::Kind::kLess:
        return {ElemCond::Less(Value(c.operands()[0]), Value(c.operands()[1])),
                {}};
      case ElemCond::Kind::kEqual:
        return {ElemCond::Equal(Value(c.operands()[0]), Value(c.operands()[1])),
                {}};
    }
    return {c, {}};
  }

  // True if `yes` is shown to be at least 0, false if `no` is.
  std::optional<bool> Sign(const DimExpr& yes, const DimExpr& no) {
    if (NonNegative(yes, ranges_)) return true;
    if (NonNegative(no, ranges_)) return false;
    return std::nullopt;
  }

  // A conjunction or disjunction; a part that is `absorbing` decides it.
  Outcome Both(const ElemCond& c, bool absorbing,
               ElemCond (*join)(ElemCond, ElemCond)) {
    auto [a, a_known] = Condition(c.parts()[0]);
    auto [b, b_known] = Condition(c.parts()[1]);
    if (a_known == absorbing || b_known == absorbing) {
      return {join(a, b), absorbing};
    }
    if (a_known) return {b, b_known};
    if (b_known) return {a, a_known};
    return {join(a, b), std::nullopt};
  }

  Ranges ranges_;
};

}  // namespace

bool NonNegative(const DimExpr& e, const Ranges& ranges) {
  if (!e.ok()) return false;
  std::optional<Polynomial> bound = LowerBound(e.polynomial(), ranges);
  if (!bound || !bound->ok()) return false;
  std::map<std::string, Polynomial> from_one;
  for (const std::string& s : bound->Symbols()) {
    from_one[s] = Polynomial::Symbol(s) + 1;
  }
  const Polynomial shifted = bound->Substitute(from_one);
  if (!shifted.ok()) return false;
  for (const Monomial& m : shifted.AllMonomials()) {
    if (m.coefficient < Rational(0)) return false;
  }
  return true;
}

Elem Simplify(const Elem& e, const Ranges& ranges) {
  return Simplifier(ranges).Value(e);
}

}  // namespace isomer

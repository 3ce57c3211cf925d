// The normal form of division. Over the integers, for a positive divisor b:
//   floor((b*q + r) / b)           = q + floor(r / b)
//   floor((d*y + x mod d) / (d*k)) = floor(y / k)
//   floor((g*y + c) / (g*k))       = floor((y + floor(c/g)) / k)
//   floor((floor(x/d) + y) / k)    = floor((x + d*y) / (d*k))
// Each is applied from left to right until none does any more.
#include "ops/dim.h"

#include <algorithm>

namespace isomer {
namespace {

constexpr absl::string_view kFloorDiv = "floordiv";
constexpr absl::string_view kMax = "max";
constexpr absl::string_view kMin = "min";
constexpr absl::string_view kElement = "element";

Polynomial Single(const Monomial& m) { return Polynomial::Sum({m}); }

// True if all coefficients are integers and no power is negative: only then
// does the value of every monomial stay an integer.
bool IsIntegral(const Polynomial& p) {
  if (!p.constant_term().IsInteger()) return false;
  for (const Monomial& m : p.monomials()) {
    if (!m.coefficient.IsInteger()) return false;
    for (const Factor& f : m.factors) {
      if (f.power < 0) return false;
    }
  }
  return true;
}

// Returns a / b if that is a polynomial with integer coefficients.
std::optional<Polynomial> DivideIntegrally(const Polynomial& a,
                                           const Polynomial& b) {
  std::optional<Polynomial> q = DivideExactly(a, b);
  if (!q || !IsIntegral(*q)) return std::nullopt;
  return q;
}

// A quotient being brought into normal form: its value is always
// whole + floor(a / b).
struct Quotient {
  Polynomial whole;
  Polynomial a;
  Polynomial b;
};

// Splits coefficient / size into its floor and what is left over.
std::pair<Rational, Rational> Split(Rational coefficient, Rational size) {
  const Rational count = (coefficient / size).Floor();
  return {count, coefficient - count * size};
}

// The long division below where b is a single monomial: one pass.
void ExtractMultiples(const Monomial& b, Quotient* q) {
  std::vector<Monomial> whole;
  std::vector<Monomial> rest;
  for (Monomial& m : q->a.AllMonomials()) {
    if (DividesProduct(b, m)) {
      auto [count, left] = Split(m.coefficient, b.coefficient);
      whole.push_back({count, m.factors});
      m.coefficient = left;
    }
    rest.push_back(std::move(m));
  }
  q->whole = q->whole +
             Polynomial::Sum(std::move(whole)) * Single({1, b.factors}).Pow(-1);
  q->a = Polynomial::Sum(std::move(rest));
}

// Moves all multiples of b out of a by long division. What is left is unique:
// its coefficients at multiples of b's first product are in [0, |lead|).
void ExtractWhole(Quotient* q) {
  const std::vector<Monomial> divisor = q->b.AllMonomials();
  const Monomial& lead = divisor[0];
  const bool negative = lead.coefficient < Rational(0);
  if (divisor.size() == 1 && !negative) return ExtractMultiples(lead, q);
  const Rational size = negative ? -lead.coefficient : lead.coefficient;
  const Polynomial inverse = Single({1, lead.factors}).Pow(-1);
  Polynomial rest;
  while (q->a.ok() && !q->a.IsZero()) {
    Monomial first = q->a.AllMonomials()[0];
    if (DividesProduct(lead, first)) {
      auto [count, left] = Split(first.coefficient, size);
      Polynomial step =
          Single({negative ? -count : count, first.factors}) * inverse;
      q->whole = q->whole + step;
      q->a = q->a - step * q->b;
      first.coefficient = left;
    }
    rest = rest + Single(first);
    q->a = q->a - Single(first);
  }
  if (q->a.ok()) q->a = rest;
}

// Finds d*y + (x mod d) over d*k and drops the remainder.
bool DropRemainder(Quotient* q) {
  for (const Monomial& m : q->a.monomials()) {
    for (const Factor& f : m.factors) {
      if (!f.atom.Is(kFloorDiv)) continue;
      const Polynomial& x = f.atom.args()[0];
      const Polynomial& d = f.atom.args()[1];
      std::optional<Polynomial> k = DivideIntegrally(q->b, d);
      if (!k) continue;
      std::optional<Polynomial> y =
          DivideIntegrally(q->a - x + d * Polynomial(f.atom), d);
      if (!y) continue;
      q->a = *y;
      q->b = *k;
      return true;
    }
  }
  return false;
}

// Divides a and b by the integer that divides b and a's monomials; the
// constant of a is rounded down.
bool CancelInteger(Quotient* q) {
  const Rational constant = q->a.constant_term();
  Polynomial symbolic = q->a - constant;
  Rational g = 0;
  for (const Monomial& m : symbolic.monomials()) {
    g = Rational::Gcd(g, m.coefficient);
  }
  for (const Monomial& m : q->b.AllMonomials()) {
    g = Rational::Gcd(g, m.coefficient);
  }
  if (!g.ok() || g.IsOne() || g.IsZero()) return false;
  Rational scale = Rational(1) / g;
  q->a = symbolic * scale + (constant / g).Floor();
  q->b = q->b * scale;
  return true;
}

// Divides a and b by the product of atoms that divides both.
bool CancelProduct(Quotient* q) {
  if (q->b.IsConstant() || !q->a.constant_term().IsZero()) return false;
  const Monomial x = Content(q->a);
  const Monomial y = Content(q->b);
  Monomial common{1, {}};
  for (const Factor& f : x.factors) {
    for (const Factor& g : y.factors) {
      if (!(f.atom == g.atom)) continue;
      common.factors.push_back({f.atom, std::min(f.power, g.power)});
    }
  }
  if (common.factors.empty()) return false;
  const Polynomial inverse = Single(common).Pow(-1);
  q->a = q->a * inverse;
  q->b = q->b * inverse;
  return true;
}

// True if the atom occurs in p, arguments of functions included.
bool Mentions(const Polynomial& p, const Atom& atom) {
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (f.atom == atom) return true;
      for (const Polynomial& arg : f.atom.args()) {
        if (Mentions(arg, atom)) return true;
      }
    }
  }
  return false;
}

// Merges a quotient inside the dividend, if there is exactly one with
// coefficient 1 and it occurs nowhere else: then each merge leaves fewer
// different quotients, which bounds their number.
bool MergeNested(Quotient* q) {
  std::optional<Atom> inner;
  for (const Monomial& m : q->a.monomials()) {
    if (!m.coefficient.IsOne() || m.factors.size() != 1) continue;
    const Factor& f = m.factors[0];
    if (f.power != 1 || !f.atom.Is(kFloorDiv)) continue;
    if (inner) return false;
    inner = f.atom;
  }
  if (!inner || inner->args()[1].IsZero()) return false;
  const Polynomial rest = q->a - Polynomial(*inner);
  if (Mentions(rest, *inner) || Mentions(q->b, *inner)) return false;
  const Polynomial& d = inner->args()[1];
  q->a = inner->args()[0] + d * rest;
  q->b = d * q->b;
  return true;
}

Polynomial FloorDivide(const Polynomial& a, const Polynomial& b) {
  if (!a.ok() || !b.ok()) return Polynomial::Overflow();
  if (b.IsZero() || !IsIntegral(a) || !IsIntegral(b)) {
    return Polynomial::Apply(kFloorDiv, {a, b});
  }
  if (b.IsConstant() && b.constant_term() < Rational(0)) {
    return FloorDivide(-a, -b);
  }
  if (a.IsConstant() && b.IsConstant()) {
    return (a.constant_term() / b.constant_term()).Floor();
  }
  Quotient q{0, a, b};
  while (q.a.ok() && q.b.ok()) {
    if (q.b == Polynomial(1)) return q.whole + q.a;
    if (DropRemainder(&q)) continue;
    ExtractWhole(&q);
    if (!q.a.ok()) break;
    if (q.a.IsZero() || (q.a.IsConstant() && q.b.IsConstant())) return q.whole;
    // Every divisor is at least 1.
    if (q.a == Polynomial(-1)) return q.whole - 1;
    if (CancelInteger(&q) || CancelProduct(&q) || MergeNested(&q)) continue;
    return q.whole + Polynomial::Apply(kFloorDiv, {q.a, q.b});
  }
  return Polynomial::Overflow();
}

// Folds max (sign 1) or min (sign -1): operands of a nested one join the set,
// an operand that differs from another by a constant yields to it.
Polynomial Extreme(absl::string_view name, int sign, const Polynomial& a,
                   const Polynomial& b) {
  std::vector<Polynomial> operands;
  for (const Polynomial& p : {a, b}) {
    if (!p.ok()) return p;
    std::optional<Atom> atom = p.atom();
    if (atom && atom->Is(name)) {
      operands.insert(operands.end(), atom->args().begin(), atom->args().end());
    } else {
      operands.push_back(p);
    }
  }
  std::vector<Polynomial> kept;
  for (const Polynomial& p : operands) {
    bool dropped = false;
    for (Polynomial& k : kept) {
      std::optional<Rational> difference = (p - k).constant();
      if (!difference) continue;
      if (Rational(0) < *difference * Rational(sign)) k = p;
      dropped = true;
    }
    if (!dropped) kept.push_back(p);
  }
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end());
  return Polynomial::Apply(name, std::move(kept));
}

Polynomial Replace(const Polynomial& p,
                   const std::map<std::string, DimExpr>& values) {
  return p.Transform([&](const Atom& atom) -> std::optional<Polynomial> {
    if (atom.is_symbol()) {
      auto it = values.find(atom.name());
      if (it == values.end()) return std::nullopt;
      return it->second.polynomial();
    }
    std::vector<Polynomial> args;
    for (const Polynomial& arg : atom.args()) {
      args.push_back(Replace(arg, values));
    }
    return Reapply(atom, std::move(args));
  });
}

class Evaluator {
 public:
  Evaluator(const std::map<std::string, int64_t>& values,
            const DimExpr::ElementValue& element)
      : values_(values), element_(element) {}

  std::optional<Rational> Value(const Polynomial& p) const {
    return p.Evaluate([this](const Atom& atom) { return Value(atom); });
  }

 private:
  std::optional<Rational> Value(const Atom& atom) const {
    if (atom.is_symbol()) {
      auto it = values_.find(atom.name());
      if (it == values_.end()) return std::nullopt;
      return it->second;
    }
    std::vector<Rational> args;
    for (const Polynomial& arg : atom.args()) {
      std::optional<Rational> value = Value(arg);
      if (!value) return std::nullopt;
      args.push_back(*value);
    }
    if (atom.Is(kFloorDiv)) {
      Rational q = (args[0] / args[1]).Floor();
      return q.ok() ? std::optional<Rational>(q) : std::nullopt;
    }
    if (atom.Is(kMax)) return *std::max_element(args.begin(), args.end());
    if (atom.Is(kMin)) return *std::min_element(args.begin(), args.end());
    if (atom.Is(kElement)) return ElementAt(args);
    return std::nullopt;
  }

  std::optional<Rational> ElementAt(const std::vector<Rational>& args) const {
    if (element_ == nullptr) return std::nullopt;
    std::vector<int64_t> indices;
    for (size_t i = 1; i < args.size(); ++i) {
      if (!args[i].IsInteger()) return std::nullopt;
      indices.push_back(args[i].num());
    }
    std::optional<int64_t> value =
        element_(static_cast<int>(args[0].num()), indices);
    if (!value) return std::nullopt;
    return *value;
  }

  const std::map<std::string, int64_t>& values_;
  const DimExpr::ElementValue& element_;
};

}  // namespace

std::optional<Polynomial> Reapply(const Atom& atom,
                                  std::vector<Polynomial> args) {
  if (args == atom.args()) return std::nullopt;
  if (atom.Is(kFloorDiv)) return FloorDivide(args[0], args[1]);
  if (atom.Is(kMax) || atom.Is(kMin)) {
    Polynomial result = args[0];
    for (const Polynomial& arg : args) {
      result = Extreme(atom.name(), atom.Is(kMax) ? 1 : -1, result, arg);
    }
    return result;
  }
  return Polynomial::Apply(atom.name(), std::move(args));
}

DimExpr WithoutFactors(const DimExpr& e,
                       absl::FunctionRef<bool(const Atom&)> drop) {
  const Monomial common = Content(e.polynomial()).Only([&](const Factor& f) {
    return drop(f.atom);
  });
  const auto rest = DivideExactly(e.polynomial(), Single(common));
  return rest ? DimExpr(*rest) : e;
}

std::optional<std::pair<std::string, DimExpr>> SolveForSymbol(
    const DimExpr& zero) {
  const Polynomial& p = zero.polynomial();
  for (const Monomial& m : p.monomials()) {
    if (m.factors.size() != 1 || m.factors[0].power != 1 ||
        !m.factors[0].atom.is_symbol()) {
      continue;
    }
    const bool plus = m.coefficient == Rational(1);
    if (!plus && !(m.coefficient == Rational(-1))) continue;
    const std::string& name = m.factors[0].atom.name();
    const DimExpr rest(p - Single(m));
    if (rest.Symbols().count(name)) continue;
    return std::pair(name, plus ? -rest : rest);
  }
  return std::nullopt;
}

DimExpr DimExpr::Symbol(absl::string_view name) {
  return DimExpr(Polynomial::Symbol(name));
}

DimExpr DimExpr::Element(int input, std::vector<DimExpr> indices) {
  std::vector<Polynomial> args = {Polynomial(input)};
  for (const DimExpr& index : indices) args.push_back(index.poly_);
  return DimExpr(Polynomial::Apply(kElement, std::move(args)));
}

std::optional<DimExpr::ElementRef> DimExpr::AsElement(const Atom& atom) {
  if (!atom.Is(kElement)) return std::nullopt;
  const std::vector<Polynomial>& args = atom.args();
  ElementRef ref{static_cast<int>(args[0].constant_term().num()), {}};
  for (size_t i = 1; i < args.size(); ++i) ref.indices.emplace_back(args[i]);
  return ref;
}

std::optional<DimExpr::ElementRef> DimExpr::element() const {
  std::optional<Atom> atom = poly_.atom();
  if (!atom) return std::nullopt;
  return AsElement(*atom);
}

std::optional<int64_t> DimExpr::constant() const {
  std::optional<Rational> value = poly_.constant();
  if (!value) return std::nullopt;
  return value->integer();
}

DimExpr DimExpr::Substitute(
    const std::map<std::string, DimExpr>& values) const {
  return DimExpr(Replace(poly_, values));
}

std::optional<int64_t> DimExpr::Evaluate(
    const std::map<std::string, int64_t>& values,
    const ElementValue& element) const {
  std::optional<Rational> value = Evaluator(values, element).Value(poly_);
  if (!value) return std::nullopt;
  return value->integer();
}

DimExpr FloorDiv(const DimExpr& a, const DimExpr& b) {
  return DimExpr(FloorDivide(a.polynomial(), b.polynomial()));
}

int64_t FloorDiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  // The quotient of the least value by -1 wraps instead of trapping.
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

DimExpr Mod(const DimExpr& a, const DimExpr& b) {
  return a - b * FloorDiv(a, b);
}

int64_t Mod(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

DimExpr CeilDiv(const DimExpr& a, const DimExpr& b) {
  std::optional<int64_t> divisor = b.constant();
  if (divisor && *divisor < 0) return CeilDiv(-a, -b);
  return FloorDiv(a + b - 1, b);
}

int64_t CeilDiv(int64_t a, int64_t b) {
  return FloorDiv(a, b) + (b != 0 && Mod(a, b) != 0 ? 1 : 0);
}

DimExpr MaxOf(const DimExpr& a, const DimExpr& b) {
  return DimExpr(Extreme(kMax, 1, a.polynomial(), b.polynomial()));
}

int64_t MaxOf(int64_t a, int64_t b) { return std::max(a, b); }

DimExpr MinOf(const DimExpr& a, const DimExpr& b) {
  return DimExpr(Extreme(kMin, -1, a.polynomial(), b.polynomial()));
}

int64_t MinOf(int64_t a, int64_t b) { return std::min(a, b); }

}  // namespace isomer

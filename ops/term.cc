// Rational functions on top of polynomials: inv(d) stands for 1/d, where d has
// no monomial factor, no content and no inv of its own. Sums and products
// cancel d against inv(d) where the division is exact.
#include "ops/term.h"

#include <cmath>
#include <initializer_list>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace isomer {
namespace {

constexpr absl::string_view kInverse = "inv";
constexpr absl::string_view kMax = "max";
constexpr absl::string_view kMin = "min";

// Returns the inv atoms of p, not looking into arguments.
std::set<Atom> Inverses(const Polynomial& p) {
  std::set<Atom> found;
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (f.atom.Is(kInverse)) found.insert(f.atom);
    }
  }
  return found;
}

// Replaces c * inv(d)^k by (c/d) * inv(d)^(k-1) wherever d divides c.
Term Cancel(Polynomial p) {
  for (const Atom& inverse : Inverses(p)) {
    const Polynomial& d = inverse.args()[0];
    for (int64_t k = p.Degree(inverse); k > 0; --k) {
      Polynomial c = p.Coefficient(inverse, static_cast<int>(k));
      std::optional<Polynomial> q = DivideExactly(c, d);
      if (!q || q->IsZero()) continue;
      Polynomial power = Polynomial(inverse).Pow(k - 1);
      p = p + (*q - c * Polynomial(inverse)) * power;
    }
  }
  return Term(std::move(p));
}

// Multiplies p by denominators until no inv is left; returns their product.
Polynomial ClearDenominators(Polynomial* p) {
  Polynomial multiplier = 1;
  for (std::set<Atom> left = Inverses(*p); !left.empty() && p->ok();
       left = Inverses(*p)) {
    const Atom inverse = *left.begin();
    const Polynomial& d = inverse.args()[0];
    const int64_t degree = p->Degree(inverse);
    Polynomial cleared;
    for (int64_t k = 0; k <= degree; ++k) {
      cleared = cleared + p->Coefficient(inverse, static_cast<int>(k)) *
                              d.Pow(degree - k);
    }
    multiplier = multiplier * d.Pow(degree);
    *p = cleared;
  }
  return multiplier;
}

// Returns a / b.
Term Divide(const Polynomial& a, const Polynomial& b) {
  if (!a.ok() || !b.ok() || b.IsZero()) return Term(Polynomial::Overflow());
  Polynomial divisor = b;
  Polynomial dividend = a * ClearDenominators(&divisor);
  const Polynomial inverse = Polynomial::Sum({Content(divisor)}).Pow(-1);
  dividend = dividend * inverse;
  divisor = divisor * inverse;
  if (divisor == Polynomial(1)) return Cancel(dividend);
  if (std::optional<Polynomial> q = DivideExactly(dividend, divisor)) {
    return Cancel(*q);
  }
  return Cancel(dividend * Polynomial::Apply(kInverse, {divisor}));
}

// Returns function(x), or the value where x is one of the constants at which
// it is known: {argument, value}.
Term Function(absl::string_view name, const Term& x,
              std::initializer_list<std::pair<int64_t, int64_t>> known) {
  std::optional<Rational> constant = x.constant();
  for (const auto& [argument, value] : known) {
    if (constant == Rational(argument)) return Term::FromInt(value);
  }
  return Term(Polynomial::Apply(name, {x.polynomial()}));
}

// True if the first coefficient is negative: of x and -x exactly one is.
bool IsNegative(const Term& x) {
  std::vector<Monomial> all = x.polynomial().AllMonomials();
  return !all.empty() && all[0].coefficient < Rational(0);
}

Term Extreme(absl::string_view name, int sign, const Term& a, const Term& b) {
  std::set<Polynomial> operands;
  std::optional<Rational> constant;
  auto add = [&](const Polynomial& p) {
    std::optional<Rational> value = p.constant();
    if (!value) {
      operands.insert(p);
    } else if (!constant ||
               *constant * Rational(sign) < *value * Rational(sign)) {
      constant = value;
    }
  };
  for (const Term& t : {a, b}) {
    if (!t.ok()) return t;
    std::optional<Atom> atom = t.polynomial().atom();
    if (atom && atom->Is(name)) {
      for (const Polynomial& arg : atom->args()) add(arg);
    } else {
      add(t.polynomial());
    }
  }
  if (constant) operands.insert(Polynomial(*constant));
  if (operands.size() == 1) return Term(*operands.begin());
  return Term(Polynomial::Apply(name, {operands.begin(), operands.end()}));
}

}  // namespace

Term Term::Symbol(absl::string_view name) {
  return Term(Polynomial::Symbol(name));
}

Term Term::FromDouble(double value) {
  Rational exact = Rational::FromDouble(value);
  if (exact.ok()) return Term(Polynomial(exact));
  if (std::isnan(value)) return Symbol("nan");
  // The sign stays a coefficient, so that a constant cancels its opposite.
  Term magnitude = Symbol(absl::StrFormat("%.17g", std::fabs(value)));
  return value < 0 ? -magnitude : magnitude;
}

Term Term::Pow(int64_t exponent) const {
  if (exponent >= 0) return Cancel(poly_.Pow(exponent));
  return Divide(1, poly_.Pow(-exponent));
}

Term operator+(const Term& a, const Term& b) {
  return Cancel(a.poly_ + b.poly_);
}

Term operator-(const Term& a, const Term& b) {
  return Cancel(a.poly_ - b.poly_);
}

Term operator*(const Term& a, const Term& b) {
  return Cancel(a.poly_ * b.poly_);
}

Term operator/(const Term& a, const Term& b) {
  return Divide(a.poly_, b.poly_);
}

bool operator==(const Term& a, const Term& b) {
  if (a.poly_ == b.poly_) return true;
  Polynomial difference = a.poly_ - b.poly_;
  ClearDenominators(&difference);
  return difference.IsZero();
}

Term Exp(const Term& x) {
  if (IsNegative(x)) return Term::FromInt(1) / Exp(-x);
  return Function("exp", x, {{0, 1}});
}

Term Log(const Term& x) { return Function("log", x, {{1, 0}}); }

Term Sqrt(const Term& x) { return Function("sqrt", x, {{0, 0}, {1, 1}}); }

Term Erf(const Term& x) {
  return IsNegative(x) ? -Erf(-x) : Function("erf", x, {{0, 0}});
}

Term Sin(const Term& x) {
  return IsNegative(x) ? -Sin(-x) : Function("sin", x, {{0, 0}});
}

Term Cos(const Term& x) {
  return Function("cos", IsNegative(x) ? -x : x, {{0, 1}});
}

Term Floor(const Term& x) {
  if (std::optional<Rational> c = x.constant()) {
    return Term(Polynomial(c->Floor()));
  }
  return Function("floor", x, {});
}

Term Narrow(DType type, const Term& x) {
  if (std::optional<Rational> c = x.constant()) {
    if (type == DType::kBool) return Term::FromInt(c->IsZero() ? 0 : 1);
    const double real = c->ToDouble();
    const bool held =
        IsFloat(type) ? RoundTo(type, real) == real
                      : c->IsInteger() && WrapTo(type, c->num()) == c->num() &&
                            (IsSignedInteger(type) || c->num() >= 0);
    if (held && Rational::FromDouble(real) == *c) return x;
  }
  return Function(absl::StrCat("narrow_", DTypeName(type)), x, {});
}

Term Max(const Term& a, const Term& b) { return Extreme(kMax, 1, a, b); }
Term Min(const Term& a, const Term& b) { return Extreme(kMin, -1, a, b); }

}  // namespace isomer

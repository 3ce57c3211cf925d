#include "verify/smt_text.h"

#include <numeric>

#include "absl/strings/str_cat.h"

namespace isomer::verify {

namespace {

std::string Number(const Rational& r) {
  const int64_t n = r.num();
  return n < 0 ? absl::StrCat("(- ", absl::StrCat(n).substr(1), ")")
               : absl::StrCat(n);
}

bool Integral(const Polynomial& p) {
  for (const Monomial& m : p.AllMonomials()) {
    if (!m.coefficient.IsInteger()) return false;
    for (const Factor& f : m.factors) {
      if (f.power < 0) return false;
    }
  }
  return true;
}

}  // namespace

std::string SmtNested(absl::string_view op,
                      const std::vector<std::string>& parts,
                      absl::string_view empty) {
  if (parts.empty()) return std::string(empty);
  std::string out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    out = absl::StrCat("(", op, " ", out, " ", parts[i], ")");
  }
  return out;
}

std::string SmtArithmetic::Relation(const Obligation& o) {
  return absl::StrCat("(", o.kind == Obligation::kZero ? "=" : ">=", " ",
                      Scaled(o.expr.polynomial()), " 0)");
}

// The polynomial times its common denominator: signs and zeros are kept.
std::string SmtArithmetic::Scaled(const Polynomial& p) {
  int64_t scale = 1;
  for (const Monomial& m : p.AllMonomials()) {
    const int64_t d = m.coefficient.den();
    scale = scale / std::gcd(scale, d) * d;
  }
  return Value(p * Polynomial(scale));
}

std::string SmtArithmetic::Value(const Polynomial& p) {
  integral_ = integral_ && Integral(p);
  std::vector<std::string> parts;
  for (const Monomial& m : p.AllMonomials()) {
    std::vector<std::string> product;
    if (!m.coefficient.IsOne() || m.factors.empty()) {
      product.push_back(Number(m.coefficient));
    }
    for (const Factor& f : m.factors) {
      for (int i = 0; i < f.power; ++i) product.push_back(AtomText(f.atom));
    }
    parts.push_back(SmtNested("*", product, "1"));
  }
  return SmtNested("+", parts, "0");
}

std::string SmtArithmetic::AtomText(const Atom& atom) {
  if (atom.Is("floordiv")) {
    const std::string divisor = Value(atom.args()[1]);
    divisors_.insert(divisor);
    return absl::StrCat("(div ", Value(atom.args()[0]), " ", divisor, ")");
  }
  if (atom.Is("max") || atom.Is("min")) {
    std::string out = Value(atom.args()[0]);
    for (size_t i = 1; i < atom.args().size(); ++i) {
      const std::string next = Value(atom.args()[i]);
      out = absl::StrCat("(ite (", atom.Is("max") ? ">=" : "<=", " ", out, " ",
                         next, ") ", out, " ", next, ")");
    }
    return out;
  }
  return name_(atom.ToString());
}

}  // namespace isomer::verify

#include "verify/nf_common_factor.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "verify/nf_signs.h"

namespace isomer::verify {

namespace {

// The part of a monomial that is known to be above zero.
Monomial Positive(const Monomial& m, Facts& facts) {
  Monomial out = m.Only([&](const Factor& f) {
    return facts.Positive(DimExpr(Polynomial(f.atom)));
  });
  if (out.coefficient < Rational(0)) out.coefficient = -out.coefficient;
  return out;
}

// What divides both of two that are above zero.
Monomial Gcd(const Monomial& a, const Monomial& b) {
  Monomial out{Rational::Gcd(a.coefficient, b.coefficient), {}};
  for (const Factor& f : a.factors) {
    for (const Factor& g : b.factors) {
      if (f.atom == g.atom && (f.power > 0) == (g.power > 0)) {
        out.factors.push_back({f.atom, f.power > 0
                                           ? std::min(f.power, g.power)
                                           : std::max(f.power, g.power)});
      }
    }
  }
  return out;
}

std::vector<Power> Shared(const std::vector<Power>& a,
                          const std::vector<Power>& b) {
  std::vector<Power> out;
  for (const Power& p : a) {
    const std::string key = KeyOf(*p.leaf);
    for (const Power& q : b) {
      if ((p.power > 0) != (q.power > 0) || KeyOf(*q.leaf) != key) continue;
      out.push_back({p.leaf, p.power > 0 ? std::min(p.power, q.power)
                                         : std::max(p.power, q.power)});
    }
  }
  return out;
}

void RemoveInner(std::vector<Power>& factors, const std::vector<Bound>& inner) {
  std::erase_if(factors, [&](const Power& p) {
    std::set<std::string> symbols;
    FreeSymbols(*p.leaf, symbols);
    return std::any_of(inner.begin(), inner.end(), [&](const Bound& b) {
      return symbols.count(b.var) > 0;
    });
  });
}

}  // namespace

CommonFactor FindCommonFactor(const std::vector<const Sum*>& sums,
                              const std::vector<Bound>& inner,
                              bool positive_only, NormalContext& c) {
  CommonFactor common;
  std::optional<Monomial> content;
  std::vector<Power> shared;
  bool first = true;
  for (const Sum* s : sums) {
    for (const Term& t : *s) {
      const Monomial m = Positive(Content(t.coefficient), c.facts);
      content = content ? Gcd(*content, m) : m;
      shared = first ? t.factors : Shared(shared, t.factors);
      if (first) RemoveInner(shared, inner);
      first = false;
      RemoveInner(shared, t.bound);
    }
  }
  if (!content) return common;
  common.number = Polynomial::Sum({*content});
  if (Mentions(DimExpr(common.number), inner)) common.number = 1;
  for (Power& p : shared) {
    if (positive_only && !IsPositive(*p.leaf, c)) continue;
    common.factors.push_back(std::move(p));
  }
  return common;
}

Sum Without(const Sum& s, const CommonFactor& common) {
  Sum out = s;
  const Polynomial inverse = common.number.Pow(-1);
  for (Term& t : out) {
    t.coefficient = t.coefficient * inverse;
    for (const Power& p : common.factors) {
      const std::string key = KeyOf(*p.leaf);
      for (Power& q : t.factors) {
        if (KeyOf(*q.leaf) == key) q.power -= p.power;
      }
    }
    std::erase_if(t.factors, [](const Power& p) { return p.power == 0; });
  }
  return out;
}

}  // namespace isomer::verify

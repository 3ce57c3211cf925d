#include "verify/nf_collect.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace isomer::verify {

namespace {

using Keyed = std::vector<std::pair<TermKey, Term>>;

void Replace(Keyed& terms, size_t i, size_t j, std::vector<Term> with) {
  terms.erase(terms.begin() + j);
  terms.erase(terms.begin() + i);
  for (Term& t : with) {
    if (t.coefficient.IsZero()) continue;
    TermKey key = KeyOf(t);
    terms.emplace_back(std::move(key), std::move(t));
  }
}

// Two ranges of the variable, cut where the other begins or ends.
bool CombineRanges(Keyed& terms, size_t i, size_t j, int var, const Bound u,
                   const Bound v, Facts& facts) {
  const Term a = terms[i].second;
  const Polynomial other = terms[j].second.coefficient;
  auto with = [&](const DimExpr& lo, const DimExpr& hi,
                  const Polynomial& coefficient) {
    Term t = a;
    t.bound[var].lo = lo;
    t.bound[var].hi = hi;
    t.coefficient = coefficient;
    return t;
  };
  const Polynomial both = a.coefficient + other;
  auto is = [&](const DimExpr& e) { return facts.NonNegative(e); };
  if (facts.Zero(u.hi - v.lo) && a.coefficient == other) {
    if (!is(u.hi - u.lo) || !is(v.hi - v.lo)) return false;
    Replace(terms, i, j, {with(u.lo, v.hi, other)});
    return true;
  }
  if (facts.Zero(v.hi - u.lo) && a.coefficient == other) {
    if (!is(u.hi - u.lo) || !is(v.hi - v.lo)) return false;
    Replace(terms, i, j, {with(v.lo, u.hi, other)});
    return true;
  }
  // One holds the other, and neither coefficient would grow: only then does
  // cutting end.
  if (!both.IsZero()) return false;
  if (is(v.lo - u.lo) && is(u.hi - v.hi) && is(v.hi - v.lo)) {
    Replace(terms, i, j,
            {with(u.lo, v.lo, a.coefficient), with(v.hi, u.hi, a.coefficient)});
    return true;
  }
  if (is(u.lo - v.lo) && is(v.hi - u.hi) && is(u.hi - u.lo)) {
    Replace(terms, i, j, {with(v.lo, u.lo, other), with(u.hi, v.hi, other)});
    return true;
  }
  // They overlap: what both cover is gone.
  if (is(v.lo - u.lo) && is(u.hi - v.lo) && is(v.hi - u.hi)) {
    Replace(terms, i, j,
            {with(u.lo, v.lo, a.coefficient), with(u.hi, v.hi, other)});
    return true;
  }
  if (is(u.lo - v.lo) && is(v.hi - u.lo) && is(u.hi - v.hi)) {
    Replace(terms, i, j,
            {with(v.lo, u.lo, other), with(v.hi, u.hi, a.coefficient)});
    return true;
  }
  return false;
}

// Joins two terms that differ at most in one range and the coefficient.
bool Combine(Keyed& terms, size_t i, size_t j, Facts& facts) {
  const TermKey &x = terms[i].first, &y = terms[j].first;
  if (x.body != y.body || x.order.size() != y.order.size()) return false;
  const Term a = terms[i].second;
  const Term b = terms[j].second;
  // Coefficients may speak of the variables only if they are one variable.
  if (Mentions(DimExpr(a.coefficient), a.bound) ||
      Mentions(DimExpr(b.coefficient), b.bound)) {
    return false;
  }
  if (x.ranges == y.ranges) {
    Term t = a;
    t.coefficient = a.coefficient + b.coefficient;
    Replace(terms, i, j, {t});
    return true;
  }
  int differs = -1;
  for (size_t k = 0; k < x.ranges.size(); ++k) {
    if (x.ranges[k] == y.ranges[k]) continue;
    if (differs >= 0) return false;
    differs = static_cast<int>(k);
  }
  const Bound& u = a.bound[x.order[differs]];
  const Bound& v = b.bound[y.order[differs]];
  if (Mentions(u.lo, a.bound) || Mentions(u.hi, a.bound) ||
      Mentions(v.lo, b.bound) || Mentions(v.hi, b.bound)) {
    return false;
  }
  return CombineRanges(terms, i, j, x.order[differs], u, v, facts);
}

}  // namespace

Sum Collect(Sum s, Facts& facts) {
  std::vector<std::pair<TermKey, Term>> terms;
  for (Term& t : s) {
    if (t.coefficient.IsZero()) continue;
    TermKey key = KeyOf(t);
    terms.emplace_back(std::move(key), std::move(t));
  }
  bool changed = true;
  while (changed && facts.effort().Step()) {
    changed = false;
    for (size_t i = 0; i < terms.size() && !changed; ++i) {
      for (size_t j = i + 1; j < terms.size() && !changed; ++j) {
        changed = Combine(terms, i, j, facts);
      }
    }
  }
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.body, a.first.ranges) <
           std::tie(b.first.body, b.first.ranges);
  });
  Sum out;
  for (auto& [key, t] : terms) out.push_back(std::move(t));
  return out;
}

}  // namespace isomer::verify

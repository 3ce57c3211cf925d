#include "verify/nf_open.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace isomer::verify {

namespace {

std::optional<Obligation> OpenIn(const Sum& s, std::vector<std::string>& inner);

bool Free(const DimExpr& e, const std::vector<std::string>& inner) {
  const std::set<std::string> symbols = e.Symbols();
  return std::none_of(inner.begin(), inner.end(), [&](const std::string& v) {
    return symbols.count(v) > 0;
  });
}

std::optional<Obligation> OpenGuards(const std::vector<Obligation>& guards,
                                     const std::vector<std::string>& inner) {
  for (const Obligation& g : guards) {
    if (Free(g.expr, inner)) return g;
  }
  return std::nullopt;
}

// A guard on one variable whose bound could not be compared with its range.
std::optional<Obligation> OpenRange(const std::vector<Bound>& bound,
                                    const std::vector<Obligation>& guards,
                                    const std::vector<std::string>& inner) {
  for (const Obligation& g : guards) {
    if (g.kind == Obligation::kZero) continue;
    for (const Bound& b : bound) {
      const Atom atom = Atom::Symbol(b.var);
      if (g.expr.polynomial().Degree(atom) != 1) continue;
      const Polynomial factor = g.expr.polynomial().Coefficient(atom);
      const DimExpr rest = g.expr - DimExpr(factor) * DimExpr::Symbol(b.var);
      if (!Free(rest, inner)) continue;
      if (factor == Polynomial(1) && Free(b.lo, inner)) {
        return Obligation{Obligation::kNonNegative, -rest - b.lo};
      }
      if (factor == Polynomial(-1) && Free(b.hi, inner)) {
        return Obligation{Obligation::kNonNegative, b.hi - rest - 1};
      }
    }
  }
  return std::nullopt;
}

std::optional<Obligation> OpenScope(
    const std::vector<Bound>& bound, const std::vector<Obligation>& guards,
    std::vector<std::string>& inner,
    const std::function<std::optional<Obligation>()>& inside) {
  const size_t before = inner.size();
  for (const Bound& b : bound) inner.push_back(b.var);
  auto found = OpenGuards(guards, inner);
  if (!found) found = inside();
  if (!found) found = OpenRange(bound, guards, inner);
  inner.resize(before);
  return found;
}

std::optional<Obligation> OpenIn(const Leaf& leaf,
                                 std::vector<std::string>& inner) {
  for (const Sum& s : leaf.args) {
    if (auto g = OpenIn(s, inner)) return g;
  }
  for (const Item& item : leaf.items) {
    auto inside = [&] { return OpenIn(*item.body, inner); };
    if (auto g = OpenScope(item.bound, item.guards, inner, inside)) return g;
  }
  return std::nullopt;
}

std::optional<Obligation> OpenIn(const Sum& s,
                                 std::vector<std::string>& inner) {
  for (const Term& t : s) {
    auto inside = [&]() -> std::optional<Obligation> {
      for (const Power& p : t.factors) {
        if (auto g = OpenIn(*p.leaf, inner)) return g;
      }
      return std::nullopt;
    };
    if (auto g = OpenScope(t.bound, t.guards, inner, inside)) return g;
  }
  return std::nullopt;
}

// The order of two ends of ranges of terms that are alike otherwise.
std::optional<Obligation> OpenEnds(const Sum& s, Facts& facts) {
  for (size_t i = 0; i < s.size(); ++i) {
    for (size_t j = i + 1; j < s.size(); ++j) {
      const TermKey x = KeyOf(s[i]), y = KeyOf(s[j]);
      if (x.body != y.body) continue;
      for (size_t k = 0; k < x.order.size(); ++k) {
        const Bound &u = s[i].bound[x.order[k]], &v = s[j].bound[y.order[k]];
        for (const DimExpr& e : {u.lo - v.lo, u.hi - v.hi, u.lo - v.hi,
                                 u.hi - v.lo, u.hi - u.lo, v.hi - v.lo}) {
          if (Mentions(e, s[i].bound) || Mentions(e, s[j].bound)) continue;
          if (!facts.Sign(e)) return Obligation{Obligation::kNonNegative, e};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Sum> OrderIn(const Leaf& leaf) {
  for (const Sum& arg : leaf.args) {
    if (auto found = OpenOrder(arg)) return found;
  }
  std::vector<const Sum*> plain;
  for (const Item& item : leaf.items) {
    if (!item.bound.empty() || !item.guards.empty()) continue;
    if (auto found = OpenOrder(*item.body)) return found;
    plain.push_back(item.body.get());
  }
  if (leaf.kind != Leaf::Kind::kMax || plain.size() < 2) return std::nullopt;
  return Add(*plain[0], Scale(*plain[1], Polynomial(-1)));
}

}  // namespace

std::optional<Obligation> OpenCondition(const Sum& s, Facts& facts) {
  std::vector<std::string> inner;
  if (auto g = OpenIn(s, inner)) return g;
  return OpenEnds(s, facts);
}

std::optional<Sum> OpenOrder(const Sum& s) {
  for (const Term& t : s) {
    for (const Power& p : t.factors) {
      auto found = OrderIn(*p.leaf);
      if (!found) continue;
      // Of values for each index of a sum nothing is decided at once.
      std::set<std::string> symbols;
      FreeSymbols(*found, symbols);
      if (std::none_of(t.bound.begin(), t.bound.end(), [&](const Bound& b) {
            return symbols.count(b.var) > 0;
          })) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace isomer::verify

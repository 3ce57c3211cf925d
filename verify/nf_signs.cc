#include "verify/nf_signs.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace isomer::verify {

namespace {

bool IsPositive(const Polynomial& p, Facts& facts) {
  if (auto c = p.constant()) return Rational(0) < *c;
  // A quotient of products of sizes has their sign.
  const auto monomials = p.AllMonomials();
  if (monomials.size() == 1) {
    if (!(Rational(0) < monomials[0].coefficient)) return false;
    return std::all_of(monomials[0].factors.begin(), monomials[0].factors.end(),
                       [&](const Factor& f) {
                         return facts.Positive(DimExpr(Polynomial(f.atom)));
                       });
  }
  return facts.Positive(DimExpr(p));
}

bool MayBeEmpty(const Item& item, NormalContext& c) {
  return !item.guards.empty() ||
         std::any_of(item.bound.begin(), item.bound.end(), [&](const Bound& b) {
           return !c.facts.Positive(b.hi - b.lo);
         });
}

bool AtLeast0(const Leaf& leaf, NormalContext& c) {
  if (leaf.kind == Leaf::Kind::kMax) {
    return std::any_of(
        leaf.items.begin(), leaf.items.end(),
        [&](const Item& i) { return !MayBeEmpty(i, c) && i.body->empty(); });
  }
  return IsIndicator(leaf) ||
         (leaf.kind == Leaf::Kind::kFunction && leaf.name == "sqrt");
}

}  // namespace

bool IsIndicator(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kFunction &&
         (leaf.name == "truth" || leaf.name == "less" || leaf.name == "equal" ||
          leaf.name == "is_nan");
}

bool IsPositive(const Leaf& leaf, NormalContext& c) {
  switch (leaf.kind) {
    case Leaf::Kind::kInput:
      return c.positive.count(leaf.name) > 0;
    case Leaf::Kind::kConstant:
      return absl::StartsWith(leaf.name, "+");
    case Leaf::Kind::kFunction:
      if (leaf.name == "exp") return true;
      return leaf.name == "sqrt" && IsPositive(leaf.args[0], c);
    case Leaf::Kind::kInverse:
      return IsPositive(leaf.args[0], c);
    case Leaf::Kind::kMax:
      return std::any_of(leaf.items.begin(), leaf.items.end(),
                         [&](const Item& i) {
                           return !MayBeEmpty(i, c) && IsPositive(*i.body, c);
                         });
    case Leaf::Kind::kProduct:
      return false;
  }
  return false;
}

// Each term is at least 0 and one of them above it.
bool IsPositive(const Sum& s, NormalContext& c) {
  bool above = false;
  for (const Term& t : s) {
    bool positive = IsPositive(t.coefficient, c.facts) && t.guards.empty();
    bool nonnegative = IsPositive(t.coefficient, c.facts);
    for (const Power& p : t.factors) {
      const bool leaf = IsPositive(*p.leaf, c);
      positive = positive && leaf;
      nonnegative =
          nonnegative && (leaf || p.power % 2 == 0 || AtLeast0(*p.leaf, c));
    }
    if (!nonnegative) return false;
    for (const Bound& b : t.bound) {
      positive = positive && c.facts.Positive(b.hi - b.lo);
    }
    above = above || positive;
  }
  return above;
}

bool IsNonZero(const Sum& s, NormalContext& c) {
  if (IsPositive(s, c)) return true;
  Sum negative = Scale(s, Polynomial(-1));
  if (IsPositive(negative, c)) return true;
  if (s.size() != 1 || !s[0].bound.empty() || !s[0].guards.empty())
    return false;
  return (IsPositive(s[0].coefficient, c.facts) ||
          IsPositive(-s[0].coefficient, c.facts)) &&
         std::all_of(s[0].factors.begin(), s[0].factors.end(),
                     [&](const Power& p) {
                       return IsPositive(*p.leaf, c) ||
                              p.leaf->kind == Leaf::Kind::kInverse;
                     });
}

}  // namespace isomer::verify

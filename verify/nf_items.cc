#include "verify/nf_items.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "verify/nf_collect.h"

namespace isomer::verify {

namespace {

// One value, under no condition of its own.
bool IsPlain(const Item& item) {
  return item.bound.empty() && item.guards.empty();
}

// The sum over a positive number, such that multiples look alike but for the
// number in them.
Sum Unscaled(const Sum& s) {
  for (const Term& t : s) {
    if (t.factors.empty()) continue;
    const auto c = Content(t.coefficient).coefficient;
    return Scale(s, Polynomial(Rational(1) / (c < Rational(0) ? -c : c)));
  }
  return s;
}

Sum Minus(const Sum& a, const Sum& b, NormalContext& c) {
  return Collect(Add(a, Scale(b, Polynomial(-1))), c.facts);
}

bool IsAtLeast0(const Sum& s) {
  const auto number = NumberOf(s);
  const auto c = number ? number->constant() : std::nullopt;
  return c && !(*c < Rational(0));
}

// True if it is one of what is ordered, or the sum of two of these, or more
// than that by a number.
bool KnownOrder(const Sum& s, NormalContext& c) {
  const Sum goal = Unscaled(s);
  for (const Sum& a : c.ordered) {
    const Sum rest = Minus(goal, Unscaled(a), c);
    if (IsAtLeast0(rest)) return true;
    for (const Sum& b : c.ordered) {
      if (IsAtLeast0(Minus(rest, Unscaled(b), c))) return true;
    }
  }
  return false;
}

// max(a, b) = a in a branch where a >= b.
void DropLower(std::vector<Item>& items, NormalContext& c) {
  if (c.ordered.empty()) return;
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = 0; j < items.size();) {
      if (i == j || !IsPlain(items[i]) || !IsPlain(items[j]) ||
          !KnownOrder(Minus(*items[i].body, *items[j].body, c), c)) {
        ++j;
        continue;
      }
      items.erase(items.begin() + j);
      if (j < i) --i;
    }
  }
}

// Makes `a` the union of both if that is one set of the same kind; x and y are
// their keys.
bool Covered(Item& a, const TermKey& x, const Item& b, const TermKey& y,
             NormalContext& c) {
  if (x.body != y.body || x.order.size() != y.order.size()) return false;
  Substitution names;
  for (size_t i = 0; i < x.order.size(); ++i) {
    names[b.bound[y.order[i]].var] = DimExpr::Symbol(a.bound[x.order[i]].var);
  }
  int differs = -1;
  std::vector<Bound> other;
  for (size_t i = 0; i < x.order.size(); ++i) {
    const Bound& v = b.bound[y.order[i]];
    other.push_back({"", v.lo.Substitute(names), v.hi.Substitute(names)});
    const Bound& u = a.bound[x.order[i]];
    if (u.lo == other[i].lo && u.hi == other[i].hi) continue;
    if (differs >= 0) return false;
    differs = static_cast<int>(i);
  }
  if (differs < 0) return true;
  if (c.light) return false;
  Bound& u = a.bound[x.order[differs]];
  const Bound& v = other[differs];
  // They touch or overlap, and their ends are in order.
  if (!c.facts.NonNegative(u.hi - v.lo) || !c.facts.NonNegative(v.hi - u.lo)) {
    return false;
  }
  auto low = c.facts.Sign(v.lo - u.lo), high = c.facts.Sign(u.hi - v.hi);
  if (!low || !high) return false;
  if (!*low) u.lo = v.lo;
  if (!*high) u.hi = v.hi;
  return true;
}

void DropSmallerNumbers(std::vector<Item>& items) {
  std::optional<Rational> greatest;
  for (const Item& item : items) {
    const auto n = NumberOf(*item.body);
    const auto c = n ? n->constant() : std::nullopt;
    if (c && (!greatest || *greatest < *c)) greatest = c;
  }
  if (!greatest) return;
  bool kept = false;
  std::erase_if(items, [&](const Item& item) {
    const auto n = NumberOf(*item.body);
    const auto c = n ? n->constant() : std::nullopt;
    if (!c) return false;
    const bool keep = *c == *greatest && !kept;
    kept = kept || keep;
    return !keep;
  });
}

std::vector<std::string> KeysOf(const Sum& s) {
  std::vector<std::string> keys;
  for (const Term& t : s) keys.push_back(KeyOf(t).Text());
  return keys;
}

// Where a sum, of which the keys are given, has a term, of which the key is; -1
// if it has not.
int FindTerm(const Sum& s, const std::vector<std::string>& keys, const Term& t,
             const std::string& key) {
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i].coefficient == t.coefficient && keys[i] == key) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace

Term AsTerm(const Item& item) {
  Leaf body{Leaf::Kind::kFunction, "item", {}, {*item.body}};
  return {1,
          item.bound,
          item.guards,
          {{std::make_shared<const Leaf>(std::move(body)), 1}}};
}

Item AsItem(const Term& t) {
  return {t.bound, t.guards,
          std::make_shared<const Sum>(t.factors[0].leaf->args[0])};
}

void MergeItems(std::vector<Item>& items, NormalContext& c) {
  std::vector<TermKey> keys;
  for (const Item& item : items) keys.push_back(KeyOf(AsTerm(item)));
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = i + 1; j < items.size();) {
      if (!Covered(items[i], keys[i], items[j], keys[j], c)) {
        ++j;
        continue;
      }
      items.erase(items.begin() + j);
      keys.erase(keys.begin() + j);
      keys[i] = KeyOf(AsTerm(items[i]));
      j = i + 1;
    }
  }
  DropSmallerNumbers(items);
  DropLower(items, c);
}

std::vector<Term> CommonTerms(const std::vector<Item>& items,
                              const std::vector<Bound>& inner) {
  std::vector<std::vector<std::string>> keys;
  for (const Item& item : items) keys.push_back(KeysOf(*item.body));
  std::vector<Term> out;
  for (size_t n = 0; n < items[0].body->size(); ++n) {
    const Term& t = (*items[0].body)[n];
    bool everywhere = true;
    for (size_t i = 1; i < items.size() && everywhere; ++i) {
      everywhere = FindTerm(*items[i].body, keys[i], t, keys[0][n]) >= 0;
    }
    if (!everywhere) continue;
    std::set<std::string> symbols;
    FreeSymbols(t, symbols);
    const bool local =
        std::any_of(inner.begin(), inner.end(),
                    [&](const Bound& b) { return symbols.count(b.var) > 0; });
    if (!local) out.push_back(t);
  }
  return out;
}

std::shared_ptr<const Sum> RemoveTerm(Sum s, const Term& t) {
  const int at = FindTerm(s, KeysOf(s), t, KeyOf(t).Text());
  if (at >= 0) s.erase(s.begin() + at);
  return std::make_shared<const Sum>(std::move(s));
}

}  // namespace isomer::verify

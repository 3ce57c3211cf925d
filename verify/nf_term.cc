// Keys: variables are ordered by how they are used, ties by trying all orders;
// inside a factor, deeper levels number their own variables apart.
#include "verify/nf_term.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::verify {

namespace {

constexpr int kMaxOrders = 720;  // of variables that look alike

// ---- Walking

template <class T, class F>
std::vector<T> Map(const std::vector<T>& list, F f) {
  std::vector<T> out;
  out.reserve(list.size());
  for (const T& x : list) out.push_back(f(x));
  return out;
}

std::vector<Bound> MapBounds(const std::vector<Bound>& bound,
                             const ExprMap& f) {
  return Map(bound, [&](const Bound& b) {
    return Bound{b.var, f(b.lo), f(b.hi)};
  });
}

std::vector<Obligation> MapGuards(const std::vector<Obligation>& guards,
                                  const ExprMap& f) {
  return Map(guards, [&](const Obligation& g) {
    return Obligation{g.kind, f(g.expr)};
  });
}

Term MapTerm(const Term& t, const ExprMap& f);

Leaf MapLeaf(const Leaf& leaf, const ExprMap& f) {
  Leaf out{leaf.kind, leaf.name, Map(leaf.index, f)};
  out.args = Map(leaf.args, [&](const Sum& s) { return MapExprs(s, f); });
  out.items = Map(leaf.items, [&](const Item& item) {
    return Item{MapBounds(item.bound, f), MapGuards(item.guards, f),
                std::make_shared<const Sum>(MapExprs(*item.body, f))};
  });
  return out;
}

Term MapTerm(const Term& t, const ExprMap& f) {
  return {f(DimExpr(t.coefficient)).polynomial(), MapBounds(t.bound, f),
          MapGuards(t.guards, f), Map(t.factors, [&](const Power& p) {
            return Power{std::make_shared<const Leaf>(MapLeaf(*p.leaf, f)),
                         p.power};
          })};
}

ExprMap Replacing(const Substitution& values) {
  return [&values](const DimExpr& e) { return e.Substitute(values); };
}

// ---- Keys

using Renaming = Substitution;

DimExpr Numbered(int level, int position) {
  return DimExpr::Symbol(absl::StrCat("$", level, ".", position));
}

std::string ExprText(const DimExpr& e, const Renaming& names) {
  return names.empty() ? e.ToString() : e.Substitute(names).ToString();
}

std::string GuardText(const Obligation& g, const Renaming& names) {
  return absl::StrCat(ExprText(g.expr, names),
                      g.kind == Obligation::kZero ? "=0" : ">=0");
}

std::string SumText(const Sum& s, const Renaming& names, int level);
TermKey TermText(
    const std::vector<Bound>& bound, const std::vector<Obligation>& guards,
    absl::FunctionRef<std::vector<std::string>(const Renaming&)> factors,
    const Renaming& outer, int level);

std::string ItemText(const Item& item, const Renaming& names, int level) {
  auto body = [&](const Renaming& inner) {
    return std::vector<std::string>{SumText(*item.body, inner, level + 1)};
  };
  return TermText(item.bound, item.guards, body, names, level).Text();
}

std::string LeafText(const Leaf& leaf, const Renaming& names, int level) {
  std::vector<std::string> parts;
  switch (leaf.kind) {
    case Leaf::Kind::kConstant:
      return leaf.name;
    case Leaf::Kind::kInput:
      for (const DimExpr& e : leaf.index) parts.push_back(ExprText(e, names));
      return absl::StrCat(leaf.name, "[", absl::StrJoin(parts, ","), "]");
    case Leaf::Kind::kFunction:
    case Leaf::Kind::kInverse:
      for (const Sum& s : leaf.args) parts.push_back(SumText(s, names, level));
      return absl::StrCat(leaf.name, "(", absl::StrJoin(parts, ", "), ")");
    case Leaf::Kind::kMax:
    case Leaf::Kind::kProduct:
      for (const Item& item : leaf.items) {
        parts.push_back(ItemText(item, names, level));
      }
      std::sort(parts.begin(), parts.end());
      return absl::StrCat(leaf.name, "{", absl::StrJoin(parts, "; "), "}");
  }
  return "";
}

std::vector<std::string> FactorTexts(const std::vector<Power>& factors,
                                     const Renaming& names, int level) {
  std::vector<std::string> out;
  for (const Power& p : factors) {
    std::string text = LeafText(*p.leaf, names, level);
    if (p.power != 1) absl::StrAppend(&text, "^", p.power);
    out.push_back(std::move(text));
  }
  return out;
}

TermKey TermText(const Term& t, const Renaming& outer, int level) {
  auto factors = [&](const Renaming& names) {
    return FactorTexts(t.factors, names, level + 1);
  };
  return TermText(t.bound, t.guards, factors, outer, level);
}

std::string SumText(const Sum& s, const Renaming& names, int level) {
  std::vector<std::string> parts;
  for (const Term& t : s) {
    parts.push_back(absl::StrCat(ExprText(DimExpr(t.coefficient), names), "*",
                                 TermText(t, names, level).Text()));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "0" : absl::StrJoin(parts, " + ");
}

// How each variable is used, whatever the names of the others.
std::vector<std::string> Uses(
    const std::vector<Bound>& bound, const std::vector<Obligation>& guards,
    absl::FunctionRef<std::vector<std::string>(const Renaming&)> factors,
    const Renaming& outer) {
  std::vector<std::string> uses;
  for (const Bound& v : bound) {
    Renaming names = outer;
    for (const Bound& b : bound) {
      names[b.var] = DimExpr::Symbol(b.var == v.var ? "@" : "_");
    }
    std::vector<std::string> texts = factors(names);
    for (const Obligation& g : guards) texts.push_back(GuardText(g, names));
    std::sort(texts.begin(), texts.end());
    uses.push_back(absl::StrJoin(texts, "*"));
  }
  // Ranges only decide between variables that are used alike.
  for (size_t i = 0; i < bound.size(); ++i) {
    Renaming names = outer;
    for (const Bound& b : bound) names[b.var] = DimExpr::Symbol("_");
    absl::StrAppend(&uses[i], " in ", ExprText(bound[i].lo, names), "..",
                    ExprText(bound[i].hi, names));
  }
  return uses;
}

// The next order in which only members of a class change places; false after
// the last. Each class is a stretch that begins where `classes` says.
bool NextOrder(const std::vector<size_t>& classes, std::vector<int>& order) {
  size_t end = order.size();
  for (size_t i = classes.size(); i-- > 0; end = classes[i]) {
    if (std::next_permutation(order.begin() + classes[i],
                              order.begin() + end)) {
      return true;
    }
  }
  return false;
}

TermKey TermText(
    const std::vector<Bound>& bound, const std::vector<Obligation>& guards,
    absl::FunctionRef<std::vector<std::string>(const Renaming&)> factors,
    const Renaming& outer, int level) {
  auto in_order = [&](const std::vector<int>& order) {
    Renaming names = outer;
    for (size_t i = 0; i < order.size(); ++i) {
      names[bound[order[i]].var] = Numbered(level, static_cast<int>(i));
    }
    std::vector<std::string> texts = factors(names);
    std::sort(texts.begin(), texts.end());
    std::vector<std::string> conditions;
    for (const Obligation& g : guards) {
      conditions.push_back(GuardText(g, names));
    }
    std::sort(conditions.begin(), conditions.end());
    TermKey key{absl::StrJoin(texts, "*"), {}, order};
    if (!conditions.empty()) {
      absl::StrAppend(&key.body, " if ", absl::StrJoin(conditions, ","));
    }
    for (int i : order) {
      key.ranges.push_back(absl::StrCat(ExprText(bound[i].lo, names), "..",
                                        ExprText(bound[i].hi, names)));
    }
    return key;
  };
  std::vector<int> order(bound.size());
  std::iota(order.begin(), order.end(), 0);
  if (bound.size() < 2) return in_order(order);
  const std::vector<std::string> uses = Uses(bound, guards, factors, outer);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::tie(uses[a], a) < std::tie(uses[b], b);
  });
  // Where variables that are used alike begin.
  std::vector<size_t> classes = {0};
  for (size_t i = 1; i < order.size(); ++i) {
    if (uses[order[i - 1]] != uses[order[i]]) classes.push_back(i);
  }
  TermKey best = in_order(order);
  for (int tried = 1; tried < kMaxOrders && NextOrder(classes, order);
       ++tried) {
    TermKey key = in_order(order);
    if (std::tie(key.body, key.ranges) < std::tie(best.body, best.ranges)) {
      best = std::move(key);
    }
  }
  return best;
}

}  // namespace

// ---- Building

Sum NumberSum(const Polynomial& value) {
  if (value.IsZero()) return {};
  return {Term{value}};
}

Sum LeafSum(Leaf leaf) {
  return {
      Term{1, {}, {}, {{std::make_shared<const Leaf>(std::move(leaf)), 1}}}};
}

Sum Add(Sum a, const Sum& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Sum Scale(Sum a, const Polynomial& factor) {
  if (factor.IsZero()) return {};
  for (Term& t : a) t.coefficient = t.coefficient * factor;
  return a;
}

namespace {

Term Renamed(const Term& t, Names& names) {
  if (t.bound.empty()) return t;
  Substitution fresh;
  std::vector<std::string> vars;
  for (const Bound& b : t.bound) {
    vars.push_back(names.Fresh());
    fresh[b.var] = DimExpr::Symbol(vars.back());
  }
  Term out = MapTerm(t, Replacing(fresh));
  for (size_t i = 0; i < vars.size(); ++i) out.bound[i].var = vars[i];
  return out;
}

}  // namespace

Sum Multiply(const Sum& a, const Sum& b, Names& names) {
  Sum out;
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term t = Renamed(x, names), u = Renamed(y, names);
      t.coefficient = t.coefficient * u.coefficient;
      t.bound.insert(t.bound.end(), u.bound.begin(), u.bound.end());
      t.guards.insert(t.guards.end(), u.guards.begin(), u.guards.end());
      t.factors.insert(t.factors.end(), u.factors.begin(), u.factors.end());
      out.push_back(std::move(t));
    }
  }
  return out;
}

Sum Guarded(Sum a, const Obligation& guard) {
  for (Term& t : a) t.guards.push_back(guard);
  return a;
}

std::optional<Polynomial> NumberOf(const Sum& s) {
  if (s.empty()) return Polynomial(0);
  if (s.size() > 1 || !s[0].bound.empty() || !s[0].guards.empty() ||
      !s[0].factors.empty()) {
    return std::nullopt;
  }
  return s[0].coefficient;
}

// ---- Looking and replacing

namespace {

void NoteSymbols(const DimExpr& e, std::set<std::string>& out) {
  for (const std::string& s : e.Symbols()) out.insert(s);
}

void NoteScope(const std::vector<Bound>& bound,
               const std::vector<Obligation>& guards,
               std::set<std::string> inner, std::set<std::string>& out) {
  for (const Obligation& g : guards) NoteSymbols(g.expr, inner);
  for (const Bound& b : bound) {
    NoteSymbols(b.lo, inner);
    NoteSymbols(b.hi, inner);
  }
  for (const Bound& b : bound) inner.erase(b.var);
  out.insert(inner.begin(), inner.end());
}

}  // namespace

void FreeSymbols(const Leaf& leaf, std::set<std::string>& out) {
  for (const DimExpr& e : leaf.index) NoteSymbols(e, out);
  for (const Sum& s : leaf.args) FreeSymbols(s, out);
  for (const Item& item : leaf.items) {
    std::set<std::string> inner;
    FreeSymbols(*item.body, inner);
    NoteScope(item.bound, item.guards, std::move(inner), out);
  }
}

void FreeSymbols(const Term& t, std::set<std::string>& out) {
  std::set<std::string> inner;
  NoteSymbols(DimExpr(t.coefficient), inner);
  for (const Power& p : t.factors) FreeSymbols(*p.leaf, inner);
  NoteScope(t.bound, t.guards, std::move(inner), out);
}

void FreeSymbols(const Sum& s, std::set<std::string>& out) {
  for (const Term& t : s) FreeSymbols(t, out);
}

bool Mentions(const DimExpr& e, const std::vector<Bound>& bound) {
  if (bound.empty() || e.constant()) return false;
  const std::set<std::string> symbols = e.Symbols();
  return std::any_of(bound.begin(), bound.end(),
                     [&](const Bound& b) { return symbols.count(b.var); });
}

Sum MapExprs(const Sum& s, const ExprMap& f) {
  return Map(s, [&](const Term& t) { return MapTerm(t, f); });
}

Sum Substitute(const Sum& s, const Substitution& values) {
  return MapExprs(s, Replacing(values));
}

Term Substitute(const Term& t, const Substitution& values) {
  return MapTerm(t, Replacing(values));
}

Leaf Substitute(const Leaf& leaf, const Substitution& values) {
  return MapLeaf(leaf, Replacing(values));
}

// ---- Comparing

std::string TermKey::Text() const {
  if (ranges.empty()) return body;
  return absl::StrCat("sum(", absl::StrJoin(ranges, ","), ") ", body);
}

TermKey KeyOf(const Term& t) { return TermText(t, {}, 0); }
std::string KeyOf(const Sum& s) { return SumText(s, {}, 0); }
std::string KeyOf(const Leaf& leaf) { return LeafText(leaf, {}, 0); }

}  // namespace isomer::verify

#include "verify/nf_normalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "verify/nf_collect.h"
#include "verify/nf_signs.h"
#include "verify/nf_simplify.h"
#include "verify/scalar_facts.h"

namespace isomer::verify {

namespace {

constexpr int kMaxPower = 8;    // that is multiplied out
constexpr int kMaxSplits = 24;  // inside one another
constexpr int kMaxLightSplits = 4;

// The conditions that a case split on `g` distinguishes.
std::vector<Obligation> Branches(const Obligation& g) {
  if (g.kind == Obligation::kZero) {
    return {g,
            {Obligation::kNonNegative, g.expr - 1},
            {Obligation::kNonNegative, -g.expr - 1}};
  }
  return {g, {Obligation::kNonNegative, -g.expr - 1}};
}

bool SingleTerm(const Sum& s) {
  return s.size() == 1 && s[0].bound.empty() && s[0].guards.empty();
}

// A guard of a term in `s` that does not speak of the term's own variables.
std::optional<Obligation> Liftable(const Sum& s) {
  for (const Term& t : s) {
    for (const Obligation& g : t.guards) {
      if (!Mentions(g.expr, t.bound)) return g;
    }
  }
  return std::nullopt;
}

// True if the sum is that function of something, and nothing else.
bool IsFunction(const Sum& s, absl::string_view name) {
  return SingleTerm(s) && s[0].coefficient == Polynomial(1) &&
         s[0].factors.size() == 1 && s[0].factors[0].power == 1 &&
         s[0].factors[0].leaf->kind == Leaf::Kind::kFunction &&
         s[0].factors[0].leaf->name == name;
}

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

class Normalizer {
 public:
  explicit Normalizer(NormalContext& c) : c_(c) {}

  Sum OfSum(const Sum& s) {
    Sum out;
    for (const Term& t : s) {
      Sum terms = OfTerm(t);
      out.insert(out.end(), terms.begin(), terms.end());
    }
    return Collected(std::move(out));
  }

 private:
  Sum Collected(Sum s) { return Collect(std::move(s), c_.facts); }

  // ---- Terms

  // False: the term is 0, or the set is empty.
  bool Simplify(Term& t, Counting counting) {
    if (c_.light) return DecideGuards(t);
    return SimplifyTerm(t, c_.facts, c_.names, counting);
  }

  void AddFacts(const Term& t) {
    if (!c_.light) AddTermFacts(t.bound, t.guards, c_.facts);
  }

  // Removes conditions that hold, or that are there twice.
  bool DecideGuards(Term& t) {
    std::vector<Obligation> open;
    for (const Obligation& g : t.guards) {
      if (std::find(open.begin(), open.end(), g) != open.end()) continue;
      if (!Mentions(g.expr, t.bound)) {
        const std::vector<Obligation> branches = Branches(g);
        if (Holds(branches[0])) continue;
        for (size_t k = 1; k < branches.size(); ++k) {
          if (Holds(branches[k])) return false;
        }
      }
      open.push_back(g);
    }
    t.guards = std::move(open);
    return true;
  }

  bool Holds(const Obligation& g) {
    return g.kind == Obligation::kZero ? c_.facts.Zero(g.expr)
                                       : c_.facts.NonNegative(g.expr);
  }

  Sum OfTerm(Term t) {
    if (!c_.facts.effort().Step()) return {std::move(t)};
    if (t.coefficient.IsZero() || !Simplify(t, Counting::kEach)) return {};
    Sum product = {Term{t.coefficient, t.bound, t.guards, {}}};
    {
      Facts::Scope scope(c_.facts);
      AddFacts(t);
      Sum factors = NumberSum(1);
      for (const Power& p : t.factors) {
        factors = Multiply(factors, OfPower(p), c_.names);
      }
      // Not Multiply: the factors speak of the term's variables.
      Sum joined;
      for (const Term& f : factors) {
        Term u = product[0];
        u.coefficient = u.coefficient * f.coefficient;
        u.bound.insert(u.bound.end(), f.bound.begin(), f.bound.end());
        u.guards.insert(u.guards.end(), f.guards.begin(), f.guards.end());
        u.factors = f.factors;
        joined.push_back(std::move(u));
      }
      product = std::move(joined);
    }
    Sum out;
    for (Term& u : product) {
      Sum merged = MergeFactors(u);
      for (Term& m : merged) {
        if (m.coefficient.IsZero()) continue;
        if (Simplify(m, Counting::kEach)) out.push_back(std::move(m));
      }
    }
    return out;
  }

  // Equal factors become powers, and powers of some functions something else.
  Sum MergeFactors(const Term& t) {
    Term out{t.coefficient, t.bound, t.guards, {}};
    std::map<std::string, size_t> seen;
    for (const Power& p : t.factors) {
      auto [it, added] = seen.emplace(KeyOf(*p.leaf), out.factors.size());
      if (added) {
        out.factors.push_back(p);
      } else {
        out.factors[it->second].power += p.power;
      }
    }
    std::optional<Power> root;
    std::erase_if(out.factors, [&](Power& p) {
      if (IsIndicator(*p.leaf) && p.power > 1) p.power = 1;
      const bool sqrt =
          p.leaf->kind == Leaf::Kind::kFunction && p.leaf->name == "sqrt";
      if (!root && sqrt && (p.power >= 2 || p.power <= -2)) {
        root = p;
        return true;
      }
      return p.power == 0;
    });
    if (!root) return {out};
    // sqrt(x)^2 = x: whole squares leave the root.
    Use(ScalarFact::kRootSquared);
    const int squares = root->power / 2, rest = root->power % 2;
    if (rest != 0) out.factors.push_back({root->leaf, rest});
    Sum base = root->leaf->args[0];
    if (squares < 0) base = Inverse(base);
    Sum value = NumberSum(1);
    for (int i = 0; i < std::abs(squares); ++i) {
      value = Multiply(value, base, c_.names);
    }
    Sum result;
    for (const Term& v : value) {
      Term u = out;
      u.coefficient = u.coefficient * v.coefficient;
      u.bound.insert(u.bound.end(), v.bound.begin(), v.bound.end());
      u.guards.insert(u.guards.end(), v.guards.begin(), v.guards.end());
      u.factors.insert(u.factors.end(), v.factors.begin(), v.factors.end());
      Sum more = MergeFactors(u);
      result.insert(result.end(), more.begin(), more.end());
    }
    return result;
  }

  // ---- Factors

  Sum OfPower(const Power& p) {
    Sum base = OfLeaf(*p.leaf);
    if (base.size() == 1 && SingleTerm(base) && base[0].factors.size() == 1 &&
        base[0].coefficient == Polynomial(1)) {
      base[0].factors[0].power *= p.power;
      return base;
    }
    Sum out = NumberSum(1);
    if (p.power < 0) base = Inverse(base);
    for (int i = 0; i < std::abs(p.power); ++i) {
      out = Multiply(out, base, c_.names);
    }
    return out;
  }

  Sum OfLeaf(const Leaf& leaf) {
    switch (leaf.kind) {
      case Leaf::Kind::kInput:
      case Leaf::Kind::kConstant:
        return LeafSum(leaf);
      case Leaf::Kind::kFunction:
      case Leaf::Kind::kInverse:
        return OfFunction(leaf);
      case Leaf::Kind::kMax:
        return OfMax(leaf);
      case Leaf::Kind::kProduct:
        return OfProduct(leaf);
    }
    return LeafSum(leaf);
  }

  bool MaySplit() const {
    return depth_ < (c_.light ? kMaxLightSplits : kMaxSplits);
  }

  // The leaf under each branch of a condition, guarded by it.
  Sum SplitOn(const Obligation& g, const Leaf& leaf) {
    if (!c_.facts.effort().Step()) return LeafSum(leaf);
    ++depth_;
    Sum out;
    for (const Obligation& branch : Branches(g)) {
      Facts::Scope scope(c_.facts);
      c_.facts.Add(branch);
      Sum part = Guarded(OfLeaf(leaf), branch);
      out.insert(out.end(), part.begin(), part.end());
    }
    --depth_;
    return out;
  }

  Sum OfFunction(const Leaf& leaf) {
    Leaf out{leaf.kind, leaf.name};
    for (const Sum& arg : leaf.args) {
      out.args.push_back(OfSum(arg));
      const auto g = Liftable(out.args.back());
      if (g && MaySplit()) return SplitOn(*g, leaf);
    }
    if (leaf.kind == Leaf::Kind::kInverse) return Inverse(out.args[0]);
    return Apply(out.name, std::move(out.args));
  }

  // Functions of numbers, and the axioms about functions.
  Sum Apply(const std::string& name, std::vector<Sum> args) {
    const auto number =
        args.size() == 1 ? NumberOf(args[0]) : std::optional<Polynomial>();
    if (number) {
      if (auto known = FunctionAt(name, *number)) {
        c_.axioms.insert(known->fact);
        return NumberSum(known->value);
      }
    }
    if (auto fact = TwiceIsOnce(name); fact && IsFunction(args[0], name)) {
      Use(*fact);
      return args[0];
    }
    if (name == "equal") return Equal(std::move(args[0]));
    if (name == "exp") return Exp(args[0]);
    if (name == "log") {
      if (auto inner = LogOfExp(args[0])) return *inner;
    }
    if (name == "pow") {
      if (auto value = PowOf(args)) return *value;
    }
    return LeafSum({Leaf::Kind::kFunction, name, {}, std::move(args)});
  }

  void Use(ScalarFact fact) { c_.axioms.insert(FactText(fact)); }

  // Whether a difference is 0, which does not depend on its sign.
  static Sum Equal(Sum difference) {
    Sum negative = Scale(difference, Polynomial(-1));
    const bool turn = KeyOf(negative) < KeyOf(difference);
    return LeafSum({Leaf::Kind::kFunction,
                    "equal",
                    {},
                    {turn ? std::move(negative) : std::move(difference)}});
  }

  // exp(a + b) = exp(a) * exp(b); a whole coefficient becomes a power.
  Sum Exp(const Sum& arg) {
    Term out;
    for (const Term& t : arg) {
      Term u = t;
      int power = 1;
      if (auto c = u.coefficient.constant();
          c && c->IsInteger() && std::abs(c->num()) <= kMaxPower) {
        power = static_cast<int>(c->num());
        u.coefficient = 1;
      } else if (Leading(u.coefficient) < Rational(0)) {
        u.coefficient = -u.coefficient;
        power = -1;
      }
      if (u.factors.empty() && power != 1) {  // exp(3): one number
        u.coefficient = t.coefficient;
        power = 1;
      }
      out.factors.push_back({std::make_shared<const Leaf>(
                                 Leaf{Leaf::Kind::kFunction, "exp", {}, {{u}}}),
                             power});
    }
    if (arg.size() > 1) Use(ScalarFact::kExpOfSum);
    return {out};
  }

  static Rational Leading(const Polynomial& p) {
    return p.monomials().empty() ? p.constant_term()
                                 : p.monomials()[0].coefficient;
  }

  std::optional<Sum> LogOfExp(const Sum& arg) {
    if (!SingleTerm(arg) || !(arg[0].coefficient == Polynomial(1)) ||
        arg[0].factors.empty()) {
      return std::nullopt;
    }
    Sum out;
    for (const Power& p : arg[0].factors) {
      if (p.leaf->kind != Leaf::Kind::kFunction || p.leaf->name != "exp") {
        return std::nullopt;
      }
      out = Add(std::move(out), Scale(p.leaf->args[0], Polynomial(p.power)));
    }
    Use(ScalarFact::kLogOfExp);
    return Collected(std::move(out));
  }

  std::optional<Sum> PowOf(const std::vector<Sum>& args) {
    const auto exponent = NumberOf(args[1]);
    const auto c = exponent ? exponent->constant() : std::nullopt;
    if (!c || !c->IsInteger() || std::abs(c->num()) > kMaxPower) {
      return std::nullopt;
    }
    Sum base = c->num() < 0 ? Inverse(args[0]) : args[0];
    Sum out = NumberSum(1);
    for (int64_t i = 0; i < std::abs(c->num()); ++i) {
      out = Multiply(out, base, c_.names);
    }
    return Collected(std::move(out));
  }

  // ---- Inverses

  // What divides every term: a positive number, and factors to a power.
  struct Common {
    Polynomial number = 1;
    std::vector<Power> factors;
  };

  // `positive_only`: factors that are not known to be above zero stay.
  Common CommonFactor(const std::vector<const Sum*>& sums,
                      const std::vector<Bound>& inner, bool positive_only) {
    Common common;
    std::optional<Monomial> content;
    std::vector<Power> shared;
    bool first = true;
    for (const Sum* s : sums) {
      for (const Term& t : *s) {
        const Monomial m = Content(t.coefficient);
        content = content ? Gcd(*content, m) : Positive(m);
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
      if (positive_only && !IsPositive(*p.leaf, c_)) continue;
      common.factors.push_back(std::move(p));
    }
    return common;
  }

  // The part of a monomial that is known to be above zero.
  Monomial Positive(const Monomial& m) {
    Monomial out = m.Only([&](const Factor& f) {
      return c_.facts.Positive(DimExpr(Polynomial(f.atom)));
    });
    if (out.coefficient < Rational(0)) out.coefficient = -out.coefficient;
    return out;
  }

  Monomial Gcd(const Monomial& a, const Monomial& unsigned_b) {
    const Monomial b = Positive(unsigned_b);
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

  static std::vector<Power> Shared(const std::vector<Power>& a,
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

  static void RemoveInner(std::vector<Power>& factors,
                          const std::vector<Bound>& inner) {
    std::erase_if(factors, [&](const Power& p) {
      std::set<std::string> symbols;
      FreeSymbols(*p.leaf, symbols);
      return std::any_of(inner.begin(), inner.end(), [&](const Bound& b) {
        return symbols.count(b.var) > 0;
      });
    });
  }

  static Sum Without(const Sum& s, const Common& common) {
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

  // 1 / s. Where s is 0 the inverse is undefined, which is what the callers
  // check apart.
  Sum Inverse(const Sum& s) {
    if (s.empty()) return LeafSum({Leaf::Kind::kInverse, "inv", {}, {s}});
    const Common common = CommonFactor({&s}, {}, false);
    Sum rest = Without(s, common);
    Term out{common.number.Pow(-1)};
    for (const Power& p : common.factors) {
      out.factors.push_back({p.leaf, -p.power});
    }
    if (SingleTerm(rest) && rest[0].factors.empty()) {
      const Polynomial& c = rest[0].coefficient;
      if (c.constant() || c.AllMonomials().size() == 1) {
        out.coefficient = out.coefficient * c.Pow(-1);
        return {out};
      }
    }
    out.factors.push_back({std::make_shared<const Leaf>(
                               Leaf{Leaf::Kind::kInverse, "inv", {}, {rest}}),
                           1});
    return {out};
  }

  // ---- Maxima and products

  static Term AsTerm(const Item& item) {
    Leaf body{Leaf::Kind::kFunction, "item", {}, {*item.body}};
    return {1,
            item.bound,
            item.guards,
            {{std::make_shared<const Leaf>(std::move(body)), 1}}};
  }
  static Item AsItem(const Term& t) {
    return {t.bound, t.guards,
            std::make_shared<const Sum>(t.factors[0].leaf->args[0])};
  }

  Sum OfMax(const Leaf& leaf) {
    std::vector<Item> items;
    for (const Item& item : leaf.items) {
      const std::optional<Obligation> open = AddItem(item, items);
      if (open && MaySplit()) return SplitOn(*open, leaf);
    }
    if (items.empty()) return LeafSum({Leaf::Kind::kMax, "max"});
    MergeItems(items);
    return BuildMax(std::move(items));
  }

  // Adds an item, taken apart where its body depends on conditions about its
  // variables. Returns a condition that is about none of them.
  std::optional<Obligation> AddItem(const Item& item, std::vector<Item>& out) {
    if (!c_.facts.effort().Step()) {
      out.push_back(item);
      return {};
    }
    Term t = AsTerm(item);
    if (!Simplify(t, Counting::kOnce)) return {};
    for (const Obligation& g : t.guards) {
      if (!Mentions(g.expr, t.bound) && MaySplit()) return g;
    }
    Sum body;
    {
      Facts::Scope scope(c_.facts);
      AddFacts(t);
      body = OfSum(*AsItem(t).body);
    }
    auto g = Liftable(body);
    if (g && MaySplit() && !Mentions(g->expr, t.bound)) return g;
    if (g && MaySplit() && !c_.light) {
      ++depth_;
      for (const Obligation& branch : Branches(*g)) {
        Item part{t.bound, t.guards, std::make_shared<const Sum>(body)};
        part.guards.push_back(branch);
        if (auto open = AddItem(part, out)) {
          --depth_;
          return open;
        }
      }
      --depth_;
      return {};
    }
    Item done{t.bound, t.guards, std::make_shared<const Sum>(body)};
    if (c_.light) DropUnused(done);
    if (!Flatten(done, out)) out.push_back(std::move(done));
    return {};
  }

  // A set of one value has no variables: sets are never empty.
  static void DropUnused(Item& item) {
    std::set<std::string> symbols;
    FreeSymbols(*item.body, symbols);
    for (const Bound& b : item.bound) {
      if (symbols.count(b.var) > 0) return;
    }
    item.bound.clear();
    item.guards.clear();
  }

  // max(max(a, b), c) = max(a, b, c).
  bool Flatten(const Item& item, std::vector<Item>& out) {
    const Sum& s = *item.body;
    if (!SingleTerm(s) || s[0].factors.size() != 1 ||
        s[0].factors[0].power != 1 ||
        s[0].factors[0].leaf->kind != Leaf::Kind::kMax ||
        !(s[0].coefficient == Polynomial(1))) {
      return false;
    }
    Use(ScalarFact::kMaxNested);
    for (const Item& inner : s[0].factors[0].leaf->items) {
      Item flat = item;
      flat.bound.insert(flat.bound.end(), inner.bound.begin(),
                        inner.bound.end());
      flat.guards.insert(flat.guards.end(), inner.guards.begin(),
                         inner.guards.end());
      flat.body = inner.body;
      Term t = AsTerm(flat);
      if (!Simplify(t, Counting::kOnce)) continue;
      out.push_back(AsItem(t));
    }
    return true;
  }

  // Sets that are alike become one; so do neighbouring ranges.
  void MergeItems(std::vector<Item>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = i + 1; j < items.size();) {
        if (!Covered(items[i], items[j])) {
          ++j;
          continue;
        }
        items.erase(items.begin() + j);
        j = i + 1;
      }
    }
    DropSmallerNumbers(items);
    DropLower(items);
  }

  // max(a, b) = a in a branch where a >= b.
  void DropLower(std::vector<Item>& items) {
    if (c_.ordered.empty()) return;
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = 0; j < items.size();) {
        if (i == j || !IsPlain(items[i]) || !IsPlain(items[j]) ||
            !KnownOrder(Minus(*items[i].body, *items[j].body))) {
          ++j;
          continue;
        }
        items.erase(items.begin() + j);
        if (j < i) --i;
      }
    }
  }

  // True if it is one of what is ordered, or the sum of two of these, or more
  // than that by a number.
  bool KnownOrder(const Sum& s) {
    const Sum goal = Unscaled(s);
    for (const Sum& a : c_.ordered) {
      const Sum rest = Minus(goal, Unscaled(a));
      if (IsAtLeast0(rest)) return true;
      for (const Sum& b : c_.ordered) {
        if (IsAtLeast0(Minus(rest, Unscaled(b)))) return true;
      }
    }
    return false;
  }

  Sum Minus(const Sum& a, const Sum& b) {
    return Collected(Add(a, Scale(b, Polynomial(-1))));
  }

  static bool IsAtLeast0(const Sum& s) {
    const auto number = NumberOf(s);
    const auto c = number ? number->constant() : std::nullopt;
    return c && !(*c < Rational(0));
  }

  // Makes `a` the union of both if that is one set of the same kind.
  bool Covered(Item& a, const Item& b) {
    const TermKey x = KeyOf(AsTerm(a)), y = KeyOf(AsTerm(b));
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
    if (c_.light) return false;
    Bound& u = a.bound[x.order[differs]];
    const Bound& v = other[differs];
    // They touch or overlap, and their ends are in order.
    if (!c_.facts.NonNegative(u.hi - v.lo) ||
        !c_.facts.NonNegative(v.hi - u.lo)) {
      return false;
    }
    auto low = c_.facts.Sign(v.lo - u.lo), high = c_.facts.Sign(u.hi - v.hi);
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

  // What all sets have in common leaves the maximum: terms by
  // max(a + z, b + z) = max(a, b) + z, positive factors by scaling.
  Sum BuildMax(std::vector<Item> items) {
    Sum outside;
    std::vector<Bound> inner;
    for (const Item& item : items) {
      inner.insert(inner.end(), item.bound.begin(), item.bound.end());
    }
    if (items.size() == 1 && items[0].bound.empty()) return *items[0].body;
    for (Term& t : CommonTerms(items, inner)) {
      Use(ScalarFact::kMaxShifted);
      for (Item& item : items) item.body = RemoveTerm(*item.body, t);
      outside.push_back(std::move(t));
    }
    std::vector<const Sum*> bodies;
    for (const Item& item : items) bodies.push_back(item.body.get());
    const Common common = CommonFactor(bodies, inner, true);
    if (!(common.number == Polynomial(1)) || !common.factors.empty()) {
      Use(ScalarFact::kMaxScaled);
    }
    // Without the factor an item may be a maximum itself.
    std::vector<Item> flat;
    for (Item& item : items) {
      item.body = std::make_shared<const Sum>(Without(*item.body, common));
      if (!Flatten(item, flat)) flat.push_back(item);
    }
    items = std::move(flat);
    MergeItems(items);
    Term t{common.number, {}, {}, common.factors};
    t.factors.push_back(
        {std::make_shared<const Leaf>(
             Leaf{Leaf::Kind::kMax, "max", {}, {}, std::move(items)}),
         1});
    outside.push_back(std::move(t));
    return Collected(std::move(outside));
  }

  // Terms that every item holds, none of which speaks of the items' variables.
  static std::vector<Term> CommonTerms(const std::vector<Item>& items,
                                       const std::vector<Bound>& inner) {
    std::vector<Term> out;
    for (const Term& t : *items[0].body) {
      std::set<std::string> symbols;
      FreeSymbols(t, symbols);
      const bool local =
          std::any_of(inner.begin(), inner.end(),
                      [&](const Bound& b) { return symbols.count(b.var) > 0; });
      const bool everywhere = std::all_of(
          items.begin(), items.end(),
          [&](const Item& item) { return FindTerm(*item.body, t) >= 0; });
      if (!local && everywhere) out.push_back(t);
    }
    return out;
  }

  static int FindTerm(const Sum& s, const Term& t) {
    const std::string key = KeyOf(t).Text();
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i].coefficient == t.coefficient && KeyOf(s[i]).Text() == key) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  static std::shared_ptr<const Sum> RemoveTerm(Sum s, const Term& t) {
    const int at = FindTerm(s, t);
    if (at >= 0) s.erase(s.begin() + at);
    return std::make_shared<const Sum>(std::move(s));
  }

  Sum OfProduct(const Leaf& leaf) {
    Item item = leaf.items[0];
    Term t = AsTerm(item);
    // Only the body: what a range of factors counts for is not a coefficient.
    Facts::Scope scope(c_.facts);
    AddFacts(t);
    item.body = std::make_shared<const Sum>(OfSum(*item.body));
    return LeafSum({Leaf::Kind::kProduct, "prod", {}, {}, {item}});
  }

  NormalContext& c_;
  int depth_ = 0;  // of case splits
};

}  // namespace

Sum Normalize(const Sum& s, NormalContext& c) { return Normalizer(c).OfSum(s); }

}  // namespace isomer::verify

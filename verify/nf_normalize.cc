#include "verify/nf_normalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "verify/nf_simplify.h"

namespace isomer::verify {

namespace {

constexpr int kMaxPower = 8;    // that is multiplied out
constexpr int kMaxSplits = 24;  // inside one another

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

// True if the function is 1 or 0, so that its square is itself.
bool IsIndicator(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kFunction &&
         (leaf.name == "truth" || leaf.name == "less" || leaf.name == "equal" ||
          leaf.name == "is_nan");
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
    return Collect(std::move(out));
  }

 private:
  // ---- Terms

  Sum OfTerm(Term t) {
    if (!c_.facts.effort().Step()) return {std::move(t)};
    if (t.coefficient.IsZero()) return {};
    if (!SimplifyTerm(t, c_.facts, c_.names, Counting::kEach)) return {};
    Sum product = {Term{t.coefficient, t.bound, t.guards, {}}};
    {
      Facts::Scope scope(c_.facts);
      AddTermFacts(t.bound, t.guards, c_.facts);
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
        if (SimplifyTerm(m, c_.facts, c_.names, Counting::kEach)) {
          out.push_back(std::move(m));
        }
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
    c_.axioms.insert("sqrt(x) * sqrt(x) = x");
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
      if (g && depth_ < kMaxSplits) return SplitOn(*g, leaf);
    }
    if (leaf.kind == Leaf::Kind::kInverse) return Inverse(out.args[0]);
    return Apply(out.name, std::move(out.args));
  }

  // Functions of numbers, and the axioms about functions.
  Sum Apply(const std::string& name, std::vector<Sum> args) {
    const auto number =
        args.size() == 1 ? NumberOf(args[0]) : std::optional<Polynomial>();
    if (number) {
      if (auto value = AtNumber(name, *number)) return NumberSum(*value);
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

  // f(number), where that is a number.
  std::optional<Polynomial> AtNumber(const std::string& name,
                                     const Polynomial& x) {
    std::optional<Polynomial> value;
    const bool zero = x.IsZero(), one = x == Polynomial(1);
    if (zero &&
        (name == "erf" || name == "sin" || name == "sqrt" || name == "sign")) {
      value = 0;
    } else if ((zero && (name == "exp" || name == "cos")) ||
               (one && name == "sqrt")) {
      value = 1;
    } else if (one && name == "log") {
      value = 0;
    } else if (auto c = x.constant(); c && name == "less") {
      value = Rational(0) < *c ? 1 : 0;
    } else if (c && name == "equal") {
      value = zero ? 1 : 0;
    } else if (name == "floor" || name == "round") {
      if (auto c = x.constant(); c && c->IsInteger()) value = x;
    }
    if (value) {
      c_.axioms.insert(
          absl::StrCat(name, "(", x.ToString(), ") = ", value->ToString()));
    }
    return value;
  }

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
    if (arg.size() > 1) c_.axioms.insert("exp(a + b) = exp(a) * exp(b)");
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
    c_.axioms.insert("log(exp(a)) = a");
    return Collect(std::move(out));
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
    return Collect(std::move(out));
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
      if (positive_only && !LeafPositive(*p.leaf)) continue;
      common.factors.push_back(std::move(p));
    }
    return common;
  }

  // The part of a monomial that is known to be above zero.
  Monomial Positive(Monomial m) {
    if (m.coefficient < Rational(0)) m.coefficient = -m.coefficient;
    std::erase_if(m.factors, [&](const Factor& f) {
      return !c_.facts.Positive(DimExpr(Polynomial(f.atom)));
    });
    return m;
  }

  Monomial Gcd(const Monomial& a, Monomial b) {
    b = Positive(std::move(b));
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
      if (open && depth_ < kMaxSplits) return SplitOn(*open, leaf);
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
    if (!SimplifyTerm(t, c_.facts, c_.names, Counting::kOnce)) return {};
    for (const Obligation& g : t.guards) {
      if (!Mentions(g.expr, t.bound)) return g;
    }
    Sum body;
    {
      Facts::Scope scope(c_.facts);
      AddTermFacts(t.bound, t.guards, c_.facts);
      body = OfSum(*AsItem(t).body);
    }
    if (auto g = Liftable(body); g && depth_ < kMaxSplits) {
      if (!Mentions(g->expr, t.bound)) return g;
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
    if (!Flatten(done, out)) out.push_back(std::move(done));
    return {};
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
    c_.axioms.insert("max(max(a, b), c) = max(a, b, c)");
    for (const Item& inner : s[0].factors[0].leaf->items) {
      Item flat = item;
      flat.bound.insert(flat.bound.end(), inner.bound.begin(),
                        inner.bound.end());
      flat.guards.insert(flat.guards.end(), inner.guards.begin(),
                         inner.guards.end());
      flat.body = inner.body;
      Term t = AsTerm(flat);
      if (!SimplifyTerm(t, c_.facts, c_.names, Counting::kOnce)) continue;
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
      c_.axioms.insert("max(a + c, b + c) = max(a, b) + c");
      for (Item& item : items) item.body = RemoveTerm(*item.body, t);
      outside.push_back(std::move(t));
    }
    std::vector<const Sum*> bodies;
    for (const Item& item : items) bodies.push_back(item.body.get());
    const Common common = CommonFactor(bodies, inner, true);
    if (!(common.number == Polynomial(1)) || !common.factors.empty()) {
      c_.axioms.insert("max(c * a, c * b) = c * max(a, b) for c > 0");
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
    return Collect(std::move(outside));
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
    AddTermFacts(t.bound, t.guards, c_.facts);
    item.body = std::make_shared<const Sum>(OfSum(*item.body));
    return LeafSum({Leaf::Kind::kProduct, "prod", {}, {}, {item}});
  }

  // ---- Signs

 public:
  bool LeafPositive(const Leaf& leaf) {
    switch (leaf.kind) {
      case Leaf::Kind::kInput:
        return c_.positive.count(leaf.name) > 0;
      case Leaf::Kind::kConstant:
        return absl::StartsWith(leaf.name, "+");
      case Leaf::Kind::kFunction:
        if (leaf.name == "exp") return true;
        return leaf.name == "sqrt" && SumPositive(leaf.args[0]);
      case Leaf::Kind::kInverse:
        return SumPositive(leaf.args[0]);
      case Leaf::Kind::kMax:
        return std::any_of(leaf.items.begin(), leaf.items.end(),
                           [&](const Item& i) {
                             return !MayBeEmpty(i) && SumPositive(*i.body);
                           });
      case Leaf::Kind::kProduct:
        return false;
    }
    return false;
  }

  // Each term is at least 0 and one of them above it.
  bool SumPositive(const Sum& s) {
    bool above = false;
    for (const Term& t : s) {
      bool positive = CoefficientPositive(t.coefficient) && t.guards.empty();
      bool nonnegative = CoefficientPositive(t.coefficient);
      for (const Power& p : t.factors) {
        const bool leaf = LeafPositive(*p.leaf);
        positive = positive && leaf;
        nonnegative =
            nonnegative && (leaf || p.power % 2 == 0 || LeafAtLeast0(*p.leaf));
      }
      if (!nonnegative) return false;
      for (const Bound& b : t.bound) {
        positive = positive && c_.facts.Positive(b.hi - b.lo);
      }
      above = above || positive;
    }
    return above;
  }

  bool SumNonZero(const Sum& s) {
    if (SumPositive(s)) return true;
    Sum negative = Scale(s, Polynomial(-1));
    if (SumPositive(negative)) return true;
    if (!SingleTerm(s)) return false;
    return (CoefficientPositive(s[0].coefficient) ||
            CoefficientPositive(-s[0].coefficient)) &&
           std::all_of(s[0].factors.begin(), s[0].factors.end(),
                       [&](const Power& p) {
                         return LeafPositive(*p.leaf) ||
                                p.leaf->kind == Leaf::Kind::kInverse;
                       });
  }

 private:
  bool MayBeEmpty(const Item& item) {
    return !item.guards.empty() ||
           std::any_of(
               item.bound.begin(), item.bound.end(),
               [&](const Bound& b) { return !c_.facts.Positive(b.hi - b.lo); });
  }

  bool LeafAtLeast0(const Leaf& leaf) {
    if (leaf.kind == Leaf::Kind::kMax) {
      return std::any_of(
          leaf.items.begin(), leaf.items.end(),
          [&](const Item& i) { return !MayBeEmpty(i) && i.body->empty(); });
    }
    return IsIndicator(leaf) ||
           (leaf.kind == Leaf::Kind::kFunction && leaf.name == "sqrt");
  }

  bool CoefficientPositive(const Polynomial& p) {
    if (auto c = p.constant()) return Rational(0) < *c;
    // A quotient of products of sizes has their sign.
    const auto monomials = p.AllMonomials();
    if (monomials.size() == 1) {
      if (!(Rational(0) < monomials[0].coefficient)) return false;
      return std::all_of(
          monomials[0].factors.begin(), monomials[0].factors.end(),
          [&](const Factor& f) {
            return c_.facts.Positive(DimExpr(Polynomial(f.atom)));
          });
    }
    return c_.facts.Positive(DimExpr(p));
  }

  // ---- Sums

  // Terms of one key become one; so do neighbouring ranges.
  Sum Collect(Sum s) {
    std::vector<std::pair<TermKey, Term>> terms;
    for (Term& t : s) {
      if (t.coefficient.IsZero()) continue;
      TermKey key = KeyOf(t);
      terms.emplace_back(std::move(key), std::move(t));
    }
    bool changed = true;
    while (changed && c_.facts.effort().Step()) {
      changed = false;
      for (size_t i = 0; i < terms.size() && !changed; ++i) {
        for (size_t j = i + 1; j < terms.size() && !changed; ++j) {
          changed = Combine(terms, i, j);
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

  using Keyed = std::vector<std::pair<TermKey, Term>>;

  static void Replace(Keyed& terms, size_t i, size_t j,
                      std::vector<Term> with) {
    terms.erase(terms.begin() + j);
    terms.erase(terms.begin() + i);
    for (Term& t : with) {
      if (t.coefficient.IsZero()) continue;
      TermKey key = KeyOf(t);
      terms.emplace_back(std::move(key), std::move(t));
    }
  }

  // Joins two terms that differ at most in one range and the coefficient.
  bool Combine(Keyed& terms, size_t i, size_t j) {
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
    return CombineRanges(terms, i, j, x.order[differs], u, v);
  }

  // Two ranges of the variable, cut where the other begins or ends.
  bool CombineRanges(Keyed& terms, size_t i, size_t j, int var, const Bound u,
                     const Bound v) {
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
    auto is = [&](const DimExpr& e) { return c_.facts.NonNegative(e); };
    if (c_.facts.Zero(u.hi - v.lo) && a.coefficient == other) {
      if (!is(u.hi - u.lo) || !is(v.hi - v.lo)) return false;
      Replace(terms, i, j, {with(u.lo, v.hi, other)});
      return true;
    }
    if (c_.facts.Zero(v.hi - u.lo) && a.coefficient == other) {
      if (!is(u.hi - u.lo) || !is(v.hi - v.lo)) return false;
      Replace(terms, i, j, {with(v.lo, u.hi, other)});
      return true;
    }
    // One holds the other, and neither coefficient would grow: only then does
    // cutting end.
    if (!both.IsZero()) return false;
    if (is(v.lo - u.lo) && is(u.hi - v.hi) && is(v.hi - v.lo)) {
      Replace(
          terms, i, j,
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

  NormalContext& c_;
  int depth_ = 0;  // of case splits
};

// ---- Conditions that are left

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

}  // namespace

Sum Normalize(const Sum& s, NormalContext& c) { return Normalizer(c).OfSum(s); }

std::optional<Obligation> OpenCondition(const Sum& s, NormalContext& c) {
  std::vector<std::string> inner;
  if (auto g = OpenIn(s, inner)) return g;
  return OpenEnds(s, c.facts);
}

bool IsPositive(const Sum& s, NormalContext& c) {
  return Normalizer(c).SumPositive(s);
}

bool IsNonZero(const Sum& s, NormalContext& c) {
  return Normalizer(c).SumNonZero(s);
}

}  // namespace isomer::verify

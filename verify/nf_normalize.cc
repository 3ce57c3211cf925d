#include "verify/nf_normalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "verify/nf_collect.h"
#include "verify/nf_common_factor.h"
#include "verify/nf_items.h"
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

class Normalizer {
 public:
  explicit Normalizer(NormalContext& c) : c_(c) {}

  Sum OfSum(const Sum& s) {
    Sum out;
    for (const Term& t : s) {
      Sum terms = OfTerm(t);
      out.insert(out.end(), terms.begin(), terms.end());
    }
    // What is left when nothing may be spent any more is not looked at.
    if (c_.facts.effort().exhausted()) return out;
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

  // 1 / s. Where s is 0 the inverse is undefined, which is what the callers
  // check apart.
  Sum Inverse(const Sum& s) {
    if (s.empty()) return LeafSum({Leaf::Kind::kInverse, "inv", {}, {s}});
    const CommonFactor common = FindCommonFactor({&s}, {}, false, c_);
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

  Sum OfMax(const Leaf& leaf) {
    std::vector<Item> items;
    for (const Item& item : leaf.items) {
      const std::optional<Obligation> open = AddItem(item, items);
      if (open && MaySplit()) return SplitOn(*open, leaf);
    }
    if (items.empty()) return LeafSum({Leaf::Kind::kMax, "max"});
    MergeItems(items, c_);
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
    const CommonFactor common = FindCommonFactor(bodies, inner, true, c_);
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
    MergeItems(items, c_);
    Term t{common.number, {}, {}, common.factors};
    t.factors.push_back(
        {std::make_shared<const Leaf>(
             Leaf{Leaf::Kind::kMax, "max", {}, {}, std::move(items)}),
         1});
    outside.push_back(std::move(t));
    return Collected(std::move(outside));
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

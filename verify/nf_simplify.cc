#include "verify/nf_simplify.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace isomer::verify {

namespace {

constexpr int kMaxRounds = 60;

bool IsZeroGuard(const Obligation& g) { return g.kind == Obligation::kZero; }

// e = factor * var + rest, where neither holds the variable otherwise.
struct Linear {
  DimExpr factor, rest;
};
std::optional<Linear> LinearIn(const DimExpr& e, const std::string& var) {
  const Atom atom = Atom::Symbol(var);
  if (e.polynomial().Degree(atom) != 1) return std::nullopt;
  const DimExpr factor(e.polynomial().Coefficient(atom));
  const DimExpr rest = e - factor * DimExpr::Symbol(var);
  if (rest.Symbols().count(var) || factor.Symbols().count(var)) {
    return std::nullopt;
  }
  return Linear{factor, rest};
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

std::optional<DimExpr> Divided(const DimExpr& a, const DimExpr& b) {
  auto q = DivideExactly(a.polynomial(), b.polynomial());
  if (!q || !Integral(*q)) return std::nullopt;
  return DimExpr(*q);
}

// floor(a / b) where facts place a within one multiple of b, or within one
// multiple of a part d of b: floor((d*y + x) / (d*k)) = floor(y / k).
Polynomial FoldQuotient(const DimExpr& a, const DimExpr& b, Facts& facts) {
  if (auto q = facts.PlausibleValue(FloorDiv(a, b))) {
    if (facts.NonNegative(a - b * *q) &&
        facts.NonNegative(b * (*q + 1) - 1 - a)) {
      return *q;
    }
  }
  const Monomial content = Content(b.polynomial());
  for (const Factor& f : content.factors) {
    const DimExpr d{Polynomial(f.atom)};
    const auto k = Divided(b, d);
    if (!k) continue;
    Polynomial whole, part;
    for (const Monomial& m : a.polynomial().AllMonomials()) {
      const Polynomial p = Polynomial::Sum({m});
      (Divided(DimExpr(p), d) ? whole : part) =
          (Divided(DimExpr(p), d) ? whole : part) + p;
    }
    if (part.IsZero() || whole.IsZero()) continue;
    const DimExpr x(part);
    if (facts.NonNegative(x) && facts.NonNegative(d - 1 - x)) {
      return FloorDiv(*Divided(DimExpr(whole), d), *k).polynomial();
    }
  }
  return FloorDiv(a, b).polynomial();
}

// The greatest or least of several, where one is shown to be that.
Polynomial FoldExtreme(const Atom& atom, const std::vector<Polynomial>& args,
                       Facts& facts) {
  const bool max = atom.Is("max");
  for (const Polynomial& a : args) {
    const bool best = std::ranges::all_of(args, [&](const Polynomial& b) {
      return facts.NonNegative(DimExpr(max ? a - b : b - a));
    });
    if (best) return a;
  }
  DimExpr out(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    out = max ? MaxOf(out, DimExpr(args[i])) : MinOf(out, DimExpr(args[i]));
  }
  return out.polynomial();
}

Polynomial FoldAtoms(const Polynomial& p, Facts& facts) {
  return p.Transform([&](const Atom& atom) -> std::optional<Polynomial> {
    if (atom.is_symbol()) return std::nullopt;
    std::vector<Polynomial> args;
    for (const Polynomial& arg : atom.args()) {
      args.push_back(FoldAtoms(arg, facts));
    }
    if (atom.Is("floordiv")) {
      return FoldQuotient(DimExpr(args[0]), DimExpr(args[1]), facts);
    }
    if (atom.Is("max") || atom.Is("min")) {
      return FoldExtreme(atom, args, facts);
    }
    return Reapply(atom, std::move(args));
  });
}

bool HasFunctions(const Polynomial& p) {
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (!f.atom.is_symbol()) return true;
    }
  }
  return false;
}

// ---- The input elements of a term, at any depth

struct Place {
  std::string name;
  int position;
  DimExpr expr;
};

void Places(const Sum& s, std::vector<Place>& out);
void Places(const Leaf& leaf, std::vector<Place>& out) {
  for (size_t i = 0; i < leaf.index.size(); ++i) {
    out.push_back({leaf.name, static_cast<int>(i), leaf.index[i]});
  }
  for (const Sum& s : leaf.args) Places(s, out);
  for (const Item& item : leaf.items) Places(*item.body, out);
}
void Places(const Sum& s, std::vector<Place>& out) {
  for (const Term& t : s) {
    for (const Power& p : t.factors) Places(*p.leaf, out);
  }
}

std::vector<Place> PlacesOf(const Term& t) {
  std::vector<Place> out;
  for (const Power& p : t.factors) Places(*p.leaf, out);
  std::stable_sort(out.begin(), out.end(), [](const Place& a, const Place& b) {
    return std::tie(a.name, a.position) < std::tie(b.name, b.position);
  });
  return out;
}

// ---- One term

class Simplifier {
 public:
  Simplifier(Term& t, Facts& facts, Names& names, Counting counting)
      : t_(t), facts_(facts), names_(names), counting_(counting) {}

  bool Run() {
    for (int round = 0; round < kMaxRounds && facts_.effort().Step(); ++round) {
      const Step step = Round();
      if (step == Step::kDead) return false;
      if (step == Step::kSame) break;
    }
    for (size_t v = 0; v < t_.bound.size(); ++v) Anchor(v);
    return true;
  }

 private:
  enum class Step { kSame, kChanged, kDead };

  Step Round() {
    for (auto part :
         {&Simplifier::Equalities, &Simplifier::Quotients, &Simplifier::Guards,
          &Simplifier::Ranges, &Simplifier::Joins}) {
      if (const Step s = (this->*part)(); s != Step::kSame) return s;
    }
    return Step::kSame;
  }

  void Replace(const std::string& var, const DimExpr& value) {
    std::erase_if(t_.bound, [&](const Bound& b) { return b.var == var; });
    const Substitution values = {{var, value}};
    t_ = Substitute(t_, values);
  }

  void Demand(const DimExpr& nonnegative) {
    t_.guards.push_back({Obligation::kNonNegative, nonnegative});
  }

  // Two guards that leave one value are an equality.
  bool Opposite() {
    for (size_t g = 0; g < t_.guards.size(); ++g) {
      for (size_t h = g + 1; h < t_.guards.size(); ++h) {
        if (IsZeroGuard(t_.guards[g]) || IsZeroGuard(t_.guards[h]) ||
            !(t_.guards[g].expr == -t_.guards[h].expr)) {
          continue;
        }
        t_.guards[g].kind = Obligation::kZero;
        t_.guards.erase(t_.guards.begin() + h);
        return true;
      }
    }
    return false;
  }

  // An equality that gives a bound variable its value.
  Step Equalities() {
    if (Opposite()) return Step::kChanged;
    for (size_t g = 0; g < t_.guards.size(); ++g) {
      if (!IsZeroGuard(t_.guards[g])) continue;
      const DimExpr e = t_.guards[g].expr;
      if (auto c = e.constant()) {
        if (*c != 0) return Step::kDead;
        t_.guards.erase(t_.guards.begin() + g);
        return Step::kChanged;
      }
      for (const Bound& b : t_.bound) {
        auto linear = LinearIn(e, b.var);
        if (!linear) continue;
        auto value = Divided(-linear->rest, linear->factor);
        if (!value || !NonZero(linear->factor)) continue;
        const Bound range = b;
        t_.guards.erase(t_.guards.begin() + g);
        Demand(*value - range.lo);
        Demand(range.hi - 1 - *value);
        Replace(range.var, *value);
        return Step::kChanged;
      }
      if (MixedRadix(g)) return Step::kChanged;
    }
    return Step::kSame;
  }

  bool NonZero(const DimExpr& e) {
    if (auto c = e.constant()) return *c != 0;
    return facts_.Positive(e) || facts_.Positive(-e);
  }

  // d*a + b == 0 with |b| < d: both are 0.
  bool MixedRadix(size_t g) {
    const Polynomial p = t_.guards[g].expr.polynomial();
    Facts::Scope scope(facts_);
    AddTermFacts(t_.bound, t_.guards, facts_, static_cast<int>(g));
    std::set<Polynomial> sizes;
    for (const Monomial& m : p.monomials()) {
      Monomial size{Rational(1), {}};
      for (const Factor& f : m.factors) {
        if (!Mentions(DimExpr(Polynomial(f.atom)), t_.bound)) {
          size.factors.push_back(f);
        }
      }
      if (!size.factors.empty()) sizes.insert(Polynomial::Sum({size}));
    }
    for (const Polynomial& size : sizes) {
      const DimExpr d(size);
      Polynomial whole, rest;
      for (const Monomial& m : p.AllMonomials()) {
        const Polynomial one = Polynomial::Sum({m});
        if (Divided(DimExpr(one), d)) {
          whole = whole + one;
        } else {
          rest = rest + one;
        }
      }
      if (whole.IsZero() || rest.IsZero()) continue;
      const DimExpr b(rest);
      if (!facts_.NonNegative(d - 1 - b) || !facts_.NonNegative(d - 1 + b)) {
        continue;
      }
      t_.guards[g].expr = *Divided(DimExpr(whole), d);
      t_.guards.push_back({Obligation::kZero, b});
      return true;
    }
    return false;
  }

  // Quotients that facts decide, and those that take a variable apart.
  Step Quotients() {
    bool any = false;
    auto note = [&](const DimExpr& e) {
      any = any || HasFunctions(e.polynomial());
      return e;
    };
    MapExprs({t_}, note);
    if (!any) return Step::kSame;
    if (FoldFactors() || FoldGuards()) return Step::kChanged;
    std::set<std::string> vars;
    for (const Bound& b : t_.bound) vars.insert(b.var);
    std::optional<SplitVariable> split;
    MapExprs({Term{1, {}, t_.guards, t_.factors}}, [&](const DimExpr& e) {
      if (!split) split = FindSplit(e, vars);
      return e;
    });
    return split ? Split(*split) : Step::kSame;
  }

  bool FoldFactors() {
    Facts::Scope scope(facts_);
    AddTermFacts(t_.bound, t_.guards, facts_);
    bool changed = false;
    Sum folded = MapExprs({Term{1, {}, {}, t_.factors}}, [&](const DimExpr& e) {
      DimExpr f = FoldQuotients(e, facts_);
      changed = changed || !(f == e);
      return f;
    });
    t_.factors = std::move(folded[0].factors);
    return changed;
  }

  // A guard is judged by the others: by itself it would always hold.
  bool FoldGuards() {
    bool changed = false;
    for (size_t g = 0; g < t_.guards.size(); ++g) {
      if (!HasFunctions(t_.guards[g].expr.polynomial())) continue;
      Facts::Scope scope(facts_);
      AddTermFacts(t_.bound, t_.guards, facts_, static_cast<int>(g));
      DimExpr f = FoldQuotients(t_.guards[g].expr, facts_);
      changed = changed || !(f == t_.guards[g].expr);
      t_.guards[g].expr = std::move(f);
    }
    return changed;
  }

  Step Split(const SplitVariable& split) {
    const Bound range = *std::ranges::find(t_.bound, split.var, &Bound::var);
    const auto count = Divided(range.hi - range.lo, split.by);
    const Bound q{
        names_.Fresh(), 0,
        count ? *count : FloorDiv(range.hi - 1 - range.lo, split.by) + 1};
    const Bound r{names_.Fresh(), 0, split.by};
    const DimExpr value =
        split.by * DimExpr::Symbol(q.var) + DimExpr::Symbol(r.var) + range.lo;
    Replace(split.var, value);
    t_.bound.push_back(q);
    t_.bound.push_back(r);
    if (!count) Demand(range.hi - 1 - value);
    return Step::kChanged;
  }

  // A guard on one variable becomes its range; others are decided.
  Step Guards() {
    for (size_t g = 0; g < t_.guards.size(); ++g) {
      if (auto holds = Decide(g)) {
        if (!*holds) return Step::kDead;
        return Erase(g);
      }
      if (!IsZeroGuard(t_.guards[g]) && GuardToRange(g)) return Erase(g);
    }
    return Step::kSame;
  }

  std::optional<bool> Decide(size_t g) {
    Facts::Scope scope(facts_);
    AddTermFacts(t_.bound, t_.guards, facts_, static_cast<int>(g));
    const DimExpr e = FoldQuotients(t_.guards[g].expr, facts_);
    if (!IsZeroGuard(t_.guards[g])) return facts_.Sign(e);
    if (facts_.Positive(e) || facts_.Positive(-e)) return false;
    if (facts_.Zero(e)) return true;
    return std::nullopt;
  }

  Step Erase(size_t g) {
    t_.guards.erase(t_.guards.begin() + g);
    return Step::kChanged;
  }

  // Adds what holds for a term whatever the value of variable v, even if it
  // has none: its range may turn out to be empty.
  void AddFactsWithout(size_t v) {
    const std::vector<Bound> own = {t_.bound[v]};
    std::vector<Bound> others;
    for (const Bound& b : t_.bound) {
      if (b.var == own[0].var || Mentions(b.lo, own) || Mentions(b.hi, own)) {
        continue;
      }
      others.push_back(b);
    }
    std::vector<Obligation> guards;
    for (const Obligation& g : t_.guards) {
      if (!Mentions(g.expr, own)) guards.push_back(g);
    }
    AddTermFacts(others, guards, facts_);
  }

  bool GuardToRange(size_t g) {
    const DimExpr e = t_.guards[g].expr;
    for (size_t v = 0; v < t_.bound.size(); ++v) {
      Bound& b = t_.bound[v];
      auto linear = LinearIn(e, b.var);
      if (!linear || Mentions(linear->rest, t_.bound) ||
          Mentions(linear->factor, t_.bound)) {
        continue;
      }
      Facts::Scope scope(facts_);
      AddFactsWithout(v);
      if (facts_.Positive(linear->factor)) {
        const DimExpr lo =
            FoldQuotients(-FloorDiv(linear->rest, linear->factor), facts_);
        if (facts_.NonNegative(b.lo - lo)) return true;
        if (!facts_.NonNegative(lo - b.lo)) continue;
        b.lo = lo;
        return true;
      }
      if (facts_.Positive(-linear->factor)) {
        const DimExpr hi =
            FoldQuotients(FloorDiv(linear->rest, -linear->factor), facts_) + 1;
        if (facts_.NonNegative(hi - b.hi)) return true;
        if (!facts_.NonNegative(b.hi - hi)) continue;
        b.hi = hi;
        return true;
      }
    }
    return false;
  }

  Step Ranges() {
    for (size_t v = 0; v < t_.bound.size(); ++v) {
      const Bound b = t_.bound[v];
      const DimExpr n = b.hi - b.lo;
      if (n == DimExpr(1)) {
        Replace(b.var, b.lo);
        return Step::kChanged;
      }
      Facts::Scope scope(facts_);
      AddFactsWithout(v);
      if (facts_.NonNegative(-n)) return Step::kDead;
      if (facts_.Zero(n - 1)) {
        Replace(b.var, b.lo);
        return Step::kChanged;
      }
      if (Used(b.var)) continue;
      if (!facts_.Positive(n)) Demand(n - 1);
      t_.bound.erase(t_.bound.begin() + v);
      if (counting_ == Counting::kEach) {
        t_.coefficient = t_.coefficient * n.polynomial();
      }
      return Step::kChanged;
    }
    return Step::kSame;
  }

  bool Used(const std::string& var) const {
    Term body = t_;
    body.bound.clear();
    std::set<std::string> symbols;
    FreeSymbols(body, symbols);
    for (const Bound& b : t_.bound) {
      for (const DimExpr* e : {&b.lo, &b.hi}) {
        for (const std::string& s : e->Symbols()) symbols.insert(s);
      }
    }
    return symbols.count(var) > 0;
  }

  // Variables a, b that occur only as a*n + b, where b has n values, are one.
  Step Joins() {
    if (t_.bound.size() < 2) return Step::kSame;
    const std::vector<Place> places = PlacesOf(t_);
    for (const Bound& b : t_.bound) {
      const DimExpr n = b.hi - b.lo;
      if (!(b.lo == DimExpr(0)) || n.constant() == 1) continue;
      for (const Bound& a : t_.bound) {
        if (a.var != b.var && Together(a, b, n, places)) return Join(a, b, n);
      }
    }
    return Step::kSame;
  }

  bool Together(const Bound& a, const Bound& b, const DimExpr& n,
                const std::vector<Place>& places) const {
    if (Mentions(n, t_.bound) || Mentions(a.lo, t_.bound) ||
        Mentions(a.hi, t_.bound)) {
      return false;
    }
    bool any = false;
    for (const Place& p : places) {
      const bool has_a = Mentions(p.expr, {a}), has_b = Mentions(p.expr, {b});
      if (!has_a && !has_b) continue;
      auto la = LinearIn(p.expr, a.var), lb = LinearIn(p.expr, b.var);
      if (!la || !lb || !(la->factor == lb->factor * n)) return false;
      any = true;
    }
    return any;
  }

  Step Join(const Bound a, const Bound b, const DimExpr n) {
    const Bound m{names_.Fresh(), a.lo * n, a.hi * n};
    Term joined = t_;
    std::erase_if(joined.bound, [&](const Bound& x) {
      return x.var == a.var || x.var == b.var;
    });
    joined = Substitute(
        joined, {{b.var, DimExpr::Symbol(m.var) - DimExpr::Symbol(a.var) * n}});
    std::set<std::string> symbols;
    FreeSymbols(joined, symbols);
    if (symbols.count(a.var) || symbols.count(b.var)) return Step::kSame;
    joined.bound.push_back(m);
    t_ = std::move(joined);
    return Step::kChanged;
  }

  // Moves the variable so that the first input element it indexes by itself
  // is at just that place.
  void Anchor(size_t v) {
    const Bound b = t_.bound[v];
    std::vector<Bound> others = t_.bound;
    others.erase(others.begin() + v);
    std::set<std::string> outer;
    FreeSymbols(t_, outer);
    for (const Place& p : PlacesOf(t_)) {
      auto linear = LinearIn(p.expr, b.var);
      if (!linear || Mentions(linear->rest, others)) continue;
      if (!OnlyOuter(linear->rest, outer)) continue;
      if (linear->factor == DimExpr(1)) return Shift(v, 1, linear->rest);
      if (linear->factor == DimExpr(-1)) return Shift(v, -1, linear->rest);
    }
    Shift(v, 1, -b.lo);
  }

  static bool OnlyOuter(const DimExpr& e, const std::set<std::string>& outer) {
    return std::ranges::all_of(
        e.Symbols(), [&](const std::string& s) { return outer.count(s) > 0; });
  }

  // The new variable is sign*var + rest.
  void Shift(size_t v, int sign, const DimExpr& rest) {
    Bound& b = t_.bound[v];
    if (sign == 1 && rest == DimExpr(0)) return;
    if (Mentions(b.lo, t_.bound) || Mentions(b.hi, t_.bound)) return;
    const DimExpr var = DimExpr::Symbol(b.var);
    Bound moved{b.var, b.lo + rest, b.hi + rest};
    DimExpr value = var - rest;
    if (sign == -1) {
      moved = {b.var, rest - b.hi + 1, rest - b.lo + 1};
      value = rest - var;
    }
    // The value speaks of the new variable under the old one's name.
    const std::string fresh = names_.Fresh();
    moved.var = fresh;
    value = value.Substitute({{b.var, DimExpr::Symbol(fresh)}});
    const std::string old = b.var;
    b = moved;
    t_ = Substitute(t_, {{old, value}});
  }

  Term& t_;
  Facts& facts_;
  Names& names_;
  const Counting counting_;
};

}  // namespace

void AddTermFacts(const std::vector<Bound>& bound,
                  const std::vector<Obligation>& guards, Facts& facts,
                  int except) {
  for (const Bound& b : bound) {
    const DimExpr v = DimExpr::Symbol(b.var);
    facts.AddNonNegative(v - b.lo);
    facts.AddNonNegative(b.hi - 1 - v);
  }
  for (size_t g = 0; g < guards.size(); ++g) {
    if (static_cast<int>(g) != except) facts.Add(guards[g]);
  }
}

DimExpr FoldQuotients(const DimExpr& e, Facts& facts) {
  if (!HasFunctions(e.polynomial())) return e;
  return DimExpr(FoldAtoms(e.polynomial(), facts));
}

std::optional<SplitVariable> FindSplit(const DimExpr& e,
                                       const std::set<std::string>& vars) {
  for (const Monomial& m : e.polynomial().monomials()) {
    for (const Factor& f : m.factors) {
      if (f.atom.is_symbol()) continue;
      for (const Polynomial& arg : f.atom.args()) {
        if (auto inner = FindSplit(DimExpr(arg), vars)) return inner;
      }
      if (!f.atom.Is("floordiv")) continue;
      const DimExpr a(f.atom.args()[0]), by(f.atom.args()[1]);
      for (const std::string& s : a.Symbols()) {
        if (!vars.count(s) || by.Symbols().count(s)) continue;
        auto linear = LinearIn(a, s);
        if (!linear || !(linear->factor == DimExpr(1))) continue;
        if (linear->rest == DimExpr(0) || Divided(linear->rest, by)) {
          return SplitVariable{s, by};
        }
      }
    }
  }
  return std::nullopt;
}

bool SimplifyTerm(Term& t, Facts& facts, Names& names, Counting counting) {
  return Simplifier(t, facts, names, counting).Run();
}

}  // namespace isomer::verify

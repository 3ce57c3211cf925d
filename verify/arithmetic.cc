// A goal p >= 0 is shown by p = c1*f1 + c2*f2 + ... + q, where the facts f are
// not negative, the factors c neither, and every monomial of q is positive
// once each atom is written as its least value plus something.
#include "verify/arithmetic.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace isomer::verify {

namespace {

constexpr int kMaxPayments = 4;
constexpr int kPaymentBudget = 40;  // payments tried
constexpr int kPoints = 32;
constexpr int kTries = 12;        // to extend a point
constexpr int kFirstTries = 300;  // to find one
constexpr int kDescribeDepth = 3;

// ---- Printing for a solver

class SmtPrinter {
 public:
  // What has no meaning over the integers asks nothing.
  std::string Print(const ArithmeticQuery& query) {
    std::string text = Text(query);
    return integral_ ? text : "(assert true)\n";
  }

 private:
  std::string Text(const ArithmeticQuery& query) {
    std::string body;
    for (const Obligation& f : query.facts) {
      absl::StrAppend(&body, "(assert ", Relation(f), ")\n");
    }
    absl::StrAppend(&body, "(assert (not ", Relation(query.goal), "))\n");
    std::string out;
    for (const auto& [text, name] : names_) {
      absl::StrAppend(&out, "(declare-const ", name, " Int) ; ", text, "\n");
    }
    // A divisor is positive wherever one stands.
    for (const std::string& d : divisors_) {
      absl::StrAppend(&out, "(assert (>= ", d, " 1))\n");
    }
    return out + body;
  }

  std::string Relation(const Obligation& o) {
    return absl::StrCat("(", o.kind == Obligation::kZero ? "=" : ">=", " ",
                        Scaled(o.expr.polynomial()), " 0)");
  }

  static std::string Number(const Rational& r) {
    const int64_t n = r.num();
    return n < 0 ? absl::StrCat("(- ", absl::StrCat(n).substr(1), ")")
                 : absl::StrCat(n);
  }

  // The polynomial times its common denominator: signs and zeros are kept.
  std::string Scaled(const Polynomial& p) {
    int64_t scale = 1;
    for (const Monomial& m : p.AllMonomials()) {
      const int64_t d = m.coefficient.den();
      scale = scale / std::gcd(scale, d) * d;
    }
    return Value(p * Polynomial(scale));
  }

  std::string Value(const Polynomial& p) {
    integral_ = integral_ && Integral(p);
    std::vector<std::string> parts;
    for (const Monomial& m : p.AllMonomials()) {
      std::string part = Number(m.coefficient);
      for (const Factor& f : m.factors) {
        for (int i = 0; i < f.power; ++i) {
          part = absl::StrCat("(* ", part, " ", AtomText(f.atom), ")");
        }
      }
      parts.push_back(std::move(part));
    }
    return Nested("+", parts, "0");
  }

  static std::string Nested(absl::string_view op,
                            const std::vector<std::string>& parts,
                            absl::string_view empty) {
    if (parts.empty()) return std::string(empty);
    std::string out = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      out = absl::StrCat("(", op, " ", out, " ", parts[i], ")");
    }
    return out;
  }

  std::string AtomText(const Atom& atom) {
    if (atom.Is("floordiv")) {
      const std::string divisor = Value(atom.args()[1]);
      divisors_.insert(divisor);
      return absl::StrCat("(div ", Value(atom.args()[0]), " ", divisor, ")");
    }
    if (atom.Is("max") || atom.Is("min")) {
      std::string out = Value(atom.args()[0]);
      for (size_t i = 1; i < atom.args().size(); ++i) {
        const std::string next = Value(atom.args()[i]);
        out = absl::StrCat("(ite (", atom.Is("max") ? ">=" : "<=", " ", out,
                           " ", next, ") ", out, " ", next, ")");
      }
      return out;
    }
    return Opaque(atom.ToString());
  }

  static bool Integral(const Polynomial& p) {
    for (const Monomial& m : p.AllMonomials()) {
      if (!m.coefficient.IsInteger()) return false;
      for (const Factor& f : m.factors) {
        if (f.power < 0) return false;
      }
    }
    return true;
  }

  std::string Opaque(const std::string& text) {
    auto it = names_.find(text);
    if (it == names_.end()) {
      it = names_.emplace(text, absl::StrCat("v", names_.size())).first;
    }
    return it->second;
  }

  std::map<std::string, std::string> names_;
  std::set<std::string> divisors_;
  bool integral_ = true;
};

Polynomial Single(const Monomial& m) { return Polynomial::Sum({m}); }

// The product of `whole` over that of `part`, if the powers allow it and it
// is at most one symbol: longer ones hardly ever pay.
std::optional<std::vector<Factor>> Quotient(const Monomial& whole,
                                            const Monomial& part) {
  if (part.factors.empty() != whole.factors.empty()) return std::nullopt;
  if (!DividesProduct(part, whole)) return std::nullopt;
  std::vector<Factor> out;
  for (const Factor& f : whole.factors) {
    int32_t power = f.power;
    for (const Factor& g : part.factors) {
      if (g.atom == f.atom) power -= g.power;
    }
    if (power != 0) out.push_back({f.atom, power});
  }
  if (out.size() > 1) return std::nullopt;
  return out;
}

}  // namespace

std::string SmtText(const ArithmeticQuery& query) {
  return SmtPrinter().Print(query);
}

bool Effort::Step() {
  if (steps_left > 0) --steps_left;
  if (absl::Now() > deadline) steps_left = 0;
  return steps_left > 0;
}

void Facts::Truncate(size_t size) {
  facts_.resize(size);
  while (!described_.empty() && described_.back().second >= size) {
    described_.pop_back();
  }
  while (!points_.empty() && points_.back().facts > size) points_.pop_back();
}

std::vector<Facts::OpenSymbol> Facts::OpenSymbols(size_t first,
                                                  const Point& known) const {
  std::vector<OpenSymbol> open;
  for (size_t f = first; f < facts_.size(); ++f) {
    for (const std::string& s : facts_[f].nonnegative.Symbols()) {
      if (known.count(s)) continue;
      auto it = std::find_if(open.begin(), open.end(),
                             [&](const auto& o) { return o.name == s; });
      if (it == open.end()) it = open.insert(open.end(), {s, {}, {}});
      const Polynomial& p = facts_[f].nonnegative;
      const Atom atom = Atom::Symbol(s);
      if (p.Degree(atom) != 1) continue;
      const auto factor = p.Coefficient(atom).constant();
      if (!factor) continue;
      const Polynomial rest = p - Polynomial(*factor) * Polynomial(atom);
      if (factor->IsOne()) it->low.push_back(DimExpr(-rest));
      if (*factor == Rational(-1)) it->high.push_back(DimExpr(rest));
    }
  }
  return open;
}

// Gives values to the open symbols, so that the facts from `first` on hold.
bool Facts::Extend(Point& point, size_t first,
                   const std::vector<OpenSymbol>& open) {
  for (const OpenSymbol& symbol : open) {
    int64_t low = 0;
    for (const DimExpr& e : symbol.low) {
      low = std::max(low, e.Evaluate(point).value_or(0));
    }
    std::optional<int64_t> high;
    for (const DimExpr& e : symbol.high) {
      const auto v = e.Evaluate(point);
      if (v) high = high ? std::min(*high, *v) : *v;
    }
    if (!high) high = low + (random_() % 3 == 0 ? 12 : 3);
    if (*high < low) return false;
    // Most of what is false is false at an end.
    const uint64_t draw = random_() % 4;
    point[symbol.name] =
        draw == 0   ? low
        : draw == 1 ? *high
                    : low + static_cast<int64_t>(random_() % (*high - low + 1));
  }
  for (size_t f = first; f < facts_.size(); ++f) {
    const auto v = DimExpr(facts_[f].nonnegative).Evaluate(point);
    // What has no value at small numbers (a fraction) does not rule one out.
    if (v && *v < 0) return false;
  }
  return true;
}

const std::vector<Facts::Point>& Facts::CurrentPoints() {
  if (points_.empty()) points_.push_back({0, std::vector<Point>(kPoints)});
  if (points_.back().facts == facts_.size()) return points_.back().list;
  if (auto it = known_points_.find(hash()); it != known_points_.end()) {
    points_.push_back({facts_.size(), it->second});
    return points_.back().list;
  }
  const size_t first = points_.back().facts;
  const std::vector<Point>& before = points_.back().list;
  Points next{facts_.size(), {}};
  if (!before.empty()) {
    const std::vector<OpenSymbol> open = OpenSymbols(first, before[0]);
    for (const Point& point : before) {
      const int tries = open.empty() ? 1 : first == 0 ? kFirstTries : kTries;
      for (int i = 0; i < tries; ++i) {
        Point extended = point;
        if (!Extend(extended, first, open)) continue;
        next.list.push_back(std::move(extended));
        break;
      }
    }
  }
  known_points_[hash()] = next.list;
  points_.push_back(std::move(next));
  return points_.back().list;
}

bool Facts::FailsAtPoint(const DimExpr& e) {
  for (const Point& point : CurrentPoints()) {
    const auto v = e.Evaluate(point);
    if (v && *v < 0) return true;
  }
  return false;
}

void Facts::Push(const Polynomial& p) {
  for (const Fact& f : facts_) {
    if (f.nonnegative == p) return;
  }
  const uint64_t mixed = (hash() ^ p.hash()) * 0x9E3779B97F4A7C15u;
  Fact fact{p, p.AllMonomials(), std::nullopt, {}, mixed ^ (mixed >> 29)};
  // a*x + c >= 0 with a > 0 bounds x from below.
  if (p.monomials().size() == 1) {
    const Monomial& m = p.monomials()[0];
    if (m.factors.size() == 1 && m.factors[0].power == 1 &&
        Rational(0) < m.coefficient) {
      const Rational bound = -p.constant_term() / m.coefficient;
      fact.atom = m.factors[0].atom;
      fact.least = -((-bound).Floor());
    }
  }
  facts_.push_back(std::move(fact));
}

void Facts::Add(const Obligation& fact) {
  const Polynomial& p = fact.expr.polynomial();
  if (!p.ok() || p.IsConstant()) {
    // A false constant fact makes everything true.
    if (p.ok()) Push(p);
    if (p.ok() && fact.kind == Obligation::kZero) Push(-p);
    return;
  }
  Describe(p, kDescribeDepth);
  Push(p);
  if (fact.kind == Obligation::kZero) Push(-p);
}

void Facts::Describe(const Polynomial& p, int depth) {
  if (depth == 0) return;
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (!f.atom.is_symbol()) DescribeAtom(f.atom, depth);
    }
  }
}

void Facts::DescribeAtom(const Atom& atom, int depth) {
  for (const auto& [known, at] : described_) {
    if (known == atom) return;
  }
  described_.emplace_back(atom, facts_.size());
  for (const Polynomial& arg : atom.args()) Describe(arg, depth - 1);
  const Polynomial value(atom);
  if (atom.Is("floordiv")) {
    const Polynomial &a = atom.args()[0], &b = atom.args()[1];
    Push(b - 1);
    Push(a - b * value);
    Push(b * value + b - 1 - a);
    if (Shown(a)) Push(value);
  } else if (atom.Is("max") || atom.Is("min")) {
    bool bounded = true;
    for (const Polynomial& arg : atom.args()) {
      Push(atom.Is("max") ? value - arg : arg - value);
      bounded = bounded && Shown(arg);
    }
    if (atom.Is("min") && bounded) Push(value);
  }
}

std::optional<Rational> Facts::Least(const Atom& atom) const {
  std::optional<Rational> least;
  for (const Fact& f : facts_) {
    if (!f.atom || !(*f.atom == atom)) continue;
    if (!least || *least < f.least) least = f.least;
  }
  return least;
}

bool Facts::Shown(const Polynomial& p) const {
  if (!p.ok()) return false;
  // Few payments first: a wrong one early costs all that follow it.
  for (int payments = 0; payments <= kMaxPayments; ++payments) {
    int budget = kPaymentBudget;
    if (Pay(p, payments, budget)) return true;
  }
  return false;
}

bool Facts::PositiveAsItIs(const Polynomial& p) const {
  std::map<Atom, std::optional<Rational>> least;
  bool grows = true;  // with every atom
  for (const Monomial& m : p.monomials()) {
    if (m.coefficient < Rational(0)) {
      if (m.factors.size() == 1 && p.Degree() == 1) return false;
      grows = false;
    }
    for (const Factor& f : m.factors) {
      if (f.power < 0) return false;
      auto [it, added] = least.emplace(f.atom, std::nullopt);
      if (added) it->second = Least(f.atom);
      // Without a bound only squares are known not to be negative.
      if (!it->second && f.power % 2 != 0) return false;
      grows = grows && it->second && !(*it->second < Rational(0));
    }
  }
  if (grows) {
    const auto value = p.Evaluate([&](const Atom& a) { return least.at(a); });
    return value && !(*value < Rational(0));
  }
  const Polynomial shifted = p.Transform([&](const Atom& a) {
    const auto& bound = least.at(a);
    return bound ? Polynomial(a) + Polynomial(*bound) : Polynomial(a);
  });
  if (!shifted.ok()) return false;
  for (const Monomial& m : shifted.AllMonomials()) {
    if (m.coefficient < Rational(0)) return false;
  }
  return true;
}

bool Facts::Pay(const Polynomial& p, int depth, int& budget) const {
  if (!p.ok()) return false;
  if (depth == 0) return PositiveAsItIs(p);
  // Any monomial may be the one to pay for; negative ones come first, those
  // of unknown sign after them.
  std::vector<Monomial> due;
  for (const Monomial& m : p.AllMonomials()) {
    if (m.coefficient < Rational(0)) due.push_back(m);
  }
  for (const Monomial& m : p.monomials()) {
    if (Rational(0) < m.coefficient && !PositiveAsItIs(Single(m))) {
      due.push_back(m);
    }
  }
  for (const Monomial& m : due) {
    // What was added last is the most likely to matter.
    for (auto f = facts_.rbegin(); f != facts_.rend(); ++f) {
      for (const Monomial& part : f->monomials) {
        if ((part.coefficient < Rational(0)) != (m.coefficient < Rational(0))) {
          continue;
        }
        auto times = Quotient(m, part);
        if (!times) continue;
        const Polynomial factor =
            Single({m.coefficient / part.coefficient, *std::move(times)});
        if (!factor.IsConstant() && !PositiveAsItIs(factor)) continue;
        if (--budget < 0) return false;
        if (Pay(p - factor * f->nonnegative, depth - 1, budget)) return true;
      }
    }
  }
  return false;
}

ArithmeticQuery Facts::Query(const DimExpr& e) const {
  ArithmeticQuery query{{}, {Obligation::kNonNegative, e}};
  for (const Fact& f : facts_) {
    query.facts.push_back({Obligation::kNonNegative, DimExpr(f.nonnegative)});
  }
  return query;
}

bool Facts::AskSolver(const DimExpr& e) {
  if (!effort_->solver || !effort_->Step()) return false;
  ++effort_->solver_calls;
  return effort_->solver(SmtText(Query(e))) == SmtAnswer::kUnsat;
}

bool Facts::NonNegative(const DimExpr& e) {
  if (!e.ok()) return false;
  if (auto c = e.constant()) return *c >= 0;
  if (!effort_->Step()) return false;
  Describe(e.polynomial(), kDescribeDepth);
  if (FailsAtPoint(e)) return false;
  const std::pair<uint64_t, uint64_t> question = {hash(), e.hash()};
  if (not_shown_.count(question)) return false;
  if (Shown(e.polynomial())) {
    if (effort_->record) effort_->settled.push_back(Query(e));
    return true;
  }
  if (AskSolver(e)) return true;
  not_shown_.insert(question);
  return false;
}

bool Facts::Zero(const DimExpr& e) {
  if (auto c = e.constant()) return *c == 0;
  if (FailsAtPoint(e) || FailsAtPoint(-e)) return false;
  return NonNegative(e) && NonNegative(-e);
}

std::optional<int64_t> Facts::PlausibleValue(const DimExpr& e) {
  std::optional<int64_t> value;
  for (const Point& point : CurrentPoints()) {
    const auto v = e.Evaluate(point);
    if (!v || (value && *value != *v)) return std::nullopt;
    value = v;
  }
  return value.value_or(0);
}

std::optional<int64_t> Facts::OnlyValue(const std::string& symbol) {
  const DimExpr e = DimExpr::Symbol(symbol);
  const auto value = PlausibleValue(e);
  if (!value || !Zero(e - *value)) return std::nullopt;
  return value;
}

bool Facts::Contradictory() {
  if (!CurrentPoints().empty()) return false;
  return Shown(Polynomial(-1)) || AskSolver(DimExpr(-1));
}

std::optional<bool> Facts::Sign(const DimExpr& e) {
  if (NonNegative(e)) return true;
  if (NonNegative(-e - 1)) return false;
  return std::nullopt;
}

}  // namespace isomer::verify

// A goal p >= 0 is shown by p = c1*f1 + c2*f2 + ... + q, where the facts f are
// not negative, the factors c neither, and every monomial of q is positive
// once each atom is written as its least value plus something.
#include "verify/arithmetic.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "verify/smt_text.h"

namespace isomer::verify {

namespace {

constexpr int kMaxPayments = 4;
constexpr int kPaymentBudget = 40;  // payments tried
constexpr int kTries = 12;          // to extend a point
constexpr int kFirstTries = 300;    // to find one
constexpr int kBoldTries = 30;      // before values stay low
constexpr int kEnough = 16;         // points, beyond the first try
constexpr int kDescribeDepth = 3;

Polynomial Single(const Monomial& m) {
  if (m.factors.empty()) return m.coefficient;
  return Polynomial::Sum({m});
}

// A bit for each atom: what divides a product has no other bits.
uint64_t Mask(const Monomial& m) {
  uint64_t mask = 0;
  for (const Factor& f : m.factors) mask |= uint64_t{1} << f.atom.hash() % 64;
  return mask;
}

// `whole` over `part`, if the powers allow it and what is left is at most one
// symbol: longer ones hardly ever pay.
std::optional<Monomial> Quotient(const Monomial& whole, const Monomial& part) {
  if (part.factors.empty() != whole.factors.empty()) return std::nullopt;
  if (!DividesProduct(part, whole)) return std::nullopt;
  Monomial out{whole.coefficient / part.coefficient, {}};
  for (const Factor& f : whole.factors) {
    int32_t power = f.power;
    for (const Factor& g : part.factors) {
      if (g.atom == f.atom) power -= g.power;
    }
    if (power != 0) out.factors.push_back({f.atom, power});
  }
  if (out.factors.size() > 1) return std::nullopt;
  return out;
}

}  // namespace

// What has no meaning over the integers asks nothing.
std::string SmtText(const ArithmeticQuery& query) {
  std::map<std::string, std::string> names;
  SmtArithmetic print([&](const std::string& text) {
    return names.emplace(text, absl::StrCat("v", names.size())).first->second;
  });
  std::string body;
  for (const Obligation& f : query.facts) {
    absl::StrAppend(&body, "(assert ", print.Relation(f), ")\n");
  }
  absl::StrAppend(&body, "(assert (not ", print.Relation(query.goal), "))\n");
  std::string out;
  for (const auto& [text, name] : names) {
    absl::StrAppend(&out, "(declare-const ", name, " Int) ; ", text, "\n");
  }
  for (const std::string& d : print.divisors()) {
    absl::StrAppend(&out, "(assert (>= ", d, " 1))\n");
  }
  return print.integral() ? out + body : "(assert true)\n";
}

bool Effort::Step() {
  if (steps_left > 0) --steps_left;
  if (absl::Now() > deadline) steps_left = 0;
  return steps_left > 0;
}

void Facts::Truncate(size_t size) {
  for (; facts_.size() > size; facts_.pop_back()) {
    if (facts_.back().fact->atom) bounds_.pop_back();
  }
  while (!described_.empty() && described_.back().second >= size) {
    described_.pop_back();
  }
  while (!points_.empty() && points_.back().facts > size) points_.pop_back();
  while (!shown_.empty() && shown_.back().second > size) shown_.pop_back();
}

std::vector<Facts::OpenSymbol> Facts::OpenSymbols(size_t first,
                                                  const Points& known) const {
  std::vector<OpenSymbol> open;
  for (size_t f = first; f < facts_.size(); ++f) {
    const Polynomial& p = facts_[f].fact->nonnegative;
    for (const std::string& s : p.Symbols()) {
      const Atom atom = Atom::Symbol(s);
      if (known.Knows(atom)) continue;
      auto it = std::find_if(open.begin(), open.end(),
                             [&](const auto& o) { return o.symbol == atom; });
      if (it == open.end()) it = open.insert(open.end(), {atom, {}, {}});
      if (p.Degree(atom) != 1) continue;
      const auto factor = p.Coefficient(atom).constant();
      if (!factor) continue;
      const Polynomial rest = p - Polynomial(*factor) * Polynomial(atom);
      if (factor->IsOne()) it->low.push_back(-rest);
      if (*factor == Rational(-1)) it->high.push_back(rest);
    }
  }
  return open;
}

// Gives the symbol a value within its bounds at each point, a shy one mostly
// the least; returns the points where there is none, as bits.
uint32_t Facts::Draw(Points& points, const OpenSymbol& open, bool shy) {
  std::array<int64_t, Points::kMost> low{}, high;
  high.fill(INT64_MAX);
  for (const Polynomial& p : open.low) {
    const Points::Values v = points.Evaluate(p);
    for (int i = 0; i < points.size(); ++i) {
      if (v.known >> i & 1) low[i] = std::max(low[i], v.at[i]);
    }
  }
  for (const Polynomial& p : open.high) {
    const Points::Values v = points.Evaluate(p);
    for (int i = 0; i < points.size(); ++i) {
      if (v.known >> i & 1) high[i] = std::min(high[i], v.at[i]);
    }
  }
  uint32_t none = 0;
  std::array<int64_t, Points::kMost> drawn{};
  for (int i = 0; i < points.size(); ++i) {
    if (high[i] == INT64_MAX) high[i] = low[i] + (random_() % 3 == 0 ? 12 : 3);
    if (high[i] < low[i]) {
      none |= uint32_t{1} << i;
      continue;
    }
    // Most of what is false is false at an end; equations between products
    // hold at the low one.
    const uint64_t draw = shy && random_() % 8 != 0 ? 0 : random_() % 4;
    const uint64_t width = static_cast<uint64_t>(high[i] - low[i]) + 1;
    drawn[i] = draw == 0   ? low[i]
               : draw == 1 ? high[i]
                           : low[i] + static_cast<int64_t>(random_() % width);
  }
  points.Set(open.symbol, drawn);
  return none;
}

// Gives values to the symbols that are open, so that the facts from `first` on
// hold, at as many points as that is found for.
Points Facts::Extend(const Points& before, size_t first) {
  const std::vector<OpenSymbol> open = OpenSymbols(first, before);
  std::vector<int> pending(before.size());
  std::iota(pending.begin(), pending.end(), 0);
  std::optional<Points> out;
  const int tries = open.empty() ? 1 : first == 0 ? kFirstTries : kTries;
  for (int t = 0; t < tries && !pending.empty(); ++t) {
    if (out && out->size() >= kEnough) break;
    Points trial = before.Select(pending);
    uint32_t bad = 0;
    for (const OpenSymbol& o : open) bad |= Draw(trial, o, t >= kBoldTries);
    for (size_t f = first; f < facts_.size(); ++f) {
      // What has no value at small numbers (a fraction) does not rule one out.
      const Points::Values v = trial.Evaluate(facts_[f].fact->nonnegative);
      for (int i = 0; i < trial.size(); ++i) {
        if ((v.known >> i & 1) != 0 && v.at[i] < 0) bad |= uint32_t{1} << i;
      }
    }
    std::vector<int> good, left;
    for (int i = 0; i < trial.size(); ++i) {
      if (bad >> i & 1) {
        left.push_back(pending[i]);
      } else {
        good.push_back(i);
      }
    }
    if (!out) out = trial.Select({});
    out->Append(trial, good);
    pending = std::move(left);
  }
  return out ? *std::move(out) : Points(0);
}

const Points& Facts::CurrentPoints() {
  if (points_.empty()) {
    points_.push_back({0, std::make_shared<Points>(Points::kMost)});
  }
  if (points_.back().facts == facts_.size()) return *points_.back().points;
  std::shared_ptr<const Points>& known = known_points_[list()];
  if (known == nullptr) {
    known = std::make_shared<Points>(
        Extend(*points_.back().points, points_.back().facts));
  }
  points_.push_back({facts_.size(), known});
  return *known;
}

const Facts::Fact* Facts::FactOf(const Polynomial& p) {
  std::unique_ptr<const Fact>& known = known_facts_[p];
  if (known != nullptr) return known.get();
  Fact fact{p, p.AllMonomials(), {}, std::nullopt, {}};
  for (const Monomial& m : fact.monomials) fact.masks.push_back(Mask(m));
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
  known = std::make_unique<const Fact>(std::move(fact));
  return known.get();
}

void Facts::Push(const Fact* fact) {
  for (const Listed& f : facts_) {
    if (f.fact == fact) return;
  }
  const List next = static_cast<List>(lists_.size()) + 1;
  facts_.push_back(
      {fact, lists_.try_emplace({list(), fact}, next).first->second});
  if (fact->atom) bounds_.push_back(fact);
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
  const Meaning& meaning = MeaningOf(atom);
  bool positive = meaning.itself != nullptr;
  for (const Meaning::Part& part : meaning.parts) {
    Push(part.fact);
    if (part.needed) positive = positive && Shown(*part.needed);
  }
  if (positive) Push(meaning.itself);
}

const Facts::Meaning& Facts::MeaningOf(const Atom& atom) {
  auto [it, added] = meanings_.try_emplace(atom);
  Meaning& out = it->second;
  if (!added) return out;
  const Polynomial value(atom);
  if (atom.Is("floordiv")) {
    const Polynomial &a = atom.args()[0], &b = atom.args()[1];
    out.parts = {{FactOf(b - 1)},
                 {FactOf(a - b * value)},
                 {FactOf(b * value + b - 1 - a), a}};
    out.itself = FactOf(value);
  } else if (atom.Is("max") || atom.Is("min")) {
    const bool max = atom.Is("max");
    for (const Polynomial& arg : atom.args()) {
      out.parts.push_back({FactOf(max ? value - arg : arg - value)});
      if (!max) out.parts.back().needed = arg;
    }
    if (!max) out.itself = FactOf(value);
  }
  return out;
}

std::optional<Rational> Facts::Least(const Atom& atom) const {
  std::optional<Rational> least;
  const uint64_t hash = atom.hash();
  for (const Fact* f : bounds_) {
    if (f->atom->hash() != hash || !(*f->atom == atom)) continue;
    if (!least || *least < f->least) least = f->least;
  }
  return least;
}

bool Facts::Shown(const Polynomial& p) {
  if (!p.ok()) return false;
  const Question question(list(), p);
  const auto known = paid_.find(question);
  if (known != paid_.end()) return known->second;
  return paid_[question] = ShownAnew(p, nullptr);
}

bool Facts::ShownAnew(const Polynomial& p, Payments* how) const {
  if (!p.ok()) return false;
  // Few payments first: a wrong one early costs all that follow it.
  for (int payments = 0; payments <= kMaxPayments; ++payments) {
    int budget = kPaymentBudget;
    if (Pay(p, payments, budget, how)) return true;
  }
  return false;
}

bool Facts::PositiveAsItIs(const Monomial& m) const {
  if (m.coefficient < Rational(0)) return false;
  for (const Factor& f : m.factors) {
    if (f.power < 0) return false;
    if (f.power % 2 == 0) continue;
    const auto least = Least(f.atom);
    if (!least || *least < Rational(0)) return false;
  }
  return true;
}

bool Facts::PositiveAsItIs(const Polynomial& p) const {
  if (p.constant_term().IsZero() && p.monomials().size() == 1) {
    return PositiveAsItIs(p.monomials()[0]);
  }
  const int64_t degree = p.Degree();
  bool grows = true;  // with every atom
  for (const Monomial& m : p.monomials()) {
    if (!(m.coefficient < Rational(0))) continue;
    if (m.Degree() == degree) return false;  // it would stay
    grows = false;
  }
  absl::InlinedVector<std::pair<const Atom*, std::optional<Rational>>, 8> least;
  const auto least_of = [&](const Atom& a) -> std::optional<Rational>& {
    for (auto& [atom, value] : least) {
      if (*atom == a) return value;
    }
    return least.emplace_back(&a, Least(a)).second;
  };
  for (const Monomial& m : p.monomials()) {
    for (const Factor& f : m.factors) {
      if (f.power < 0) return false;
      const std::optional<Rational>& bound = least_of(f.atom);
      // Without a bound only squares are known not to be negative.
      if (!bound && f.power % 2 != 0) return false;
      grows = grows && bound && !(*bound < Rational(0));
    }
  }
  if (grows) {
    const auto value = p.Evaluate(least_of);
    return value && !(*value < Rational(0));
  }
  const bool shift = std::any_of(least.begin(), least.end(), [](const auto& l) {
    return l.second && !l.second->IsZero();
  });
  const auto above = [&](const Atom& a) -> std::optional<Polynomial> {
    const std::optional<Rational>& bound = least_of(a);
    if (!bound) return std::nullopt;
    return Polynomial(a) + Polynomial(*bound);
  };
  const Polynomial shifted = shift ? p.Transform(above) : p;
  if (!shifted.ok()) return false;
  return !(shifted.constant_term() < Rational(0)) &&
         absl::c_none_of(shifted.monomials(), [](const Monomial& m) {
           return m.coefficient < Rational(0);
         });
}

bool Facts::Pay(const Polynomial& p, int depth, int& budget,
                Payments* how) const {
  if (!p.ok()) return false;
  if (depth == 0) return PositiveAsItIs(p);
  // Any monomial may be the one to pay for; negative ones come first, those
  // of unknown sign after them.
  std::vector<const Monomial*> due;
  for (const Monomial& m : p.monomials()) {
    if (m.coefficient < Rational(0)) due.push_back(&m);
  }
  const Monomial constant{p.constant_term(), {}};
  if (constant.coefficient < Rational(0)) due.push_back(&constant);
  for (const Monomial& m : p.monomials()) {
    if (Rational(0) < m.coefficient && !PositiveAsItIs(m)) due.push_back(&m);
  }
  for (const Monomial* one : due) {
    const Monomial& m = *one;
    const uint64_t mask = Mask(m);
    // What was added last is the most likely to matter.
    for (auto at = facts_.rbegin(); at != facts_.rend(); ++at) {
      const Fact* f = at->fact;
      for (size_t k = 0; k < f->monomials.size(); ++k) {
        if (f->masks[k] & ~mask) continue;
        const Monomial& part = f->monomials[k];
        if ((part.coefficient < Rational(0)) != (m.coefficient < Rational(0))) {
          continue;
        }
        auto times = Quotient(m, part);
        if (!times) continue;
        if (!times->factors.empty() && !PositiveAsItIs(*times)) continue;
        if (--budget < 0) return false;
        const Polynomial factor = Single(*std::move(times));
        if (Pay(p - factor * f->nonnegative, depth - 1, budget, how)) {
          if (how) how->push_back({DimExpr(factor), DimExpr(f->nonnegative)});
          return true;
        }
      }
    }
  }
  return false;
}

ArithmeticQuery Facts::Query(const DimExpr& e) const {
  ArithmeticQuery query{{}, {Obligation::kNonNegative, e}};
  for (const Listed& f : facts_) {
    query.facts.push_back(
        {Obligation::kNonNegative, DimExpr(f.fact->nonnegative)});
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
  if (CurrentPoints().SomeNegative(e.polynomial())) return false;
  const Question question(list(), e.polynomial());
  if (not_shown_.contains(question)) return false;
  for (const auto& [shown, facts] : shown_) {
    if (shown == e.polynomial()) return true;
  }
  Payments how;
  if (effort_->record ? ShownAnew(e.polynomial(), &how)
                      : Shown(e.polynomial())) {
    shown_.emplace_back(e.polynomial(), facts_.size());
    if (effort_->record) {
      effort_->settled.push_back(Query(e));
      effort_->settled.back().payments = std::move(how);
    }
    return true;
  }
  if (ShownAtEach(e.polynomial())) {
    shown_.emplace_back(e.polynomial(), facts_.size());
    if (effort_->record) effort_->settled.push_back(Query(e));
    return true;
  }
  if (AskSolver(e)) return true;
  not_shown_.insert(question);
  return false;
}

bool Facts::ShownAtEach(const Polynomial& p) {
  for (const Monomial& m : p.monomials()) {
    if (m.factors.size() != 1 || m.factors[0].power != 1) continue;
    const Atom& atom = m.factors[0].atom;
    if (!atom.Is(m.coefficient < Rational(0) ? "max" : "min")) continue;
    const Polynomial rest = p - Single(m);
    return absl::c_all_of(atom.args(), [&](const Polynomial& arg) {
      return NonNegative(DimExpr(rest + Polynomial(m.coefficient) * arg));
    });
  }
  return false;
}

bool Facts::Zero(const DimExpr& e) {
  if (auto c = e.constant()) return *c == 0;
  if (CurrentPoints().SomeNonZero(e.polynomial())) return false;
  return NonNegative(e) && NonNegative(-e);
}

std::optional<int64_t> Facts::PlausibleValue(const DimExpr& e) {
  const Points& points = CurrentPoints();
  if (points.size() == 0) return 0;
  return points.CommonValue(e.polynomial());
}

std::optional<int64_t> Facts::OnlyValue(const std::string& symbol) {
  const DimExpr e = DimExpr::Symbol(symbol);
  const auto value = PlausibleValue(e);
  if (!value || !Zero(e - *value)) return std::nullopt;
  return value;
}

bool Facts::Contradictory() {
  if (CurrentPoints().size() > 0) return false;
  return Shown(Polynomial(-1)) || AskSolver(DimExpr(-1));
}

std::optional<bool> Facts::Sign(const DimExpr& e) {
  if (NonNegative(e)) return true;
  if (NonNegative(-e - 1)) return false;
  return std::nullopt;
}

}  // namespace isomer::verify

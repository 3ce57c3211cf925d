// Intervals follow monomial by monomial. A remainder, a - b*floordiv(a, b),
// would get too wide an interval that way, so remainders are looked for first.
#include "cuda/index_code.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace isomer::cuda {

namespace {

constexpr int64_t kHuge = int64_t{1} << 61;
constexpr char kFloorDiv[] = "floordiv";

std::optional<Interval> Checked(Interval i) {
  if (i.low < -kHuge || i.high > kHuge) return std::nullopt;
  return i;
}

std::optional<Interval> Times(Interval a, Interval b) {
  Interval out{INT64_MAX, INT64_MIN};
  for (int64_t x : {a.low, a.high}) {
    for (int64_t y : {b.low, b.high}) {
      const __int128 p = static_cast<__int128>(x) * y;
      if (p > kHuge || p < -kHuge) return std::nullopt;
      out.low = std::min(out.low, static_cast<int64_t>(p));
      out.high = std::max(out.high, static_cast<int64_t>(p));
    }
  }
  return out;
}

std::optional<int64_t> IntegerOf(const Rational& r) {
  if (!r.ok() || !r.IsInteger()) return std::nullopt;
  return r.num();
}

std::optional<Interval> IntervalOfPoly(const Polynomial& p,
                                       const Intervals& known, int depth);

std::optional<Interval> IntervalOfAtom(const Atom& atom, const Intervals& known,
                                       int depth) {
  if (atom.is_symbol()) {
    const auto it = known.find(atom.name());
    if (it == known.end()) return std::nullopt;
    return it->second;
  }
  if (atom.Is("max") || atom.Is("min")) {
    std::optional<Interval> out;
    for (const Polynomial& arg : atom.args()) {
      const auto x = IntervalOfPoly(arg, known, depth);
      if (!x) return std::nullopt;
      if (!out) {
        out = x;
      } else if (atom.Is("max")) {
        out = {std::max(out->low, x->low), std::max(out->high, x->high)};
      } else {
        out = {std::min(out->low, x->low), std::min(out->high, x->high)};
      }
    }
    return out;
  }
  if (!atom.Is(kFloorDiv)) return std::nullopt;
  const std::optional<int64_t> b = DimExpr(atom.args()[1]).constant();
  if (!b || *b <= 0) return std::nullopt;
  const auto a = IntervalOfPoly(atom.args()[0], known, depth);
  if (!a) return std::nullopt;
  return Interval{FloorDiv(a->low, *b), FloorDiv(a->high, *b)};
}

// p as t * (a - b*floordiv(a, b)) + rest, for the first quotient of such form.
std::optional<Interval> WithRemainder(const Polynomial& p,
                                      const Intervals& known, int depth) {
  for (const Monomial& m : p.monomials()) {
    if (m.factors.size() != 1 || m.factors[0].power != 1) continue;
    const Atom& atom = m.factors[0].atom;
    if (!atom.Is(kFloorDiv)) continue;
    const std::optional<int64_t> b = DimExpr(atom.args()[1]).constant();
    const std::optional<int64_t> q = IntegerOf(m.coefficient);
    if (!b || *b <= 0 || !q || *q >= 0 || *q % *b != 0) continue;
    const int64_t t = -*q / *b;
    const Polynomial rest =
        p - Polynomial(t) * (atom.args()[0] - Polynomial(*b) * atom);
    const auto r = IntervalOfPoly(rest, known, depth - 1);
    if (!r) return std::nullopt;
    return Checked({r->low, r->high + t * (*b - 1)});
  }
  return std::nullopt;
}

std::optional<Interval> IntervalOfPoly(const Polynomial& p,
                                       const Intervals& known, int depth) {
  const std::optional<int64_t> constant = IntegerOf(p.constant_term());
  if (!p.ok() || !constant || depth < 0) return std::nullopt;
  std::optional<Interval> sum = Interval{*constant, *constant};
  for (const Monomial& m : p.monomials()) {
    const std::optional<int64_t> c = IntegerOf(m.coefficient);
    if (!c) return std::nullopt;
    std::optional<Interval> product = Interval{*c, *c};
    for (const Factor& f : m.factors) {
      const auto x = IntervalOfAtom(f.atom, known, depth);
      if (!x || f.power < 0) return std::nullopt;
      for (int i = 0; i < f.power && product; ++i)
        product = Times(*product, *x);
      if (!product) return std::nullopt;
    }
    sum = Checked({sum->low + product->low, sum->high + product->high});
    if (!sum) return std::nullopt;
  }
  if (const auto better = WithRemainder(p, known, depth)) {
    sum->low = std::max(sum->low, better->low);
    sum->high = std::min(sum->high, better->high);
  }
  return sum;
}

constexpr int kDepth = 6;

// The dividend without the part that cannot carry into a multiple of g, where
// g divides the divisor and all else in the dividend.
std::optional<Polynomial> WithoutLowPart(const Polynomial& a, int64_t b,
                                         const Intervals& known) {
  std::set<int64_t> candidates = {b};
  for (const Monomial& m : a.monomials()) {
    if (const auto c = IntegerOf(m.coefficient)) {
      candidates.insert(std::gcd(*c, b));
    }
  }
  for (auto g = candidates.rbegin(); g != candidates.rend(); ++g) {
    if (*g <= 1) break;
    std::vector<Monomial> high, low;
    for (const Monomial& m : a.monomials()) {
      const auto c = IntegerOf(m.coefficient);
      if (!c) return std::nullopt;
      (*c % *g == 0 ? high : low).push_back(m);
    }
    const auto constant = IntegerOf(a.constant_term());
    if (!constant) return std::nullopt;
    const int64_t part = Mod(*constant, *g);
    const Polynomial rest = Polynomial::Sum(low) + Polynomial(part);
    if (rest.IsZero()) continue;
    const auto r = IntervalOfPoly(rest, known, kDepth);
    if (!r || r->low < 0 || r->high >= *g) continue;
    return Polynomial::Sum(high) + Polynomial(*constant - part);
  }
  return std::nullopt;
}

Polynomial TidyPoly(const Polynomial& p, const Intervals& known);

// The largest or smallest of `args`, without those that others always beat.
DimExpr Extreme(const std::vector<Polynomial>& args, bool largest,
                const Intervals& known) {
  DimExpr out(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    const DimExpr x(args[i]);
    const auto gap = IntervalOf(largest ? x - out : out - x, known);
    if (gap && gap->high <= 0) continue;
    if (gap && gap->low >= 0) {
      out = x;
    } else {
      out = largest ? MaxOf(out, x) : MinOf(out, x);
    }
  }
  return out;
}

std::optional<Polynomial> TidyAtom(const Atom& atom, const Intervals& known) {
  if (atom.is_symbol()) return std::nullopt;
  std::vector<Polynomial> args;
  for (const Polynomial& arg : atom.args())
    args.push_back(TidyPoly(arg, known));
  if (atom.Is("max") || atom.Is("min")) {
    return Extreme(args, atom.Is("max"), known).polynomial();
  }
  if (!atom.Is(kFloorDiv)) return Polynomial::Apply(atom.name(), args);
  const std::optional<int64_t> b = DimExpr(args[1]).constant();
  if (b && *b > 0) {
    if (const auto less = WithoutLowPart(args[0], *b, known)) args[0] = *less;
  }
  return FloorDiv(DimExpr(args[0]), DimExpr(args[1])).polynomial();
}

Polynomial TidyPoly(const Polynomial& p, const Intervals& known) {
  return p.Transform([&](const Atom& atom) { return TidyAtom(atom, known); });
}

std::string PolyText(const Polynomial& p, const Intervals& known);

std::string AtomText(const Atom& atom, const Intervals& known) {
  if (atom.is_symbol()) return atom.name();
  std::vector<std::string> args;
  for (const Polynomial& a : atom.args()) args.push_back(PolyText(a, known));
  if (atom.Is(kFloorDiv)) {
    const auto a = IntervalOfPoly(atom.args()[0], known, kDepth);
    const auto b = DimExpr(atom.args()[1]).constant();
    if (a && a->low >= 0 && b && *b > 0) {
      return absl::StrCat("(int)((unsigned)", args[0], " / ", *b, "u)");
    }
    return absl::StrCat("iso_floordiv(", args[0], ", ", args[1], ")");
  }
  // The larger or the smaller of several.
  std::string text = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    text = absl::StrCat("iso_", atom.name(), "_int(", text, ", ", args[i], ")");
  }
  return text;
}

std::string PolyText(const Polynomial& p, const Intervals& known) {
  std::string text;
  for (const Monomial& m : p.AllMonomials()) {
    const int64_t c = m.coefficient.num();
    std::string term;
    for (const Factor& f : m.factors) {
      for (int i = 0; i < f.power; ++i) {
        absl::StrAppend(&term, term.empty() ? "" : " * ",
                        AtomText(f.atom, known));
      }
    }
    const int64_t size = c < 0 ? -c : c;
    if (term.empty()) {
      term = absl::StrCat(size);
    } else if (size != 1) {
      term = absl::StrCat(term, " * ", size);
    }
    absl::StrAppend(
        &text,
        c < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + "),
        term);
  }
  return text.empty() ? "0" : absl::StrCat("(", text, ")");
}

}  // namespace

std::optional<Interval> IntervalOf(const DimExpr& e, const Intervals& known) {
  return IntervalOfPoly(e.polynomial(), known, kDepth);
}

DimExpr Tidy(const DimExpr& e, const Intervals& known) {
  return DimExpr(TidyPoly(e.polynomial(), known));
}

std::string IndexText(const DimExpr& e, const Intervals& known) {
  return PolyText(e.polynomial(), known);
}

}  // namespace isomer::cuda

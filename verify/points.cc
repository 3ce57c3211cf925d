#include "verify/points.h"

#include <algorithm>
#include <numeric>

#include "ops/dim.h"

namespace isomer::verify {

const Points::Column* Points::Find(const Atom& symbol) const {
  const uint64_t hash = symbol.hash();
  for (const Column& c : columns_) {
    if (c.hash == hash && c.symbol == symbol) return &c;
  }
  return nullptr;
}

void Points::Set(const Atom& symbol, const std::array<int64_t, kMost>& values) {
  columns_.push_back({symbol, symbol.hash(), values});
}

Points::Values Points::Filled(int64_t value) const {
  Values out;
  std::fill_n(out.at.begin(), size_, value);
  out.known = All();
  return out;
}

void Points::Multiply(Values& product, const Values& by) const {
  product.known &= by.known;
  for (int i = 0; i < size_; ++i) {
    if (__builtin_mul_overflow(product.at[i], by.at[i], &product.at[i])) {
      product.known &= ~(uint32_t{1} << i);
    }
  }
}

void Points::Add(Values& sum, const Values& term) const {
  sum.known &= term.known;
  for (int i = 0; i < size_; ++i) {
    if (__builtin_add_overflow(sum.at[i], term.at[i], &sum.at[i])) {
      sum.known &= ~(uint32_t{1} << i);
    }
  }
}

Points::Fractions Points::Sum(const Polynomial& p) const {
  Fractions out{Filled(0), 1};
  if (!p.ok()) {
    out.num.known = 0;
    return out;
  }
  const auto join = [&](int64_t den) {
    const int64_t more = den / std::gcd(out.den, den);
    if (__builtin_mul_overflow(out.den, more, &out.den)) out.num.known = 0;
  };
  join(p.constant_term().den());
  for (const Monomial& m : p.monomials()) join(m.coefficient.den());
  if (out.num.known == 0) return out;
  const auto scaled = [&](const Rational& r) {
    Values v = Filled(r.num());
    if (out.den != r.den()) Multiply(v, Filled(out.den / r.den()));
    return v;
  };
  Add(out.num, scaled(p.constant_term()));
  for (const Monomial& m : p.monomials()) {
    std::optional<Values> term;
    if (!m.coefficient.IsOne() || out.den != 1) term = scaled(m.coefficient);
    for (const Factor& f : m.factors) {
      if (f.power < 0) {
        out.num.known = 0;
        return out;
      }
      const Values base = AtomValues(f.atom);
      for (int i = 0; i < f.power; ++i) {
        if (term) {
          Multiply(*term, base);
        } else {
          term = base;
        }
      }
    }
    Add(out.num, *term);
  }
  return out;
}

Points::Values Points::Evaluate(const Polynomial& p) const {
  Fractions sum = Sum(p);
  if (sum.den == 1) return sum.num;
  for (int i = 0; i < size_; ++i) {
    if (sum.num.at[i] % sum.den != 0) sum.num.known &= ~(uint32_t{1} << i);
    sum.num.at[i] /= sum.den;
  }
  return sum.num;
}

Points::Values Points::AtomValues(const Atom& atom) const {
  if (atom.is_symbol()) {
    const Column* c = Find(atom);
    return c == nullptr ? Values{{}, 0} : Values{c->at, All()};
  }
  if (atom.Is("floordiv")) return Quotients(atom);
  if (atom.Is("max")) return Extremes(atom, true);
  if (atom.Is("min")) return Extremes(atom, false);
  return {{}, 0};
}

Points::Values Points::Quotients(const Atom& atom) const {
  Fractions a = Sum(atom.args()[0]), b = Sum(atom.args()[1]);
  Multiply(a.num, Filled(b.den));
  Multiply(b.num, Filled(a.den));
  a.num.known &= b.num.known;
  for (int i = 0; i < size_; ++i) {
    // A divisor is positive wherever one stands.
    if (b.num.at[i] <= 0) {
      a.num.known &= ~(uint32_t{1} << i);
    } else {
      a.num.at[i] = FloorDiv(a.num.at[i], b.num.at[i]);
    }
  }
  return a.num;
}

Points::Values Points::Extremes(const Atom& atom, bool max) const {
  Values out = Evaluate(atom.args()[0]);
  for (size_t k = 1; k < atom.args().size(); ++k) {
    const Values next = Evaluate(atom.args()[k]);
    out.known &= next.known;
    for (int i = 0; i < size_; ++i) {
      out.at[i] = max ? std::max(out.at[i], next.at[i])
                      : std::min(out.at[i], next.at[i]);
    }
  }
  return out;
}

bool Points::SomeNegative(const Polynomial& p) const {
  const Values v = Evaluate(p);
  for (int i = 0; i < size_; ++i) {
    if ((v.known >> i & 1) != 0 && v.at[i] < 0) return true;
  }
  return false;
}

bool Points::SomeNonZero(const Polynomial& p) const {
  const Values v = Evaluate(p);
  for (int i = 0; i < size_; ++i) {
    if ((v.known >> i & 1) != 0 && v.at[i] != 0) return true;
  }
  return false;
}

std::optional<int64_t> Points::CommonValue(const Polynomial& p) const {
  if (size_ == 0) return std::nullopt;
  const Values v = Evaluate(p);
  if (v.known != All()) return std::nullopt;
  for (int i = 1; i < size_; ++i) {
    if (v.at[i] != v.at[0]) return std::nullopt;
  }
  return v.at[0];
}

Points Points::Select(absl::Span<const int> places) const {
  Points out(0);
  out.columns_ = columns_;
  out.Append(*this, places);
  return out;
}

void Points::Append(const Points& others, absl::Span<const int> places) {
  for (size_t c = 0; c < columns_.size(); ++c) {
    for (size_t i = 0; i < places.size(); ++i) {
      columns_[c].at[size_ + i] = others.columns_[c].at[places[i]];
    }
  }
  size_ += static_cast<int>(places.size());
}

}  // namespace isomer::verify

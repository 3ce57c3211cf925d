// Sorted-merge arithmetic on monomials. The constant term lives outside the
// shared list, so adding a constant shares the list.
#include "ops/polynomial.h"

#include <algorithm>
#include <limits>

#include "absl/base/const_init.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace isomer {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15;
  h ^= h >> 32;
  h *= 0xbf58476d1ce4e5b9;
  return h ^ (h >> 29);
}

uint64_t HashText(absl::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3;
  return h;
}

uint64_t HashRational(Rational r) {
  return Mix(static_cast<uint64_t>(r.num()), static_cast<uint64_t>(r.den()));
}

// Multiplies the products of two monomials; the coefficient becomes overflow
// where a power does.
Monomial Multiply(const Monomial& a, const Monomial& b) {
  Monomial result{a.coefficient * b.coefficient, {}};
  result.factors.reserve(a.factors.size() + b.factors.size());
  auto i = a.factors.begin();
  auto j = b.factors.begin();
  while (i != a.factors.end() && j != b.factors.end()) {
    int order = Atom::Compare(i->atom, j->atom);
    if (order < 0) {
      result.factors.push_back(*i++);
    } else if (order > 0) {
      result.factors.push_back(*j++);
    } else {
      int32_t power = 0;
      if (__builtin_add_overflow(i->power, j->power, &power)) {
        result.coefficient = Rational::Overflow();
      }
      if (power != 0) result.factors.push_back({i->atom, power});
      ++i, ++j;
    }
  }
  result.factors.insert(result.factors.end(), i, a.factors.end());
  result.factors.insert(result.factors.end(), j, b.factors.end());
  return result;
}

Rational PowRational(Rational base, uint64_t exponent) {
  Rational result = 1;
  while (exponent != 0 && result.ok()) {
    if (exponent & 1) result = result * base;
    exponent >>= 1;
    if (exponent != 0) base = base * base;
  }
  return result;
}

// Raises a single monomial to any power; overflow shows in the coefficient.
Monomial PowMonomial(const Monomial& m, int64_t exponent) {
  uint64_t magnitude = exponent < 0 ? 0 - static_cast<uint64_t>(exponent)
                                    : static_cast<uint64_t>(exponent);
  Rational base = exponent < 0 ? Rational(1) / m.coefficient : m.coefficient;
  Monomial result{PowRational(base, magnitude), {}};
  if (exponent == 0) return result;
  for (const Factor& f : m.factors) {
    int32_t power = 0;
    if (__builtin_mul_overflow(int64_t{f.power}, exponent, &power)) {
      result.coefficient = Rational::Overflow();
    }
    result.factors.push_back({f.atom, power});
  }
  return result;
}

void AppendMonomial(const Monomial& m, std::string* out) {
  Rational c = m.coefficient;
  const bool negative = c < Rational(0);
  if (out->empty()) {
    if (negative) *out = "-";
  } else {
    absl::StrAppend(out, negative ? " - " : " + ");
  }
  std::string text = c.ToString();
  if (negative) text.erase(0, 1);
  const bool show = m.factors.empty() || text != "1";
  if (show) absl::StrAppend(out, text);
  absl::string_view separator = show ? "*" : "";
  for (const Factor& f : m.factors) {
    absl::StrAppend(out, separator, f.atom.ToString());
    if (f.power != 1) absl::StrAppend(out, "^", f.power);
    separator = "*";
  }
}

// Adds the symbols of an atom, those inside its arguments included.
void CollectSymbols(const Atom& atom, std::set<std::string>* names) {
  if (atom.is_symbol()) names->insert(atom.name());
  for (const Polynomial& arg : atom.args()) {
    for (const Monomial& m : arg.monomials()) {
      for (const Factor& f : m.factors) CollectSymbols(f.atom, names);
    }
  }
}

// A value by its name, made once for all threads and never given up, so that
// copies need not be counted; null once there are very many.
template <class T>
const T* Kept(absl::string_view name, T (*make)(absl::string_view)) {
  constexpr size_t kMost = 1 << 16;
  using ByName = absl::flat_hash_map<std::string, const T*>;
  thread_local ByName known;
  if (auto it = known.find(name); it != known.end()) return it->second;
  static absl::Mutex mutex(absl::kConstInit);
  static ByName& all = *new ByName;
  absl::MutexLock lock(&mutex);
  auto it = all.find(name);
  if (it == all.end()) {
    if (all.size() == kMost) return nullptr;
    it = all.emplace(name, new T(make(name))).first;
  }
  return known.emplace(name, it->second).first->second;
}

// A pointer that does not count.
template <class T>
std::shared_ptr<T> Uncounted(T* kept) {
  return {std::shared_ptr<T>(), kept};
}

}  // namespace

struct Atom::Rep {
  std::string name;
  bool is_symbol;
  std::vector<Polynomial> args;
  uint64_t hash;
};

struct Polynomial::Rep {
  Monomials monomials;
  uint64_t hash;
};

Atom Atom::NewSymbol(absl::string_view name) {
  return Atom(std::make_shared<const Rep>(
      Rep{std::string(name), true, {}, HashText(name)}));
}

Atom Atom::Symbol(absl::string_view name) {
  const Atom* kept = Kept(name, &Atom::NewSymbol);
  return kept == nullptr ? NewSymbol(name) : Atom(Uncounted(kept->rep_.get()));
}

const std::string& Atom::name() const { return rep_->name; }
bool Atom::is_symbol() const { return rep_->is_symbol; }
const std::vector<Polynomial>& Atom::args() const { return rep_->args; }
uint64_t Atom::hash() const { return rep_->hash; }

bool Atom::Is(absl::string_view function) const {
  return !rep_->is_symbol && rep_->name == function;
}

std::string Atom::ToString() const {
  if (rep_->is_symbol) return rep_->name;
  std::string out = absl::StrCat(rep_->name, "(");
  absl::string_view separator = "";
  for (const Polynomial& arg : rep_->args) {
    absl::StrAppend(&out, separator, arg.ToString());
    separator = ", ";
  }
  return out + ")";
}

int Atom::Compare(const Atom& a, const Atom& b) {
  if (a.rep_ == b.rep_) return 0;
  if (a.is_symbol() != b.is_symbol()) return a.is_symbol() ? -1 : 1;
  if (int order = a.name().compare(b.name())) return order < 0 ? -1 : 1;
  const std::vector<Polynomial>& x = a.args();
  const std::vector<Polynomial>& y = b.args();
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (int order = Polynomial::Compare(x[i], y[i])) return order;
  }
  return 0;
}

int64_t Monomial::Degree() const {
  int64_t degree = 0;
  for (const Factor& f : factors) degree += f.power;
  return degree;
}

Monomial Monomial::Only(absl::FunctionRef<bool(const Factor&)> keep) const {
  Monomial out{coefficient, {}};
  for (const Factor& f : factors) {
    if (keep(f)) out.factors.push_back(f);
  }
  return out;
}

int CompareProducts(const Monomial& a, const Monomial& b) {
  const int64_t x = a.Degree();
  const int64_t y = b.Degree();
  if (x != y) return x < y ? -1 : 1;
  // The first atom whose powers differ decides, the higher power is greater.
  auto i = a.factors.begin();
  auto j = b.factors.begin();
  while (i != a.factors.end() || j != b.factors.end()) {
    int order = i == a.factors.end()   ? 1
                : j == b.factors.end() ? -1
                                       : Atom::Compare(i->atom, j->atom);
    int64_t left = order <= 0 ? i->power : 0;
    int64_t right = order >= 0 ? j->power : 0;
    if (left != right) return left < right ? -1 : 1;
    ++i, ++j;
  }
  return 0;
}

Polynomial::Polynomial(Atom atom) {
  Monomials single(1);
  single[0].coefficient = 1;
  single[0].factors.push_back({std::move(atom), 1});
  *this = FromSorted(std::move(single), 0);
}

Polynomial Polynomial::NewSymbol(absl::string_view name) {
  return Polynomial(Atom::Symbol(name));
}

Polynomial Polynomial::Symbol(absl::string_view name) {
  const Polynomial* kept = Kept(name, &Polynomial::NewSymbol);
  if (kept == nullptr) return NewSymbol(name);
  Polynomial out;
  out.rep_ = Uncounted(kept->rep_.get());
  return out;
}

Polynomial Polynomial::Apply(absl::string_view function,
                             std::vector<Polynomial> args) {
  uint64_t hash = Mix(HashText(function), args.size());
  for (const Polynomial& arg : args) {
    if (!arg.ok()) return Overflow();
    hash = Mix(hash, arg.hash());
  }
  return Polynomial(Atom(std::make_shared<const Atom::Rep>(
      Atom::Rep{std::string(function), false, std::move(args), hash})));
}

Polynomial Polynomial::FromSorted(Monomials monomials, Rational constant) {
  if (!constant.ok() || monomials.size() > kMaxMonomials) return Overflow();
  Polynomial result(constant);
  if (monomials.empty()) return result;
  uint64_t hash = monomials.size();
  for (const Monomial& m : monomials) {
    if (!m.coefficient.ok()) return Overflow();
    hash = Mix(hash, HashRational(m.coefficient));
    for (const Factor& f : m.factors) {
      hash = Mix(hash, Mix(f.atom.hash(), static_cast<uint64_t>(f.power)));
    }
  }
  result.rep_ = std::make_shared<const Rep>(Rep{std::move(monomials), hash});
  return result;
}

Polynomial Polynomial::Sum(std::vector<Monomial> monomials) {
  const auto greater = [](const Monomial& a, const Monomial& b) {
    return CompareProducts(a, b) > 0;
  };
  // Sorting asks for memory even where there is nothing to sort.
  if (!std::is_sorted(monomials.begin(), monomials.end(), greater)) {
    std::stable_sort(monomials.begin(), monomials.end(), greater);
  }
  Rational constant = 0;
  Monomials merged;
  for (Monomial& m : monomials) {
    if (m.factors.empty()) {
      constant = constant + m.coefficient;
    } else if (!merged.empty() && CompareProducts(merged.back(), m) == 0) {
      merged.back().coefficient = merged.back().coefficient + m.coefficient;
    } else {
      if (!merged.empty() && merged.back().coefficient.IsZero()) {
        merged.pop_back();
      }
      merged.push_back(std::move(m));
    }
  }
  if (!merged.empty() && merged.back().coefficient.IsZero()) merged.pop_back();
  return FromSorted(std::move(merged), constant);
}

std::optional<Rational> Polynomial::constant() const {
  if (!IsConstant()) return std::nullopt;
  return constant_;
}

std::optional<Atom> Polynomial::atom() const {
  if (rep_ == nullptr || !constant_.IsZero()) return std::nullopt;
  if (rep_->monomials.size() != 1) return std::nullopt;
  const Monomial& m = rep_->monomials[0];
  if (!m.coefficient.IsOne() || m.factors.size() != 1) return std::nullopt;
  if (m.factors[0].power != 1) return std::nullopt;
  return m.factors[0].atom;
}

absl::Span<const Monomial> Polynomial::monomials() const {
  if (rep_ == nullptr) return {};
  return rep_->monomials;
}

void Polynomial::AppendTo(std::vector<Monomial>& out) const {
  const absl::Span<const Monomial> parts = monomials();
  out.insert(out.end(), parts.begin(), parts.end());
  if (!constant_.IsZero()) out.push_back({constant_, {}});
}

std::vector<Monomial> Polynomial::AllMonomials() const {
  std::vector<Monomial> all;
  all.reserve(monomials().size() + 1);
  AppendTo(all);
  return all;
}

Polynomial Polynomial::Coefficient(const Atom& atom, int power) const {
  if (!ok()) return Overflow();
  std::vector<Monomial> rest;
  for (Monomial& m : AllMonomials()) {
    int32_t found = 0;
    for (size_t i = 0; i < m.factors.size(); ++i) {
      if (!(m.factors[i].atom == atom)) continue;
      found = m.factors[i].power;
      m.factors.erase(m.factors.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
    if (found == power) rest.push_back(std::move(m));
  }
  return Sum(std::move(rest));
}

int64_t Polynomial::Degree() const {
  int64_t degree = rep_ == nullptr || !constant_.IsZero()
                       ? 0
                       : std::numeric_limits<int64_t>::min();
  for (const Monomial& m : monomials()) degree = std::max(degree, m.Degree());
  return degree;
}

int64_t Polynomial::Degree(const Atom& atom) const {
  int64_t degree = 0;
  for (const Monomial& m : monomials()) {
    for (const Factor& f : m.factors) {
      if (f.atom == atom) degree = std::max<int64_t>(degree, f.power);
    }
  }
  return degree;
}

std::set<std::string> Polynomial::Symbols() const {
  std::set<std::string> names;
  for (const Monomial& m : monomials()) {
    for (const Factor& f : m.factors) CollectSymbols(f.atom, &names);
  }
  return names;
}

Polynomial Polynomial::Pow(int64_t exponent) const {
  if (!ok()) return Overflow();
  if (exponent == 0) return 1;
  if (exponent == 1) return *this;
  std::vector<Monomial> all = AllMonomials();
  if (all.empty()) return exponent > 0 ? Polynomial() : Overflow();
  if (all.size() == 1) return Sum({PowMonomial(all[0], exponent)});
  if (exponent < 0) return Overflow();
  Polynomial result = 1;
  Polynomial base = *this;
  while (result.ok() && base.ok()) {
    if (exponent & 1) result = result * base;
    exponent >>= 1;
    if (exponent == 0) return result;
    base = base * base;
  }
  return Overflow();
}

namespace {

// The monomial with atoms replaced, or nothing where none is.
std::optional<Polynomial> Replaced(
    const Monomial& m,
    absl::FunctionRef<std::optional<Polynomial>(const Atom&)> value) {
  Monomial rest{m.coefficient, {}};  // from the first change on
  std::optional<Polynomial> product;
  for (auto f = m.factors.begin(); f != m.factors.end(); ++f) {
    const std::optional<Polynomial> v = value(f->atom);
    if (!v) {
      if (product) rest.factors.push_back(*f);
      continue;
    }
    if (!product) rest.factors.assign(m.factors.begin(), f);
    const Polynomial power = v->Pow(f->power);
    product = product ? *product * power : power;
  }
  if (product) *product = *product * Polynomial::Sum({std::move(rest)});
  return product;
}

}  // namespace

Polynomial Polynomial::Transform(
    absl::FunctionRef<std::optional<Polynomial>(const Atom&)> value) const {
  const absl::Span<const Monomial> all = monomials();
  std::vector<Monomial> sum;  // from the first change on
  bool changed = false;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::optional<Polynomial> product = Replaced(all[i], value);
    if (!product) {
      if (changed) sum.push_back(all[i]);
      continue;
    }
    if (!product->ok()) return Overflow();
    if (!changed) sum.assign(all.begin(), all.begin() + i);
    changed = true;
    product->AppendTo(sum);
  }
  return changed ? Sum(std::move(sum)) + constant_ : *this;
}

Polynomial Polynomial::Substitute(
    const std::map<std::string, Polynomial>& values) const {
  return Transform([&](const Atom& atom) -> std::optional<Polynomial> {
    if (atom.is_symbol()) {
      auto it = values.find(atom.name());
      if (it == values.end()) return std::nullopt;
      return it->second;
    }
    std::vector<Polynomial> args;
    for (const Polynomial& arg : atom.args()) {
      args.push_back(arg.Substitute(values));
    }
    if (args == atom.args()) return std::nullopt;
    return Apply(atom.name(), std::move(args));
  });
}

std::optional<Rational> Polynomial::Evaluate(
    absl::FunctionRef<std::optional<Rational>(const Atom&)> value) const {
  Rational sum = constant_;
  for (const Monomial& m : monomials()) {
    Rational product = m.coefficient;
    for (const Factor& f : m.factors) {
      std::optional<Rational> v = value(f.atom);
      if (!v) return std::nullopt;
      product = product * PowMonomial({*v, {}}, f.power).coefficient;
    }
    sum = sum + product;
  }
  if (!sum.ok()) return std::nullopt;
  return sum;
}

uint64_t Polynomial::hash() const {
  return Mix(HashRational(constant_), rep_ == nullptr ? 0 : rep_->hash);
}

std::string Polynomial::ToString() const {
  if (!ok()) return "overflow";
  std::string out;
  for (const Monomial& m : monomials()) AppendMonomial(m, &out);
  if (!constant_.IsZero()) AppendMonomial({constant_, {}}, &out);
  return out.empty() ? "0" : out;
}

Polynomial Polynomial::operator-() const { return *this * Polynomial(-1); }

Polynomial Polynomial::Merge(const Polynomial& a, const Polynomial& b,
                             int sign) {
  if (!a.ok() || !b.ok()) return Overflow();
  const Rational constant = a.constant_ + b.constant_ * Rational(sign);
  if (b.rep_ == nullptr || (a.rep_ == nullptr && sign == 1)) {
    Polynomial result(constant);
    if (result.ok()) result.rep_ = a.rep_ == nullptr ? b.rep_ : a.rep_;
    return result;
  }
  const absl::Span<const Monomial> x = a.monomials();
  const absl::Span<const Monomial> y = b.monomials();
  const auto signed_copy = [sign](const Monomial& m) {
    return Monomial{m.coefficient * Rational(sign), m.factors};
  };
  Monomials sum;
  sum.reserve(x.size() + y.size());
  size_t i = 0;
  size_t j = 0;
  while (i < x.size() && j < y.size()) {
    int order = CompareProducts(x[i], y[j]);
    if (order > 0) {
      sum.push_back(x[i++]);
    } else if (order < 0) {
      sum.push_back(signed_copy(y[j++]));
    } else {
      Rational c = x[i].coefficient + y[j].coefficient * Rational(sign);
      if (!c.IsZero()) sum.push_back({c, x[i].factors});
      ++i, ++j;
    }
  }
  while (i < x.size()) sum.push_back(x[i++]);
  while (j < y.size()) sum.push_back(signed_copy(y[j++]));
  return FromSorted(std::move(sum), constant);
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  return Polynomial::Merge(a, b, 1);
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  return Polynomial::Merge(a, b, -1);
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (!a.ok() || !b.ok()) return Polynomial::Overflow();
  if (a.rep_ == nullptr && b.rep_ == nullptr) {
    return a.constant_ * b.constant_;
  }
  if (b.rep_ == nullptr) return b * a;
  if (a.rep_ == nullptr) {
    if (a.constant_.IsZero()) return 0;
    if (a.constant_.IsOne()) return b;
    Polynomial::Monomials scaled = b.rep_->monomials;
    for (Monomial& m : scaled) m.coefficient = m.coefficient * a.constant_;
    return Polynomial::FromSorted(std::move(scaled), a.constant_ * b.constant_);
  }
  const absl::Span<const Monomial> x = a.monomials();
  const absl::Span<const Monomial> y = b.monomials();
  if ((x.size() + 1) * (y.size() + 1) > Polynomial::kMaxMonomials) {
    return Polynomial::Overflow();
  }
  std::vector<Monomial> product;
  product.reserve((x.size() + 1) * (y.size() + 1));
  for (const Monomial& m : x) {
    for (const Monomial& n : y) product.push_back(Multiply(m, n));
  }
  // What the constants are multiplied with.
  (a * b.constant_).AppendTo(product);
  (Polynomial(a.constant_) * (b - b.constant_)).AppendTo(product);
  return Polynomial::Sum(std::move(product));
}

int Polynomial::Compare(const Polynomial& a, const Polynomial& b) {
  if (!a.ok() || !b.ok()) return a.ok() ? -1 : b.ok() ? 1 : 0;
  if (a.rep_ != b.rep_) {
    const absl::Span<const Monomial> x = a.monomials();
    const absl::Span<const Monomial> y = b.monomials();
    for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (int order = CompareProducts(x[i], y[i])) return order;
      Rational c = x[i].coefficient;
      Rational d = y[i].coefficient;
      if (!(c == d)) return c < d ? -1 : 1;
    }
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  }
  if (a.constant_ == b.constant_) return 0;
  return a.constant_ < b.constant_ ? -1 : 1;
}

bool operator==(const Polynomial& a, const Polynomial& b) {
  if (!(a.constant_ == b.constant_)) return false;
  if (a.rep_ == b.rep_) return true;
  if (a.rep_ == nullptr || b.rep_ == nullptr) return false;
  return a.rep_->hash == b.rep_->hash && Polynomial::Compare(a, b) == 0;
}

bool DividesProduct(const Monomial& b, const Monomial& a) {
  auto i = a.factors.begin();
  for (const Factor& f : b.factors) {
    while (i != a.factors.end() && i->atom < f.atom) ++i;
    if (i == a.factors.end() || !(i->atom == f.atom)) return false;
    if (i->power < f.power) return false;
  }
  return true;
}

Monomial Content(const Polynomial& p) {
  std::vector<Monomial> all = p.AllMonomials();
  if (!p.ok() || all.empty()) return {1, {}};
  if (all.size() == 1) return all[0];
  Rational common = 0;
  std::map<Atom, int32_t> least;
  for (const Factor& f : all[0].factors) least[f.atom] = f.power;
  for (const Monomial& m : all) {
    common = Rational::Gcd(common, m.coefficient);
    std::map<Atom, int32_t> powers;
    for (const Factor& f : m.factors) powers[f.atom] = f.power;
    for (auto& [atom, power] : powers) least.try_emplace(atom, 0);
    for (auto& [atom, power] : least) {
      auto it = powers.find(atom);
      power = std::min(power, it == powers.end() ? 0 : it->second);
    }
  }
  if (!common.ok()) common = 1;
  Monomial content{all[0].coefficient < Rational(0) ? -common : common, {}};
  for (const auto& [atom, power] : least) {
    if (power != 0) content.factors.push_back({atom, power});
  }
  return content;
}

std::optional<Polynomial> DivideExactly(const Polynomial& a,
                                        const Polynomial& b) {
  if (!a.ok() || !b.ok() || b.IsZero()) return std::nullopt;
  const Polynomial divisor_content = Polynomial::Sum({Content(b)});
  const Polynomial dividend_content = Polynomial::Sum({Content(a)});
  // Without monomial factors both are polynomials in the narrow sense, where
  // long division by the greatest monomial decides.
  const Polynomial divisor = b * divisor_content.Pow(-1);
  const Polynomial unit = dividend_content * divisor_content.Pow(-1);
  if (divisor.IsConstant()) return a * b.Pow(-1);
  const Monomial lead = divisor.AllMonomials()[0];
  Polynomial rest = a * dividend_content.Pow(-1);
  Polynomial quotient;
  while (rest.ok() && !rest.IsZero()) {
    const Monomial first = rest.AllMonomials()[0];
    if (!DividesProduct(lead, first)) return std::nullopt;
    Polynomial step =
        Polynomial::Sum({first}) * Polynomial::Sum({lead}).Pow(-1);
    quotient = quotient + step;
    rest = rest - step * divisor;
  }
  if (!rest.ok()) return std::nullopt;
  return quotient * unit;
}

}  // namespace isomer

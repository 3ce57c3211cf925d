// Integer points, and what an expression is at all of them: it is walked once,
// not once for each point.
#ifndef ISOMER_VERIFY_POINTS_H_
#define ISOMER_VERIFY_POINTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "ops/polynomial.h"

namespace isomer::verify {

class Points {
 public:
  static constexpr int kMost = 32;

  // A number at each point, where there is one: a fraction is none, nor is
  // what does not fit 64 bits or needs a symbol that has no value.
  struct Values {
    std::array<int64_t, kMost> at;
    uint32_t known = 0;  // bit i: there is one at point i
  };

  // Points that give no symbol a value.
  explicit Points(int size) : size_(size) {}

  int size() const { return size_; }
  bool Knows(const Atom& symbol) const { return Find(symbol) != nullptr; }
  // Gives a symbol without values one at each point.
  void Set(const Atom& symbol, const std::array<int64_t, kMost>& values);

  Values Evaluate(const Polynomial& p) const;
  // True if the expression has a value below zero at some point.
  bool SomeNegative(const Polynomial& p) const;
  // True if it has a value other than zero at some point.
  bool SomeNonZero(const Polynomial& p) const;
  // The value, if it is the same at all points.
  std::optional<int64_t> CommonValue(const Polynomial& p) const;

  // The points at these places.
  Points Select(absl::Span<const int> places) const;
  // Adds the points of others at these places; both know the same symbols, in
  // the same order.
  void Append(const Points& others, absl::Span<const int> places);

 private:
  struct Column {
    Atom symbol;
    uint64_t hash;
    std::array<int64_t, kMost> at;
  };
  // A number with one denominator at all points.
  struct Fractions {
    Values num;
    int64_t den = 1;
  };

  const Column* Find(const Atom& symbol) const;
  uint32_t All() const {
    return size_ == kMost ? ~uint32_t{0} : (uint32_t{1} << size_) - 1;
  }
  Values Filled(int64_t value) const;
  void Multiply(Values& product, const Values& by) const;
  void Add(Values& sum, const Values& term) const;
  Fractions Sum(const Polynomial& p) const;
  Values AtomValues(const Atom& atom) const;
  Values Quotients(const Atom& atom) const;
  Values Extremes(const Atom& atom, bool max) const;

  int size_;
  std::vector<Column> columns_;
};

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_POINTS_H_

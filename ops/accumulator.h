// Sums of products, per scalar: what a dot product is computed with.
//
// float sums in double, rounding once at the end. The field sums 122-bit
// products in 128 bits and reduces only when the top bit is reached, which is
// several times faster than reducing each product.
#ifndef ISOMER_OPS_ACCUMULATOR_H_
#define ISOMER_OPS_ACCUMULATOR_H_

#include "ops/field.h"

namespace isomer {

template <typename T>
class Accumulator {
 public:
  void Add(const T& x) { sum_ = sum_ + x; }
  void AddProduct(const T& x, const T& y) { sum_ = sum_ + x * y; }
  T Result() const { return sum_; }

 private:
  T sum_ = T();
};

template <>
class Accumulator<float> {
 public:
  void Add(float x) { sum_ += x; }
  void AddProduct(float x, float y) { sum_ += static_cast<double>(x) * y; }
  float Result() const { return static_cast<float>(sum_); }

 private:
  double sum_ = 0;
};

template <>
class Accumulator<Field> {
 public:
  void Add(Field x) { AddWide(x.value()); }
  void AddProduct(Field x, Field y) {
    AddWide(static_cast<unsigned __int128>(x.value()) * y.value());
  }
  Field Result() const { return Field::FromWide(sum_); }

 private:
  // Keeps sum_ below 2^127, so that one more product cannot overflow it.
  void AddWide(unsigned __int128 x) {
    sum_ += x;
    if (static_cast<uint64_t>(sum_ >> 64) >> 63) sum_ = Result().value();
  }

  unsigned __int128 sum_ = 0;
};

}  // namespace isomer

#endif  // ISOMER_OPS_ACCUMULATOR_H_

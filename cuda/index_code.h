// Index expressions as C, simplified by what is known about the ranges of
// their symbols.
#ifndef ISOMER_CUDA_INDEX_CODE_H_
#define ISOMER_CUDA_INDEX_CODE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ops/dim.h"

namespace isomer::cuda {

// The values of a symbol or an expression, both ends included.
struct Interval {
  int64_t low = 0, high = 0;
};
using Intervals = std::map<std::string, Interval>;

// What the values of `e` lie between; nothing where a symbol has no interval
// or the bounds leave 62 bits.
std::optional<Interval> IntervalOf(const DimExpr& e, const Intervals& known);

// `e` with quotients freed of what cannot change them: floordiv(64*a + b, 128)
// is floordiv(a, 2) if b lies between 0 and 63.
DimExpr Tidy(const DimExpr& e, const Intervals& known);

// A C expression of type int; symbols are C variables of type int.
std::string IndexText(const DimExpr& e, const Intervals& known);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_INDEX_CODE_H_

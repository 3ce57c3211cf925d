// Comparison of tensors.
#include "runtime/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace isomer::runtime {

double RelativeError(const Tensor& got, const Tensor& want) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (got.type != want.type) return kInfinity;
  const std::vector<double> a = ToDoubles(got), b = ToDoubles(want);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (same) {
      if (std::isfinite(b[i])) largest = std::max(largest, std::abs(b[i]));
      continue;
    }
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return kInfinity;
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  if (difference == 0) return 0;
  return largest == 0 ? kInfinity : difference / largest;
}

double DefaultTolerance(DType dtype, bool tf32) {
  if (tf32 && dtype == DType::kF32) return DefaultTolerance(DType::kF16);
  switch (dtype) {
    case DType::kF64:
      return 1e-12;
    case DType::kF32:
      return 1e-5;
    case DType::kF16:
      return 2e-2;
    case DType::kBF16:
      return 1e-1;
    default:
      return 0;
  }
}

}  // namespace isomer::runtime

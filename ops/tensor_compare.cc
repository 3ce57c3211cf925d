// Comparison of tensors, element by element.
#include "ops/tensor_compare.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace isomer {

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

bool Near(double a, double b, double relative, double absolute) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <=
         absolute + relative * std::max(std::fabs(a), std::fabs(b));
}

std::string Difference(const Tensor& a, const Tensor& b, double relative,
                       double absolute) {
  if (a.type != b.type) {
    return absl::StrCat(TypeText(a.type), " and ", TypeText(b.type));
  }
  if (a.size() != b.size()) return absl::StrCat(a.size(), " and ", b.size());
  bool equal = true;
  if (std::holds_alternative<std::vector<Field>>(a.data)) {
    equal = a.as<Field>() == b.as<Field>();
  } else {
    const std::vector<double> x = ToDoubles(a), y = ToDoubles(b);
    if (!IsFloat(a.type.dtype)) relative = absolute = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      equal &= Near(x[i], y[i], relative, absolute);
    }
  }
  if (equal) return "";
  return absl::StrCat(TensorText(a), " and ", TensorText(b));
}

}  // namespace isomer

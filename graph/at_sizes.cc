#include "graph/at_sizes.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ops/status.h"

namespace isomer::ir {

namespace {

absl::StatusOr<int64_t> Number(const DimExpr& d, const Sizes& sizes) {
  const auto v = d.Evaluate(sizes);
  if (!v) return absl::NotFoundError(d.ToString());
  return *v;
}

absl::StatusOr<std::vector<int64_t>> Numbers(const std::vector<DimExpr>& list,
                                             const Sizes& sizes) {
  std::vector<int64_t> out;
  out.reserve(list.size());
  for (const DimExpr& d : list) {
    ASSIGN_OR_RETURN(const int64_t v, Number(d, sizes));
    out.push_back(v);
  }
  return out;
}

}  // namespace

absl::StatusOr<TensorType> AtSizes(const SymType& type, const Sizes& sizes) {
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, Numbers(type.shape, sizes));
  TensorType out{type.dtype, std::move(shape), {}};
  for (const auto& axis : type.device) {
    ASSIGN_OR_RETURN(const int64_t size, Number(axis.size, sizes));
    out.device.push_back({axis.name, size});
  }
  return out;
}

absl::StatusOr<Attr> AtSizes(const SymAttr& attr, const Sizes& sizes) {
  return std::visit(
      [&](const auto& v) -> absl::StatusOr<Attr> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, DimExpr>) {
          ASSIGN_OR_RETURN(const int64_t number, Number(v, sizes));
          return Attr(number);
        } else if constexpr (std::is_same_v<T, std::vector<DimExpr>>) {
          ASSIGN_OR_RETURN(std::vector<int64_t> numbers, Numbers(v, sizes));
          return Attr(std::move(numbers));
        } else {
          return Attr(v);
        }
      },
      attr);
}

bool HoldsAtSizes(const Obligation& o, const Sizes& sizes) {
  const auto v = o.expr.Evaluate(sizes);
  return v && (o.kind == Obligation::kZero ? *v == 0 : *v >= 0);
}

}  // namespace isomer::ir

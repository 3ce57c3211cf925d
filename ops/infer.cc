// Demands of type inference: decided over numbers, recorded over expressions.
#include "ops/infer.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace isomer {

std::string ObligationText(const Obligation& o) {
  return absl::StrCat(o.expr.ToString(),
                      o.kind == Obligation::kZero ? " == 0" : " >= 0");
}

namespace {

std::optional<int64_t> ConstantOf(int64_t v) { return v; }
std::optional<int64_t> ConstantOf(const DimExpr& v) { return v.constant(); }

void Record(std::vector<Obligation>& list, Obligation::Kind kind,
            const DimExpr& e) {
  Obligation o{kind, e};
  if (std::find(list.begin(), list.end(), o) == list.end()) {
    list.push_back(std::move(o));
  }
}
void Record(std::vector<Obligation>&, Obligation::Kind, int64_t) {}

}  // namespace

template <class D>
absl::Status InferContext<D>::Fail(absl::string_view why) const {
  if (errors_ == Errors::kBare) return absl::InvalidArgumentError("");
  return Invalid(op_, ": ", why, ": ",
                 absl::StrJoin(inputs_, " and ",
                               [](std::string* out, const TypeT<D>& t) {
                                 absl::StrAppend(out, TypeText(t));
                               }),
                 attrs_.empty() ? "" : " with ", AttrsText<D>(attrs_));
}

template <class D>
absl::StatusOr<int> InferContext<D>::Axis(absl::string_view name, int rank) {
  ASSIGN_OR_RETURN(int64_t axis, Number(name));
  if (axis < -rank || axis >= rank) {
    return Fail(
        absl::StrCat(name, " ", axis, " is not in [-", rank, ", ", rank, ")"));
  }
  if (axis < 0) axis += rank;
  SetAttr(name, D(axis));
  return static_cast<int>(axis);
}

template <class D>
absl::StatusOr<std::vector<int>> InferContext<D>::Axes(absl::string_view name,
                                                       int rank, bool sorted) {
  std::vector<int> axes;
  for (const D& d : Ints(name)) {
    auto axis = ConstantOf(d);
    if (!axis || *axis < -rank || *axis >= rank) {
      return Fail(absl::StrCat(name, " holds ", DimText(d),
                               ", which is not in [-", rank, ", ", rank, ")"));
    }
    axes.push_back(static_cast<int>(*axis < 0 ? *axis + rank : *axis));
  }
  std::vector<int> order = axes;
  std::sort(order.begin(), order.end());
  if (std::adjacent_find(order.begin(), order.end()) != order.end()) {
    return Fail(absl::StrCat(name, " names a dimension twice"));
  }
  if (sorted) axes = order;
  SetAttr(name, std::vector<D>(axes.begin(), axes.end()));
  return axes;
}

template <class D>
absl::StatusOr<int64_t> InferContext<D>::Number(absl::string_view name) const {
  if (auto c = ConstantOf(Int(name))) return *c;
  return Fail(absl::StrCat("attribute '", name, "' must be a number here, not ",
                           DimText(Int(name))));
}

template <class D>
absl::Status InferContext<D>::Equal(const D& a, const D& b,
                                    absl::string_view what) {
  if (a == b) return absl::OkStatus();
  const D difference = a - b;
  if (ConstantOf(difference)) {
    return Fail(absl::StrCat(what, " (", DimText(a), " and ", DimText(b), ")"));
  }
  Record(obligations_, Obligation::kZero, difference);
  return absl::OkStatus();
}

template <class D>
absl::Status InferContext<D>::AtLeast(const D& a, const D& low,
                                      absl::string_view what) {
  const D difference = a - low;
  if (auto c = ConstantOf(difference)) {
    if (*c >= 0) return absl::OkStatus();
    return Fail(
        absl::StrCat(what, " (", DimText(a), " is below ", DimText(low), ")"));
  }
  Record(obligations_, Obligation::kNonNegative, difference);
  return absl::OkStatus();
}

template <class D>
absl::Status InferContext<D>::Divides(const D& divisor, const D& a,
                                      absl::string_view what) {
  if (auto c = ConstantOf(divisor); c && *c == 0) {
    return Fail(absl::StrCat(what, " (division by zero)"));
  }
  const D rest = a - divisor * FloorDiv(a, divisor);
  if (auto c = ConstantOf(rest)) {
    if (*c == 0) return absl::OkStatus();
    return Fail(absl::StrCat(what, " (", DimText(divisor), " does not divide ",
                             DimText(a), ")"));
  }
  Record(obligations_, Obligation::kZero, rest);
  return absl::OkStatus();
}

template <class D>
absl::Status InferContext<D>::SameShape(int i, int j) {
  if (in(i).rank() != in(j).rank()) {
    return Fail("shapes differ in rank");
  }
  for (int d = 0; d < in(i).rank(); ++d) {
    RETURN_IF_ERROR(Equal(in(i).shape[d], in(j).shape[d],
                          absl::StrCat("inputs differ in dimension ", d)));
  }
  return absl::OkStatus();
}

template <class D>
absl::Status InferContext<D>::SameDType(int i, int j) {
  if (in(i).dtype == in(j).dtype) return absl::OkStatus();
  return Fail("element types differ");
}

template <class D>
absl::Status InferContext<D>::Rank(int i, int rank) {
  if (in(i).rank() == rank) return absl::OkStatus();
  return Fail(absl::StrCat("input ", i, " must have rank ", rank));
}

template <class D>
absl::Status InferContext<D>::RankAtLeast(int i, int rank) {
  if (in(i).rank() >= rank) return absl::OkStatus();
  return Fail(absl::StrCat("input ", i, " must have rank ", rank, " or more"));
}

template <class D>
absl::Status InferContext<D>::Float(int i) {
  if (IsFloat(in(i).dtype)) return absl::OkStatus();
  return Fail(absl::StrCat("input ", i, " must have a floating-point type"));
}

template <class D>
absl::Status InferContext<D>::Numeric(int i) {
  if (in(i).dtype != DType::kBool) return absl::OkStatus();
  return Fail(absl::StrCat("input ", i, " must be numeric"));
}

template <class D>
absl::Status InferContext<D>::HasDType(int i, DType dtype) {
  if (in(i).dtype == dtype) return absl::OkStatus();
  return Fail(absl::StrCat("input ", i, " must be ", DTypeName(dtype)));
}

template class InferContext<int64_t>;
template class InferContext<DimExpr>;

}  // namespace isomer

// The type of a tensor: element type, shape, and device axes. It is generic in
// the dimension D: int64_t for a real graph, DimExpr for a rule that speaks of
// all sizes at once.
//
// Device axes are named and stand apart from the shape: f32[4,8]@{m:2} is one
// f32[4,8] on each of the 2 devices along mesh axis m. They are kept sorted by
// name. In memory they are leading dimensions, in that order.
#ifndef ISOMER_OPS_TENSOR_TYPE_H_
#define ISOMER_OPS_TENSOR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/dim.h"
#include "ops/dtype.h"

namespace isomer {

template <class D>
struct DeviceAxisT {
  std::string name;
  D size;
  friend bool operator==(const DeviceAxisT& a, const DeviceAxisT& b) {
    return a.name == b.name && a.size == b.size;
  }
};

template <class D>
struct TypeT {
  DType dtype = DType::kF32;
  std::vector<D> shape;
  std::vector<DeviceAxisT<D>> device = {};

  int rank() const { return static_cast<int>(shape.size()); }
  friend bool operator==(const TypeT& a, const TypeT& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.device == b.device;
  }
  friend bool operator!=(const TypeT& a, const TypeT& b) { return !(a == b); }
};

using TensorType = TypeT<int64_t>;
using SymType = TypeT<DimExpr>;

inline std::string DimText(int64_t d) { return absl::StrCat(d); }
inline std::string DimText(const DimExpr& d) { return d.ToString(); }

// Prints dimensions as [2,3].
template <class D>
std::string ShapeText(const std::vector<D>& shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&s, i ? "," : "", DimText(shape[i]));
  }
  return s + "]";
}

// Prints a type as f32[2,3] or f32[2,3]@{m:4}.
template <class D>
std::string TypeText(const TypeT<D>& t) {
  std::string s = absl::StrCat(DTypeName(t.dtype), ShapeText(t.shape));
  if (t.device.empty()) return s;
  s += "@{";
  for (size_t i = 0; i < t.device.size(); ++i) {
    absl::StrAppend(&s, i ? "," : "", t.device[i].name, ":",
                    DimText(t.device[i].size));
  }
  return s + "}";
}

// Reads what TypeText prints; device axes may come in any order. The number
// of elements over all devices must fit in 63 bits.
absl::StatusOr<TensorType> ParseType(absl::string_view text);

// The sizes of the device axes, then those of the shape: how the elements over
// all devices are stored and written.
template <class D>
std::vector<D> AllDims(const TypeT<D>& t) {
  std::vector<D> dims;
  for (const auto& a : t.device) dims.push_back(a.size);
  dims.insert(dims.end(), t.shape.begin(), t.shape.end());
  return dims;
}

// The number of elements of a shape.
inline int64_t NumElements(absl::Span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

// The number of elements over all devices.
inline int64_t NumElements(const TensorType& t) {
  int64_t n = NumElements(t.shape);
  for (const auto& a : t.device) n *= a.size;
  return n;
}

// The symbolic form of a type with known sizes.
inline SymType ToSymbolic(const TensorType& t) {
  SymType s{t.dtype, {t.shape.begin(), t.shape.end()}, {}};
  for (const auto& a : t.device) s.device.push_back({a.name, DimExpr(a.size)});
  return s;
}

}  // namespace isomer

#endif  // ISOMER_OPS_TENSOR_TYPE_H_

// A tensor's values under one interpretation. An interpretation says what
// stands for a floating-point number; integer and boolean tensors always hold
// integers. Elements lie densely, row by row, device axes first.
#ifndef ISOMER_OPS_TENSOR_H_
#define ISOMER_OPS_TENSOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/scalar.h"
#include "ops/tensor_type.h"

namespace isomer {

// What a floating-point element is:
//   kRun       float (double for f64), rounded to the type after each operator
//   kReal      double, never rounded: the yardstick for the others
//   kField     integers modulo a 61-bit prime
//   kInteger   exact integers, with true order
//   kSymbolic  polynomials over uninterpreted functions
enum class Interp { kRun, kReal, kField, kInteger, kSymbolic };

// The elements of one tensor. int64_t holds integer and boolean types.
using Elements =
    std::variant<std::vector<int64_t>, std::vector<float>, std::vector<double>,
                 std::vector<Field>, std::vector<Int>, std::vector<Term>>;

struct Tensor {
  TensorType type;
  Elements data;

  template <class T>
  const std::vector<T>& as() const {
    return std::get<std::vector<T>>(data);
  }
  template <class T>
  std::vector<T>& as() {
    return std::get<std::vector<T>>(data);
  }
  int64_t size() const {
    return std::visit([](const auto& v) { return int64_t(v.size()); }, data);
  }
};

// A tensor of zeros of `type`, in the element representation of `interp`.
Tensor MakeTensor(TensorType type, Interp interp);

// A tensor from real numbers: rounded to the type under kRun, exact otherwise.
Tensor FromDoubles(TensorType type, absl::Span<const double> values,
                   Interp interp = Interp::kRun);

// An integer or boolean tensor.
Tensor FromInts(TensorType type, absl::Span<const int64_t> values);

// The values as double (exact integers where they fit); Field as its residue.
std::vector<double> ToDoubles(const Tensor& t);

// The same tensor under another interpretation; from kRun, kReal or integers
// only. A float becomes the exact dyadic number it is.
absl::StatusOr<Tensor> Reinterpret(const Tensor& t, Interp interp);

// Little-endian memory as ONNX stores it, and back.
absl::StatusOr<Tensor> FromBytes(const TensorType& type,
                                 absl::Span<const char> bytes, Interp interp);
std::string ToBytes(const Tensor& t);

// Rounds each element to the tensor's type, in place (kRun only).
void RoundToType(Tensor& t);

// Row-major strides of a shape.
std::vector<int64_t> Strides(absl::Span<const int64_t> shape);

// Prints nested lists: [[1 2] [3 4]]; a scalar prints bare.
std::string TensorText(const Tensor& t);
// Reads such a list, with an optional type suffix: [1 2]:i64. Without one a
// tensor is f32. `true` and `false` give bool.
absl::StatusOr<Tensor> ParseTensor(absl::string_view text);

}  // namespace isomer

#endif  // ISOMER_OPS_TENSOR_H_

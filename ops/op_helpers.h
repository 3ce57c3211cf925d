// Small pieces that many operator files share.
#ifndef ISOMER_OPS_OP_HELPERS_H_
#define ISOMER_OPS_OP_HELPERS_H_

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/op_def.h"
#include "ops/status.h"

namespace isomer {

// The import result of a node with one output.
inline Imported One(absl::StatusOr<Value> value) {
  if (!value.ok()) return value.status();
  return std::vector<Value>{*value};
}

// Imports a node whose inputs and outputs are those of operator `op`, after
// ONNX's broadcasting if `broadcast`.
inline FromOnnx ImportAs(std::string op, bool broadcast = false) {
  return [op = std::move(op), broadcast](OnnxImport& c) -> Imported {
    ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
    if (broadcast) {
      ASSIGN_OR_RETURN(in, c.Broadcast(std::move(in)));
    }
    return One(c.Add(op, std::move(in)));
  };
}

// Exports a node as the ONNX operator `op_type` with the same inputs.
inline ToOnnx EmitAs(std::string op_type) {
  return [op_type = std::move(op_type)](OnnxExport& c) -> Exported {
    return c.Emit(op_type, c.AllIn());
  };
}

// A size as a number; nothing for an expression that holds symbols.
inline std::optional<int64_t> AsNumber(int64_t d) { return d; }
inline std::optional<int64_t> AsNumber(const DimExpr& d) {
  return d.constant();
}

// The quotient of two elements of type `dtype`: integer types round towards
// zero, and only Int and Elem ever stand for them.
template <class T>
T Quotient(DType dtype, const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Int> || std::is_same_v<T, Elem>) {
    if (IsInteger(dtype)) return TruncDiv(a, b);
  }
  return a / b;
}

// The flops of an operator that only moves elements.
inline std::function<int64_t(absl::Span<const TensorType>,
                             absl::Span<const TensorType>, const Attrs&)>
NoFlops() {
  return [](auto, auto, const Attrs&) -> int64_t { return 0; };
}

}  // namespace isomer

#endif  // ISOMER_OPS_OP_HELPERS_H_

// Trilu: a choice between x and zero by comparing row and column numbers. The
// upper triangle is where column >= row + k, the lower where column <= row + k.
// On truth values the choice is an `and`.
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

Imported FromTrilu(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const TensorType type = c.type(x);
  const int64_t rank = type.rank();
  if (rank < 2) return Invalid("Trilu: ", TypeText(type), " is no matrix");
  std::vector<int64_t> k = {0};
  if (c.Has(1)) {
    ASSIGN_OR_RETURN(k, c.KnownInts(1));
    if (k.size() != 1) return Invalid("Trilu: k has ", k.size(), " elements");
  }
  const std::vector<int64_t> matrix = {type.shape[rank - 2],
                                       type.shape[rank - 1]};
  auto numbers = [&](int64_t axis) {
    return c.Add("iota", {},
                 {{"shape", matrix}, {"axis", axis}, {"dtype", DType::kI64}});
  };
  ASSIGN_OR_RETURN(Value row, numbers(0));
  ASSIGN_OR_RETURN(const Value column, numbers(1));
  if (k[0] != 0) {
    ASSIGN_OR_RETURN(Value shift, c.Constant(FromInts({DType::kI64, {}}, k)));
    ASSIGN_OR_RETURN(shift, c.BroadcastTo(shift, matrix));
    ASSIGN_OR_RETURN(row, c.Add("add", {row, shift}));
  }
  const bool upper = c.node().Int("upper", 1) != 0;
  ASSIGN_OR_RETURN(
      Value keep, c.Add(upper ? "greater_equal" : "less_equal", {column, row}));
  ASSIGN_OR_RETURN(keep, c.BroadcastTo(keep, type.shape));
  if (type.dtype == DType::kBool) return One(c.Add("and", {keep, x}));
  ASSIGN_OR_RETURN(Value zero, c.Scalar(type.dtype, 0));
  ASSIGN_OR_RETURN(zero, c.BroadcastTo(zero, type.shape));
  return One(c.Add("where", {keep, x, zero}));
}

}  // namespace

std::vector<OnnxLowering> LowerTrilu() { return {{"Trilu", FromTrilu}}; }

}  // namespace isomer::onnx

// Gemm: alpha * A' B' + beta * C, where a prime is a transpose if the node asks
// for it. It becomes transposes, a matmul, products with scalars and a sum.
#include <cmath>
#include <vector>

#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

absl::StatusOr<Value> TransposeIf(OnnxImport& c, Value v, bool transposed) {
  if (c.type(v).rank() != 2) {
    return Invalid("Gemm: operand ", TypeText(c.type(v)), " is no matrix");
  }
  if (!transposed) return v;
  return c.Add("transpose", {v}, {{"perm", std::vector<int64_t>{1, 0}}});
}

absl::StatusOr<Value> Scaled(OnnxImport& c, Value v, float factor) {
  if (factor == 1) return v;
  const TensorType type = c.type(v);
  if (!IsFloat(type.dtype) && factor != std::trunc(factor)) {
    return Unsupported("Gemm: factor ", factor, " for ", TypeText(type));
  }
  ASSIGN_OR_RETURN(Value scalar, c.Scalar(type.dtype, factor));
  ASSIGN_OR_RETURN(scalar, c.BroadcastTo(scalar, type.shape));
  return c.Add("mul", {v, scalar});
}

Imported FromGemm(OnnxImport& c) {
  const OnnxNode& node = c.node();
  ASSIGN_OR_RETURN(Value a, c.In(0));
  ASSIGN_OR_RETURN(Value b, c.In(1));
  ASSIGN_OR_RETURN(a, TransposeIf(c, a, node.Int("transA") != 0));
  ASSIGN_OR_RETURN(b, TransposeIf(c, b, node.Int("transB") != 0));
  ASSIGN_OR_RETURN(Value y, c.Add("matmul", {a, b}));
  ASSIGN_OR_RETURN(y, Scaled(c, y, node.Float("alpha", 1)));
  const float beta = node.Float("beta", 1);
  if (!c.Has(2) || beta == 0) return One(y);
  ASSIGN_OR_RETURN(Value bias, c.In(2));
  // Scaled before its broadcast, so that a constant folds as it is.
  ASSIGN_OR_RETURN(bias, Scaled(c, bias, beta));
  ASSIGN_OR_RETURN(bias, c.BroadcastTo(bias, c.type(y).shape));
  return One(c.Add("add", {y, bias}));
}

}  // namespace

std::vector<OnnxLowering> LowerGemm() { return {{"Gemm", FromGemm}}; }

}  // namespace isomer::onnx

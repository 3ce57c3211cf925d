// Constant: a leaf of the graph. Its value is one of several attributes;
// strings and sparse tensors are not modelled.
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

absl::StatusOr<Tensor> ReadTensor(const OnnxTensorRef& ref) {
  ASSIGN_OR_RETURN(const DType dtype, FromOnnxDType(ref.dtype));
  return FromBytes(
      {dtype, ref.dims},
      absl::MakeConstSpan(ref.bytes.view.data(), ref.bytes.view.size()),
      Interp::kRun);
}

absl::StatusOr<Tensor> ReadValue(const OnnxNode& node) {
  if (const OnnxTensorRef* ref = node.Tensor("value")) return ReadTensor(*ref);
  if (const float* v = node.Get<float>("value_float")) {
    return FromDoubles({DType::kF32, {}}, {double{*v}});
  }
  if (const int64_t* v = node.Get<int64_t>("value_int")) {
    return FromInts({DType::kI64, {}}, {*v});
  }
  if (node.Has("value_floats")) {
    const std::vector<float> v = node.Floats("value_floats");
    return FromDoubles({DType::kF32, {static_cast<int64_t>(v.size())}},
                       std::vector<double>(v.begin(), v.end()));
  }
  if (node.Has("value_ints")) {
    const std::vector<int64_t> v = node.Ints("value_ints");
    return FromInts({DType::kI64, {static_cast<int64_t>(v.size())}}, v);
  }
  return Unsupported("Constant: its value is a string or sparse");
}

Imported FromConstant(OnnxImport& c) {
  ASSIGN_OR_RETURN(Tensor value, ReadValue(c.node()));
  return One(c.Constant(std::move(value)));
}

}  // namespace

std::vector<OnnxLowering> LowerConstant() {
  return {{"Constant", FromConstant}};
}

}  // namespace isomer::onnx

// Shape and Size: types are known at import, so these are constants.
#include <algorithm>

#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

// From opset 15 on, start and end choose a part; both are moved to the border
// where they overshoot.
Imported FromShape(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  auto place = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = place(c.node().Int("start"));
  const int64_t end = std::max(start, place(c.node().Int("end", rank)));
  return One(c.Constant(
      FromInts({DType::kI64, {end - start}},
               absl::MakeConstSpan(shape).subspan(start, end - start))));
}

Imported FromSize(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  return One(
      c.Constant(FromInts({DType::kI64, {}}, {NumElements(c.type(x).shape)})));
}

}  // namespace

std::vector<OnnxLowering> LowerShape() {
  return {{"Shape", FromShape}, {"Size", FromSize}};
}

}  // namespace isomer::onnx

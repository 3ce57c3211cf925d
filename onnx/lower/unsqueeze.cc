// Unsqueeze: a reshape that adds dimensions of size 1. The axes are positions
// in the result.
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

Imported FromUnsqueeze(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  ASSIGN_OR_RETURN(auto axes, c.AttrOrInput("axes", 1));
  if (!axes) return Invalid("Unsqueeze: axes are missing");
  const int64_t rank = static_cast<int64_t>(shape.size() + axes->size());
  std::vector<bool> fresh(rank);
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) {
      return Invalid("Unsqueeze: axis ", axis, " is not in [-", rank, ", ",
                     rank, ")");
    }
    if (axis < 0) axis += rank;
    if (fresh[axis]) return Invalid("Unsqueeze: axis ", axis, " twice");
    fresh[axis] = true;
  }
  std::vector<int64_t> out;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    out.push_back(fresh[d] ? 1 : shape[next++]);
  }
  return One(c.Reshape(x, out));
}

}  // namespace

std::vector<OnnxLowering> LowerUnsqueeze() {
  return {{"Unsqueeze", FromUnsqueeze}};
}

}  // namespace isomer::onnx

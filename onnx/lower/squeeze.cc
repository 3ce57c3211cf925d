// Squeeze: a reshape that drops dimensions of size 1.
#include <algorithm>

#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

Imported FromSqueeze(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  ASSIGN_OR_RETURN(auto axes, c.AttrOrInput("axes", 1));
  // Without axes every dimension of size 1 goes.
  std::vector<bool> drop(rank);
  for (int64_t d = 0; d < rank; ++d) drop[d] = !axes && shape[d] == 1;
  for (int64_t axis : axes.value_or(std::vector<int64_t>{})) {
    if (axis < -rank || axis >= rank) {
      return Invalid("Squeeze: axis ", axis, " is not in [-", rank, ", ", rank,
                     ")");
    }
    if (axis < 0) axis += rank;
    if (shape[axis] != 1) {
      return Invalid("Squeeze: dimension ", axis, " of ", ShapeText(shape),
                     " is not 1");
    }
    drop[axis] = true;
  }
  std::vector<int64_t> out;
  for (int64_t d = 0; d < rank; ++d) {
    if (!drop[d]) out.push_back(shape[d]);
  }
  return One(c.Reshape(x, out));
}

}  // namespace

std::vector<OnnxLowering> LowerSqueeze() { return {{"Squeeze", FromSqueeze}}; }

}  // namespace isomer::onnx

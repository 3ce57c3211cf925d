// Flatten: a reshape to a matrix; the dimensions before `axis` become its rows
// and the others its columns.
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

Imported FromFlatten(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = c.node().Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return Invalid("Flatten: axis ", axis, " is not in [-", rank, ", ", rank,
                   "]");
  }
  if (axis < 0) axis += rank;
  const absl::Span<const int64_t> sizes = shape;
  return One(c.Reshape(
      x, {NumElements(sizes.first(axis)), NumElements(sizes.subspan(axis))}));
}

}  // namespace

std::vector<OnnxLowering> LowerFlatten() { return {{"Flatten", FromFlatten}}; }

}  // namespace isomer::onnx

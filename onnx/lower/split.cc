// Split: each part is a slice. The exporter puts sibling slices that tile a
// tensor together again.
#include <numeric>

#include "absl/strings/str_join.h"
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

// The sizes of the parts: given (attribute up to opset 12, input from 13 on),
// or equal; from opset 18 on the last part may be smaller.
absl::StatusOr<std::vector<int64_t>> PartSizes(OnnxImport& c, int64_t size) {
  ASSIGN_OR_RETURN(auto given, c.AttrOrInput("split", 1));
  if (given) return *given;
  const int64_t count = c.node().Int(
      "num_outputs", static_cast<int64_t>(c.node().outputs.size()));
  if (count <= 0) return Invalid("Split: ", count, " parts");
  const int64_t part = CeilDiv(size, count);
  if (part * count != size && c.opset() < 18) {
    return Invalid("Split: ", count, " equal parts of size ", size);
  }
  std::vector<int64_t> parts(count, part);
  parts.back() = size - part * (count - 1);
  return parts;
}

Imported FromSplit(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  const int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = c.node().Int("axis");
  if (axis < -rank || axis >= rank) {
    return Invalid("Split: axis ", axis, " is not in [-", rank, ", ", rank,
                   ")");
  }
  if (axis < 0) axis += rank;
  ASSIGN_OR_RETURN(std::vector<int64_t> parts, PartSizes(c, shape[axis]));
  if (parts.size() != c.node().outputs.size() ||
      std::accumulate(parts.begin(), parts.end(), int64_t{0}) != shape[axis]) {
    return Invalid("Split: parts [", absl::StrJoin(parts, " "), "] of size ",
                   shape[axis], " for ", c.node().outputs.size(), " outputs");
  }
  if (parts.size() == 1) return std::vector<Value>{x};
  std::vector<Value> out;
  int64_t from = 0;
  for (int64_t part : parts) {
    using List = std::vector<int64_t>;
    ASSIGN_OR_RETURN(Value v, c.Add("slice", {x},
                                    {{"axes", List{axis}},
                                     {"from", List{from}},
                                     {"to", List{from + part}}}));
    out.push_back(v);
    from += part;
  }
  return out;
}

}  // namespace

std::vector<OnnxLowering> LowerSplit() { return {{"Split", FromSplit}}; }

}  // namespace isomer::onnx

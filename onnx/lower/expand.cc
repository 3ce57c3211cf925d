// Expand: a broadcast to a known shape. ONNX lets the shape have sizes of 1
// where the input is larger, so that both sides broadcast.
#include "ops/onnx_mapping.h"
#include "ops/op_helpers.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

Imported FromExpand(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(std::vector<int64_t> given, c.KnownInts(1));
  ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                   BroadcastShape({c.type(x).shape, given}));
  return One(c.BroadcastTo(x, shape));
}

}  // namespace

std::vector<OnnxLowering> LowerExpand() { return {{"Expand", FromExpand}}; }

}  // namespace isomer::onnx

// Which import function serves an ONNX operator: those of the operators
// (ops/defs/) and of the nodes that are taken apart (onnx/lower/).
#ifndef ISOMER_ONNX_MAPPINGS_H_
#define ISOMER_ONNX_MAPPINGS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "ops/onnx_mapping.h"

namespace isomer::onnx {

// The versions of ONNX's own operator set that Isomer models.
inline constexpr int kMinOpset = 7;
inline constexpr int kMaxOpset = 23;

// Returns what the files of onnx/lower/ define, by file name.
std::vector<OnnxLowering> AllLowerings();

// The import function for an operator, or null.
const FromOnnx* FindImport(absl::string_view domain, absl::string_view op_type);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_MAPPINGS_H_

// The constants of a program: folded, rounded once, and laid out as kernels
// want them.
#ifndef ISOMER_CUDA_CONSTANTS_H_
#define ISOMER_CUDA_CONSTANTS_H_

#include <functional>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "ops/onnx_node.h"

namespace isomer::cuda {

// The bytes of values that depend on constants alone, row by row. What is
// computed is computed in double and rounded once.
absl::StatusOr<std::map<Value, SharedBytes>> FoldConstants(
    const ir::Graph& graph, absl::Span<const Value> values,
    const std::function<bool(int done, int total)>& progress);

// Leaves one of what is repeated along a dimension; the steps of what is left,
// 0 where it was repeated.
std::vector<int64_t> WithoutRepeats(const TensorType& type, SharedBytes& bytes);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_CONSTANTS_H_

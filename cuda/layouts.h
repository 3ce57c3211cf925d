// Which values of a graph have their channels last in memory.
#ifndef ISOMER_CUDA_LAYOUTS_H_
#define ISOMER_CUDA_LAYOUTS_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace isomer::cuda {

// The images that convolutions read or write, and what pointwise operators,
// pooling, concats and the like make of them or make them of. Constants are not
// among them, and inputs and outputs only of a part of a larger graph, in which
// convolutions are near what pooling reads, too.
std::set<Value> ChannelsLast(const ir::Graph& graph, bool is_part = false);

// Steps of a tensor that lies densely: row by row, or with dimension 1 last.
std::vector<int64_t> DenseSteps(absl::Span<const int64_t> shape,
                                bool channels_last);

// Steps of the filters of a convolution: taps, then channels; channels last
// where each filter has but one.
std::vector<int64_t> FilterSteps(absl::Span<const int64_t> shape);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_LAYOUTS_H_

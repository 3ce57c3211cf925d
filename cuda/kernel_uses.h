// What the kernels of a plan read and store, and how much that is.
#ifndef ISOMER_CUDA_KERNEL_USES_H_
#define ISOMER_CUDA_KERNEL_USES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

// The kernels that read each value.
std::map<Value, std::vector<size_t>> ReadersOf(
    const std::vector<cost::Kernel>& kernels);

// True if each element of its result is made of one element of each operand.
bool IsPointwise(const ir::Node& node);

// What a value of this type takes in memory.
int64_t BytesOf(const TensorType& type);

// True if it has no more rows than that: all dimensions but the last.
bool HasRows(const TensorType& type, int64_t most);

// What nodes read of others, each once.
std::vector<Value> ReadsOf(const ir::Graph& graph,
                           const std::vector<NodeId>& nodes);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_USES_H_

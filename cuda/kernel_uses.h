// What the kernels of a plan read and store.
#ifndef ISOMER_CUDA_KERNEL_USES_H_
#define ISOMER_CUDA_KERNEL_USES_H_

#include <map>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

bool IsPointwise(const ir::Node& node);

// True if it is launched to store one value, that is no output of the graph and
// lies nowhere else.
bool StoresOne(const ir::Graph& graph, const cost::Kernel& k);

// The kernels that read each value.
std::map<Value, std::vector<size_t>> ReadersOf(
    const std::vector<cost::Kernel>& kernels);

// What nodes read of others, each once.
std::vector<Value> ReadsOf(const ir::Graph& graph,
                           const std::vector<NodeId>& nodes);

// True if the kernel has a product and reads the value in what follows it only.
bool ReadsBehindProduct(const ir::Graph& graph, const cost::Kernel& k, Value v);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_KERNEL_USES_H_

#include "cuda/kernel_uses.h"

#include <set>

#include "absl/algorithm/container.h"
#include "cost_model/op_plans.h"
#include "ops/dtype.h"

namespace isomer::cuda {

std::map<Value, std::vector<size_t>> ReadersOf(
    const std::vector<cost::Kernel>& kernels) {
  std::map<Value, std::vector<size_t>> readers;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (Value v : kernels[i].inputs) readers[v].push_back(i);
  }
  return readers;
}

bool IsPointwise(const ir::Node& node) {
  return node.op != nullptr && node.num_outputs() == 1 &&
         cost::OpPlanOf(node.op->name).op_class == cost::OpClass::kPointwise;
}

int64_t BytesOf(const TensorType& type) {
  return NumElements(type) * ByteSize(type.dtype);
}

bool HasRows(const TensorType& type, int64_t most) {
  return NumElements(type) <= most * type.shape.back();
}

std::vector<Value> ReadsOf(const ir::Graph& graph,
                           const std::vector<NodeId>& nodes) {
  const std::set<NodeId> own(nodes.begin(), nodes.end());
  std::vector<Value> reads;
  for (NodeId id : nodes) {
    for (Value v : graph.node(id).inputs) {
      if (!own.count(v.node) && !absl::c_linear_search(reads, v)) {
        reads.push_back(v);
      }
    }
  }
  return reads;
}

}  // namespace isomer::cuda

#include "cuda/kernel_uses.h"

#include <set>

#include "absl/algorithm/container.h"
#include "cost_model/op_plans.h"

namespace isomer::cuda {

bool IsPointwise(const ir::Node& node) {
  return node.op != nullptr && node.num_outputs() == 1 &&
         cost::OpPlanOf(node.op->name).op_class == cost::OpClass::kPointwise;
}

bool StoresOne(const ir::Graph& graph, const cost::Kernel& k) {
  return k.launches && k.in_place.empty() && k.outputs.size() == 1 &&
         graph.output_uses(k.outputs[0].node) == 0;
}

std::map<Value, std::vector<size_t>> ReadersOf(
    const std::vector<cost::Kernel>& kernels) {
  std::map<Value, std::vector<size_t>> readers;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (Value v : kernels[i].inputs) readers[v].push_back(i);
  }
  return readers;
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

bool ReadsBehindProduct(const ir::Graph& graph, const cost::Kernel& k,
                        Value v) {
  if (!k.launches || !k.in_place.empty()) return false;
  bool product = false;
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph.node(id);
    product = product || node.Is("matmul");
    if (!absl::c_linear_search(node.inputs, v)) continue;
    if (!product || !IsPointwise(node) ||
        graph.type({id, 0}) != graph.type(v)) {
      return false;
    }
  }
  return product;
}

}  // namespace isomer::cuda

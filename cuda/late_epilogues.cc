#include "cuda/late_epilogues.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/algorithm/container.h"
#include "cost_model/op_plans.h"
#include "ops/dtype.h"

namespace isomer::cuda {

namespace {

// Results that stay in the cache cost little to read again.
constexpr int64_t kLargeBytes = int64_t{32} << 20;

bool IsPointwise(const ir::Node& node) {
  return node.op != nullptr && node.num_outputs() == 1 &&
         cost::OpPlanOf(node.op->name).op_class == cost::OpClass::kPointwise;
}

// The product of a kernel that stores one large value of its type and shape,
// if all that follows it is a pointwise function of it alone.
std::optional<Value> ProductOf(const ir::Graph& graph, const cost::Kernel& k) {
  if (!k.launches || !k.in_place.empty() || k.outputs.size() != 1 ||
      graph.output_uses(k.outputs[0].node) > 0) {
    return std::nullopt;
  }
  const TensorType& type = graph.type(k.outputs[0]);
  if (NumElements(type) * ByteSize(type.dtype) < kLargeBytes) {
    return std::nullopt;
  }
  std::optional<Value> product;
  for (NodeId id : k.nodes) {
    const ir::Node& node = graph.node(id);
    if (node.Is("matmul")) {
      if (product || graph.type({id, 0}) != type) return std::nullopt;
      product = Value{id, 0};
      continue;
    }
    if (!product) continue;  // before it
    const bool alone = absl::c_all_of(node.inputs, [&](Value v) {
      return v == *product || (absl::c_linear_search(k.nodes, v.node) &&
                               IsPointwise(graph.node(v.node)));
    });
    if (!alone || !IsPointwise(node) || graph.type({id, 0}) != type) {
      return std::nullopt;
    }
  }
  if (!product || *product == k.outputs[0]) return std::nullopt;
  return product;
}

// True if the kernel has a product and reads the value in what follows it only.
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

}  // namespace

void MoveEpilogues(const ir::Graph& graph, std::vector<cost::Kernel>& kernels) {
  std::map<Value, std::vector<size_t>> readers;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (Value v : kernels[i].inputs) readers[v].push_back(i);
  }
  for (cost::Kernel& k : kernels) {
    const std::optional<Value> product = ProductOf(graph, k);
    if (!product) continue;
    const Value result = k.outputs[0];
    const std::vector<size_t>& by = readers[result];
    if (by.size() != 1 || !ReadsBehindProduct(graph, kernels[by[0]], result)) {
      continue;
    }
    cost::Kernel& reader = kernels[by[0]];
    const auto after = absl::c_find(k.nodes, product->node) + 1;
    // Behind the reader's own product there may be no place for them: they need
    // nothing of it, so they come first.
    reader.nodes.insert(reader.nodes.begin(), after, k.nodes.end());
    absl::c_replace(reader.inputs, result, *product);
    k.nodes.erase(after, k.nodes.end());
    k.outputs = {*product};
  }
}

}  // namespace isomer::cuda

#include "cuda/late_epilogues.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/algorithm/container.h"
#include "cost_model/op_plans.h"
#include "cuda/kernel_uses.h"
#include "ops/dtype.h"

namespace isomer::cuda {

namespace {

// Results that stay in the cache cost little to read again.
constexpr int64_t kLargeBytes = int64_t{32} << 20;

bool IsPointwise(const ir::Node& node) {
  return node.op != nullptr && node.num_outputs() == 1 &&
         cost::OpPlanOf(node.op->name).op_class == cost::OpClass::kPointwise;
}

// True if it is launched to store one value, that is no output of the graph and
// lies nowhere else.
bool StoresOne(const ir::Graph& graph, const cost::Kernel& k) {
  return k.launches && k.in_place.empty() && k.outputs.size() == 1 &&
         graph.output_uses(k.outputs[0].node) == 0;
}

// The product of a kernel that stores one large value of its type and shape,
// if all that follows it is a pointwise function of it alone.
std::optional<Value> ProductOf(const ir::Graph& graph, const cost::Kernel& k) {
  if (!StoresOne(graph, k)) return std::nullopt;
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

// The only value that is no constant of those that nodes before a kernel's last
// read from outside of it; nothing if they are not all pointwise, or there are
// none.
std::optional<Value> ReadBeforeLast(const ir::Graph& graph,
                                    const cost::Kernel& k) {
  std::optional<Value> read;
  for (size_t i = 0; i + 1 < k.nodes.size(); ++i) {
    const ir::Node& node = graph.node(k.nodes[i]);
    if (!IsPointwise(node)) return std::nullopt;
    for (Value v : node.inputs) {
      if (absl::c_linear_search(k.nodes, v.node) || graph.IsConstant(v)) {
        continue;
      }
      if (read && !(*read == v)) return std::nullopt;
      read = v;
    }
  }
  return read;
}

}  // namespace

void MoveSums(const ir::Graph& graph, std::vector<cost::Kernel>& kernels) {
  auto readers = ReadersOf(kernels);
  std::map<Value, size_t> made;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (StoresOne(graph, kernels[i])) made[kernels[i].outputs[0]] = i;
  }
  for (cost::Kernel& k : kernels) {
    if (k.family != "norm" || k.outputs.size() != 1) continue;
    const std::optional<Value> read = ReadBeforeLast(graph, k);
    if (!read || readers[*read].size() != 1 || made.count(*read) == 0) continue;
    const ir::Node& norm = graph.node(k.nodes.back());
    const Value sum = norm.inputs[0];
    cost::Kernel& product = kernels[made[*read]];
    const bool of_product = absl::c_any_of(
        product.nodes, [&](NodeId id) { return graph.node(id).Is("matmul"); });
    if (!of_product || sum.node != k.nodes.end()[-2] ||
        graph.type(sum) != graph.type(*read) ||
        absl::c_any_of(norm.inputs, [&](Value v) {
          return !(v == sum) && absl::c_linear_search(k.nodes, v.node);
        })) {
      continue;
    }
    product.nodes.insert(product.nodes.end(), k.nodes.begin(),
                         k.nodes.end() - 1);
    product.outputs = {sum};
    product.inputs = ReadsOf(graph, product.nodes);
    k.nodes.erase(k.nodes.begin(), k.nodes.end() - 1);
    k.inputs = ReadsOf(graph, k.nodes);
  }
}

void MoveEpilogues(const ir::Graph& graph, std::vector<cost::Kernel>& kernels) {
  auto readers = ReadersOf(kernels);
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

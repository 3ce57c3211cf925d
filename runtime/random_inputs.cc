// Random inputs: counter-based, so the same on every machine.
#include "runtime/random_inputs.h"

#include <algorithm>
#include <set>
#include <vector>

#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::runtime {

namespace {

using ir::Graph;
using ir::HashCombine;

// Approximately standard normal: a sum of twelve uniforms less its mean. Its
// steps are exact in double, so every machine gets the same number.
double Normal(uint64_t key) {
  double sum = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    sum += static_cast<double>(HashCombine(key, i) >> 40) / (1 << 24);
  }
  return sum - 6;
}

// A bound for integers that may be indices: the smallest dimension of any
// floating-point tensor that a node uses together with them.
int64_t IndexBound(const Graph& graph, NodeId input) {
  int64_t bound = INT64_MAX;
  std::vector<NodeId> todo = {input};
  std::set<NodeId> seen;
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    for (NodeId user : graph.users(id)) {
      bool with_floats = false;
      for (Value v : graph.node(user).inputs) {
        const TensorType* t = graph.FindType(v);
        if (t == nullptr) return 2;
        if (!IsFloat(t->dtype)) continue;
        with_floats = true;
        for (int64_t d : t->shape) bound = std::min(bound, d);
      }
      if (!with_floats && seen.insert(user).second) todo.push_back(user);
    }
  }
  return bound == INT64_MAX || bound < 1 ? 2 : bound;
}

}  // namespace

absl::StatusOr<std::map<std::string, Tensor>> RandomInputs(const Graph& graph,
                                                           uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  for (NodeId id : graph.inputs()) {
    const ir::Node& n = graph.node(id);
    const TensorType* type = graph.FindType({id, 0});
    if (type == nullptr) {
      return Invalid("input '", *n.name, "' has no known type");
    }
    const uint64_t key = HashCombine(seed, ir::HashText(*n.name));
    const int64_t size = NumElements(*type);
    if (IsFloat(type->dtype)) {
      std::vector<double> values(size);
      for (int64_t i = 0; i < size; ++i)
        values[i] = Normal(HashCombine(key, i));
      inputs[*n.name] = FromDoubles(*type, values);
      continue;
    }
    const uint64_t bound =
        type->dtype == DType::kBool ? 2 : IndexBound(graph, id);
    std::vector<int64_t> values(size);
    for (int64_t i = 0; i < size; ++i) {
      values[i] = WrapTo(type->dtype,
                         static_cast<int64_t>(HashCombine(key, i) % bound));
    }
    inputs[*n.name] = FromInts(*type, values);
  }
  return inputs;
}

}  // namespace isomer::runtime

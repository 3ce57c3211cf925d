// Found from the end: a product reads a softmax, the softmax reads a product.
#include "cuda/attention_plan.h"

#include <utility>

#include "absl/strings/string_view.h"

namespace isomer::cuda {

namespace {

bool IsView(const ir::Node& node) {
  return node.Is("reshape") || node.Is("transpose") || node.Is("broadcast") ||
         node.Is("slice");
}

}  // namespace

std::map<size_t, AttentionPlan> FindAttention(
    const ir::Graph& graph, const std::vector<cost::Kernel>& kernels) {
  std::map<Value, size_t> made;  // by kernels of one result
  std::map<Value, int> readers;
  for (const cost::Kernel& k : kernels) {
    for (Value v : k.inputs) ++readers[v];
  }
  auto makers = [&](const cost::Kernel& k, absl::string_view family) {
    std::vector<size_t> out;
    for (Value v : k.inputs) {
      const auto it = made.find(v);
      if (it != made.end() && kernels[it->second].family == family &&
          readers[v] == 1 && graph.output_uses(v.node) == 0) {
        out.push_back(it->second);
      }
    }
    return out;
  };
  std::map<size_t, AttentionPlan> found;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const cost::Kernel& k = kernels[i];
    if (k.outputs.size() != 1 || !k.launches) continue;
    made[k.outputs[0]] = i;
    if (k.family != "matmul") continue;
    const std::vector<size_t> softmax = makers(k, "softmax");
    if (softmax.size() != 1) continue;
    const cost::Kernel& s = kernels[softmax[0]];
    const ir::Node& node = graph.node(s.nodes.back());
    if (!node.Is("softmax") ||
        node.attrs->Int("axis") + 1 != graph.type(s.outputs[0]).rank()) {
      continue;
    }
    const std::vector<size_t> scores = makers(s, "matmul");
    // What ends one begins no other.
    if (scores.size() != 1 || found.count(scores[0])) continue;
    AttentionPlan plan{scores[0], softmax[0]};
    for (const cost::Kernel* reader : {&kernels[scores[0]], &k}) {
      for (absl::string_view family : {"copy", "pointwise"}) {
        for (size_t copy : makers(*reader, family)) {
          if (kernels[copy].in_place.empty() &&
              IsView(graph.node(kernels[copy].nodes.back()))) {
            plan.copies.push_back(copy);
          }
        }
      }
    }
    found[i] = std::move(plan);
  }
  return found;
}

Views ViewsOf(const ir::Graph& graph, const cost::Kernel& copy) {
  Views out;
  out.rest = copy;
  Value v = copy.outputs[0];
  while (!out.rest.nodes.empty() && v.node == out.rest.nodes.back() &&
         IsView(graph.node(v.node))) {
    out.nodes.insert(out.nodes.begin(), v.node);
    out.rest.nodes.pop_back();
    v = graph.node(v.node).inputs[0];
  }
  out.rest.outputs = {v};
  out.signature = std::exchange(out.rest.signature, "");
  return out;
}

}  // namespace isomer::cuda

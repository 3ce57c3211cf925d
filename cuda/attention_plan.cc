// Found from the end: a product reads a softmax, or what pointwise kernels make
// of one, and the softmax so reads a product.
#include "cuda/attention_plan.h"

#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "cuda/kernel_uses.h"
#include "graph/match.h"

namespace isomer::cuda {

namespace {

bool IsView(const ir::Node& node) {
  return node.Is("reshape") || node.Is("transpose") || node.Is("broadcast") ||
         node.Is("slice");
}

class Finder {
 public:
  Finder(const ir::Graph& graph, const std::vector<cost::Kernel>& kernels)
      : graph_(graph), kernels_(kernels), readers_(ReadersOf(kernels)) {}

  std::map<size_t, AttentionPlan> Run() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const cost::Kernel& k = kernels_[i];
      if (k.outputs.size() != 1 || !k.launches) continue;
      made_[k.outputs[0]] = i;
      if (k.family != "matmul") continue;
      std::optional<AttentionPlan> plan = PlanOf(k);
      // What ends one begins no other.
      if (plan && !found_.count(plan->scores)) found_[i] = *std::move(plan);
    }
    return std::move(found_);
  }

 private:
  // The kernels of a family that compute what no other kernel reads.
  std::vector<size_t> Makers(
      const cost::Kernel& k,
      std::initializer_list<absl::string_view> families) {
    std::vector<size_t> out;
    for (Value v : k.inputs) {
      const auto it = made_.find(v);
      if (it != made_.end() && readers_[v].size() == 1 &&
          graph_.output_uses(v.node) == 0 &&
          absl::c_linear_search(families, kernels_[it->second].family)) {
        out.push_back(it->second);
      }
    }
    return out;
  }

  // From the product with values back to that of the scores.
  std::optional<AttentionPlan> PlanOf(const cost::Kernel& last) {
    AttentionPlan plan;
    const cost::Kernel* reader = &last;
    for (bool softmax = false;;) {
      std::vector<size_t> makers;
      for (size_t m : Makers(*reader, {"matmul", "softmax", "pointwise"})) {
        const cost::Kernel& k = kernels_[m];
        // Scores are as many all the way.
        const bool whole =
            reader == &last || NumElements(graph_.type(k.outputs[0])) ==
                                   NumElements(graph_.type(reader->outputs[0]));
        const bool fits = k.family == "matmul"    ? softmax
                          : k.family == "softmax" ? !softmax
                                                  : k.in_place.empty();
        if (whole && fits && !IsCopy(k)) makers.push_back(m);
      }
      if (makers.size() != 1) return std::nullopt;
      reader = &kernels_[makers[0]];
      softmax = softmax || reader->family == "softmax";
      if (reader->family == "matmul") {
        plan.scores = makers[0];
        break;
      }
      plan.between.insert(plan.between.begin(), makers[0]);
    }
    if (!FindSoftmax(plan)) return std::nullopt;
    for (const cost::Kernel* k : {&kernels_[plan.scores], &last}) {
      for (absl::string_view family : {"copy", "pointwise"}) {
        for (size_t copy : Makers(*k, {family})) {
          if (kernels_[copy].in_place.empty() && IsCopy(kernels_[copy])) {
            plan.copies.push_back(copy);
          }
        }
      }
    }
    return plan;
  }

  bool IsCopy(const cost::Kernel& k) const {
    return IsView(graph_.node(k.nodes.back()));
  }

  // The softmax of the last dimension, and what follows it: nothing, or zeros
  // for what is no number.
  bool FindSoftmax(AttentionPlan& plan) const {
    std::vector<NodeId> after;
    int count = 0;
    for (size_t k : plan.between) {
      for (NodeId id : kernels_[k].nodes) {
        if (graph_.node(id).Is("softmax")) {
          plan.softmax = id;
          ++count;
        } else if (count > 0) {
          after.push_back(id);
        }
      }
    }
    const Value softmax = {plan.softmax, 0};
    if (count != 1 || graph_.node(plan.softmax).attrs->Int("axis") + 1 !=
                          graph_.type(softmax).rank()) {
      return false;
    }
    plan.guarded = !after.empty();
    if (!plan.guarded) return true;
    const ir::Node& nan = graph_.node(after[0]);
    const ir::Node& where = graph_.node(after.back());
    return after.size() == 2 && nan.Is("is_nan") && nan.inputs[0] == softmax &&
           where.Is("where") && where.inputs[0] == Value{after[0], 0} &&
           ir::SplatOf(graph_, where.inputs[1]) == 0 &&
           where.inputs[2] == softmax;
  }

  const ir::Graph& graph_;
  const std::vector<cost::Kernel>& kernels_;
  std::map<Value, std::vector<size_t>> readers_;
  std::map<Value, size_t> made_;  // by kernels of one result
  std::map<size_t, AttentionPlan> found_;
};

}  // namespace

std::map<size_t, AttentionPlan> FindAttention(
    const ir::Graph& graph, const std::vector<cost::Kernel>& kernels) {
  return Finder(graph, kernels).Run();
}

Views ViewsOf(const ir::Graph& graph, const cost::Kernel& copy,
              bool with_concat) {
  Views out;
  if (with_concat && absl::c_all_of(copy.nodes, [&](NodeId id) {
        return IsView(graph.node(id)) || graph.node(id).Is("concat");
      })) {
    out.nodes = copy.nodes;
    out.signature = copy.signature;
    return out;
  }
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

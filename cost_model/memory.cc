// Peak memory: which buffers live at the same time while the kernels of a plan
// run in order.
#include <algorithm>
#include <map>

#include "cost_model/cost.h"
#include "cost_model/regions.h"

namespace isomer::cost {

namespace {

// Values that share memory form one buffer: a view lies in what it is a view
// of, and an operand that a concat takes in place lies in the concat.
class Buffers {
 public:
  Buffers(const ir::Graph& graph, const std::vector<Kernel>& kernels)
      : graph_(graph) {
    const int end = static_cast<int>(kernels.size());
    for (NodeId id : graph.inputs()) Use({id, 0}, -1);
    for (NodeId id : graph.inputs()) Use({id, 0}, end);
    for (int i = 0; i < end; ++i) {
      const Kernel& k = kernels[i];
      for (Value v : k.outputs) Use(v, i);
      for (Value v : k.inputs) Use(v, i);
      for (Value v : k.in_place) Join(k.outputs.back(), v);
      if (!k.launches && k.in_place.empty() && !k.inputs.empty()) {
        Join(k.inputs[0], k.outputs.back());
      }
    }
    for (const ir::Output& o : graph.outputs()) Use(o.value, end);
  }

  // The most bytes that live at one time.
  int64_t Peak() const {
    std::map<int, int64_t> change;  // by time
    for (const auto& [value, index] : index_) {
      if (parent_[index] != index) continue;
      change[from_[index]] += bytes_[index];
      change[to_[index] + 1] -= bytes_[index];
    }
    int64_t now = 0, peak = 0;
    for (const auto& [time, bytes] : change) {
      now += bytes;
      peak = std::max(peak, now);
    }
    return peak;
  }

 private:
  // Weights are counted apart.
  bool IsWeight(Value v) const {
    const ir::Node& n = graph_.node(v.node);
    return n.kind == ir::Node::Kind::kConstant || graph_.IsConstant(v);
  }

  int IndexOf(Value v) {
    const auto [it, added] =
        index_.try_emplace(v, static_cast<int>(parent_.size()));
    if (added) {
      parent_.push_back(it->second);
      from_.push_back(INT32_MAX);
      to_.push_back(INT32_MIN);
      bytes_.push_back(IsWeight(v) ? 0 : BytesOf(graph_, v));
    }
    int i = it->second;
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  void Use(Value v, int time) {
    const int i = IndexOf(v);
    from_[i] = std::min(from_[i], time);
    to_[i] = std::max(to_[i], time);
  }

  void Join(Value into, Value v) {
    const int a = IndexOf(into), b = IndexOf(v);
    if (a == b) return;
    parent_[b] = a;
    from_[a] = std::min(from_[a], from_[b]);
    to_[a] = std::max(to_[a], to_[b]);
    bytes_[a] = std::max(bytes_[a], bytes_[b]);
  }

  const ir::Graph& graph_;
  std::map<Value, int> index_;
  std::vector<int> parent_, from_, to_;
  std::vector<int64_t> bytes_;
};

}  // namespace

int64_t PeakBytes(const Plan& plan, const ir::Graph& graph) {
  return plan.cost().weight_bytes + Buffers(graph, plan.Kernels(graph)).Peak();
}

}  // namespace isomer::cost

// Spreads from convolutions along edges between values of one rank.
#include "cuda/layouts.h"

#include "cost_model/op_plans.h"

namespace isomer::cuda {

namespace {

// True for operators whose output is best laid out as their image operands
// are.
bool KeepsChannels(const ir::Node& node) {
  const cost::OpPlan plan = cost::OpPlanOf(node.op->name);
  switch (plan.op_class) {
    case cost::OpClass::kPointwise:
    case cost::OpClass::kCast:
    case cost::OpClass::kConcat:
    case cost::OpClass::kSlice:
    case cost::OpClass::kIndex:
      return true;
    case cost::OpClass::kCore:
      return plan.family == cost::Family::kConv ||
             plan.family == cost::Family::kPool ||
             plan.family == cost::Family::kNorm;
    default:
      return false;
  }
}

bool IsImage(const ir::Graph& graph, Value v, bool is_part) {
  const ir::Node& node = graph.node(v.node);
  const TensorType* type = graph.FindType(v);
  return (node.kind == ir::Node::Kind::kOp ||
          (is_part && node.kind == ir::Node::Kind::kInput)) &&
         type != nullptr && type->rank() >= 3 && type->rank() <= 5;
}

bool IsPool(const ir::Node& node) {
  return node.kind == ir::Node::Kind::kOp &&
         cost::OpPlanOf(node.op->name).family == cost::Family::kPool;
}

}  // namespace

std::set<Value> ChannelsLast(const ir::Graph& graph, bool is_part) {
  std::set<Value> found;
  const std::vector<NodeId> order = graph.Order();
  bool changed = true;
  auto add = [&](Value v) {
    if (IsImage(graph, v, is_part)) changed = found.insert(v).second || changed;
  };
  for (NodeId id : order) {
    const ir::Node& node = graph.node(id);
    if (!node.Is("conv2d") && !(is_part && IsPool(node))) continue;
    add({id, 0});
    add(node.inputs[0]);
  }
  while (changed) {
    changed = false;
    for (NodeId id : order) {
      const ir::Node& node = graph.node(id);
      if (node.kind != ir::Node::Kind::kOp || !KeepsChannels(node)) continue;
      const Value out = {id, 0};
      const int rank = graph.type(out).rank();
      bool any = found.count(out) > 0;
      for (Value in : node.inputs) {
        any = any || (found.count(in) && graph.type(in).rank() == rank);
      }
      if (!any) continue;
      add(out);
      for (Value in : node.inputs) {
        const TensorType* type = graph.FindType(in);
        if (type != nullptr && type->rank() == rank) add(in);
      }
    }
  }
  if (is_part) return found;
  for (const ir::Output& o : graph.outputs()) found.erase(o.value);
  return found;
}

std::vector<int64_t> DenseSteps(absl::Span<const int64_t> shape,
                                bool channels_last) {
  const int rank = static_cast<int>(shape.size());
  std::vector<int64_t> steps(rank);
  int64_t step = 1;
  if (channels_last && rank > 2) {
    steps[1] = 1;
    step = shape[1];
  }
  for (int d = rank; d-- > 0;) {
    if (channels_last && rank > 2 && d == 1) continue;
    steps[d] = step;
    step *= shape[d];
  }
  return steps;
}

std::vector<int64_t> FilterSteps(absl::Span<const int64_t> shape) {
  std::vector<int64_t> steps = DenseSteps(shape, true);
  if (shape[1] != 1) return steps;
  int64_t step = shape[0];
  for (size_t d = shape.size(); d-- > 2;) {
    steps[d] = step;
    step *= shape[d];
  }
  steps[0] = steps[1] = 1;
  return steps;
}

}  // namespace isomer::cuda

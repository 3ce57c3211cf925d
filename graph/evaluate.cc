// The evaluator walks the needed nodes in order and frees each value after its
// last use.
#include "graph/evaluate.h"

#include <algorithm>
#include <utility>

#include "ops/status.h"

namespace isomer::ir {

namespace {

class Evaluation {
 public:
  Evaluation(const Graph& graph, const std::map<std::string, Tensor>& inputs,
             const EvaluateOptions& options, Expansions& expansions)
      : graph_(graph),
        inputs_(inputs),
        options_(options),
        expansions_(expansions) {}

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Value> wanted) {
    const std::vector<NodeId> order = Needed(wanted);
    for (const Value& v : wanted) ++uses_[v];
    int done = 0;
    for (NodeId id : order) {
      if (options_.progress &&
          !options_.progress(done++, static_cast<int>(order.size()))) {
        return absl::CancelledError("evaluation was stopped");
      }
      RETURN_IF_ERROR(RunOne(id));
    }
    std::vector<Tensor> out;
    for (const Value& v : wanted) out.push_back(Take(v));
    return out;
  }

 private:
  // The nodes that `wanted` depends on, in order, with uses counted.
  std::vector<NodeId> Needed(absl::Span<const Value> wanted) {
    std::vector<bool> need(graph_.id_bound(), false);
    for (const Value& v : wanted) need[v.node.value] = true;
    std::vector<NodeId> order = graph_.Order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!need[it->value]) continue;
      for (const Value& in : graph_.node(*it).inputs) {
        need[in.node.value] = true;
        ++uses_[in];
      }
    }
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](NodeId id) { return !need[id.value]; }),
                order.end());
    return order;
  }

  // A value for its last taker moves, for the others is copied.
  Tensor Take(Value v) {
    if (--uses_[v] > 0) return values_.at(v);
    Tensor t = std::move(values_.at(v));
    values_.erase(v);
    return t;
  }

  absl::Status RunOne(NodeId id) {
    const Node& n = graph_.node(id);
    switch (n.kind) {
      case Node::Kind::kInput: {
        const Value out = {id, 0};
        ASSIGN_OR_RETURN(values_[out], InputTensor(n));
        return absl::OkStatus();
      }
      case Node::Kind::kConstant:
        values_[{id, 0}] = n.constant->ToTensor(options_.interp);
        return absl::OkStatus();
      case Node::Kind::kOpaque:
        return Unsupported("cannot run ", n.opaque->op, " ('", n.opaque->key,
                           "'): it is not modelled");
      case Node::Kind::kOp:
        break;
    }
    std::vector<const Tensor*> inputs;
    for (const Value& v : n.inputs) inputs.push_back(&values_.at(v));
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                     RunOperator(*n.op, *n.attrs, inputs));
    for (const Value& v : n.inputs) {
      if (--uses_[v] == 0) values_.erase(v);
    }
    for (int k = 0; k < n.num_outputs(); ++k) {
      const Value v{id, k};
      if (uses_[v] > 0) values_[v] = std::move(outputs[k]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> InputTensor(const Node& n) const {
    auto it = inputs_.find(*n.name);
    if (it == inputs_.end()) return Invalid("input '", *n.name, "' is missing");
    const std::optional<TensorType>& type = (*n.types)[0];
    if (type && it->second.type != *type) {
      return Invalid("input '", *n.name, "' has type ",
                     TypeText(it->second.type), "; expected ", TypeText(*type));
    }
    return it->second;
  }

  absl::StatusOr<std::vector<Tensor>> RunOperator(
      const OpDef& op, const Attrs& attrs,
      absl::Span<const Tensor* const> inputs) {
    if (options_.run) {
      if (auto result = options_.run(op, attrs, inputs))
        return *std::move(result);
    }
    absl::StatusOr<std::vector<Tensor>> result =
        EvalOp(op, inputs, attrs, options_.interp);
    if (!absl::IsUnimplemented(result.status()) || !op.is_composite()) {
      return result;
    }
    std::vector<TensorType> types;
    for (const Tensor* t : inputs) types.push_back(t->type);
    ASSIGN_OR_RETURN(std::shared_ptr<const Graph> expanded,
                     expansions_.Expand(op, types, attrs));
    std::map<std::string, Tensor> named;
    for (size_t i = 0; i < inputs.size(); ++i) {
      named[*expanded->node(expanded->inputs()[i]).name] = *inputs[i];
    }
    std::vector<Value> wanted;
    for (const Output& o : expanded->outputs()) wanted.push_back(o.value);
    EvaluateOptions inner = options_;
    inner.progress = nullptr;
    return Evaluation(*expanded, named, inner, expansions_).Run(wanted);
  }

  const Graph& graph_;
  const std::map<std::string, Tensor>& inputs_;
  const EvaluateOptions& options_;
  Expansions& expansions_;
  std::map<Value, int> uses_;
  std::map<Value, Tensor> values_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateValues(
    const Graph& graph, absl::Span<const Value> values,
    const std::map<std::string, Tensor>& inputs,
    const EvaluateOptions& options) {
  Expansions expansions;
  return Evaluation(graph, inputs, options, expansions).Run(values);
}

absl::StatusOr<std::vector<Tensor>> Evaluate(
    const Graph& graph, const std::map<std::string, Tensor>& inputs,
    const EvaluateOptions& options) {
  std::vector<Value> values;
  for (const Output& o : graph.outputs()) values.push_back(o.value);
  return EvaluateValues(graph, values, inputs, options);
}

int64_t FlopsOf(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  std::vector<TensorType> in, out;
  for (Value v : n.inputs) in.push_back(graph.type(v));
  for (int k = 0; k < n.num_outputs(); ++k) out.push_back(graph.type({id, k}));
  return n.op->flops ? n.op->flops(in, out, *n.attrs) : NumElements(out[0]);
}

}  // namespace isomer::ir

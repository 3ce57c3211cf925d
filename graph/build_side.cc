// Nodes come after their operands, so one pass builds them all.
#include "graph/build_side.h"

#include "absl/container/inlined_vector.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

// The operator that literals become.
constexpr absl::string_view kLiteralOp = "fill";

absl::StatusOr<Value> AddLiteral(Graph& graph, const ValueExpr& literal,
                                 const TensorType& type,
                                 const ValueContext<int64_t>& context) {
  ASSIGN_OR_RETURN(double value, EvalLiteral(literal, context));
  if (!type.device.empty()) {
    return Unsupported("a literal of type ", TypeText(type));
  }
  return graph.Add(
      kLiteralOp, {},
      {{"value", value}, {"shape", type.shape}, {"dtype", type.dtype}});
}

}  // namespace

absl::StatusOr<BuiltSide> BuildSide(
    Graph& graph, const RuleSide& side, const SideTyping<int64_t>& typing,
    absl::Span<const Value> tensors,
    absl::Span<const std::optional<Attr>> attrs) {
  auto type_of = [&](RuleOperand o) -> const TensorType* {
    const auto& types = typing.nodes[o.node].types;
    return types.empty() ? nullptr : &types[o.output];
  };
  BuiltSide out;
  std::vector<Value> built(side.nodes.size());
  auto value_of = [&](RuleOperand o) {
    const bool call = side.nodes[o.node].kind == RuleNode::Kind::kCall;
    return call ? Value{built[o.node].node, o.output} : built[o.node];
  };
  for (size_t k = 0; k < side.nodes.size(); ++k) {
    if (typing.nodes[k].types.empty()) continue;  // no output needs it
    const RuleNode& n = side.nodes[k];
    if (n.kind == RuleNode::Kind::kVariable) {
      built[k] = tensors[n.variable];
      continue;
    }
    if (n.kind == RuleNode::Kind::kLiteral) {
      ASSIGN_OR_RETURN(built[k],
                       AddLiteral(graph, n.literal, typing.nodes[k].types[0],
                                  {attrs, type_of, nullptr}));
    } else {
      absl::InlinedVector<Value, 4> inputs;
      for (RuleOperand o : n.inputs) inputs.push_back(value_of(o));
      const TypedNode<int64_t>& typed = typing.nodes[k];
      built[k] = {
          graph.AddInferred(*n.op, inputs, {typed.types, typed.attrs, {}}), 0};
    }
    out.made.push_back(built[k].node);
  }
  for (RuleOperand o : side.outputs) out.outputs.push_back(value_of(o));
  return out;
}

}  // namespace isomer::ir

// Nodes come after their operands, so one pass runs them all.
#include "verify/run_side.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "graph/evaluate.h"
#include "ops/status.h"

namespace isomer::verify {

namespace {

class SideRun {
 public:
  SideRun(const ir::RuleSide& side, const ir::SideTyping<int64_t>& typing,
          const Assignment& assignment, absl::Span<const Tensor> variables,
          Interp interp, ir::Expansions& expansions)
      : side_(side),
        typing_(typing),
        assignment_(assignment),
        variables_(variables),
        interp_(interp),
        expansions_(expansions),
        values_(side.nodes.size()) {}

  absl::StatusOr<SideValues> Run() {
    for (size_t k = 0; k < side_.nodes.size(); ++k) {
      if (typing_.nodes[k].types.empty()) continue;  // no output needs it
      const ir::RuleNode& n = side_.nodes[k];
      switch (n.kind) {
        case ir::RuleNode::Kind::kVariable:
          values_[k] = {variables_[n.variable]};
          break;
        case ir::RuleNode::Kind::kLiteral: {
          ASSIGN_OR_RETURN(Tensor t, Literal(n, typing_.nodes[k].types[0]));
          values_[k].push_back(std::move(t));
          break;
        }
        case ir::RuleNode::Kind::kCall: {
          ASSIGN_OR_RETURN(values_[k], Call(n, typing_.nodes[k].attrs));
          break;
        }
      }
    }
    return std::move(values_);
  }

 private:
  absl::StatusOr<Tensor> Literal(const ir::RuleNode& n,
                                 const TensorType& type) const {
    auto type_of = [&](ir::RuleOperand o) -> const TensorType* {
      const auto& types = typing_.nodes[o.node].types;
      return types.empty() ? nullptr : &types[o.output];
    };
    ASSIGN_OR_RETURN(double value,
                     ir::EvalLiteral(n.literal, {assignment_.attrs, type_of}));
    return FromDoubles(type, std::vector<double>(NumElements(type), value),
                       interp_);
  }

  absl::StatusOr<std::vector<Tensor>> Call(const ir::RuleNode& n,
                                           const Attrs& attrs) const {
    std::vector<const Tensor*> inputs;
    for (ir::RuleOperand o : n.inputs) inputs.push_back(&At(values_, o));
    absl::StatusOr<std::vector<Tensor>> result =
        EvalOp(*n.op, inputs, attrs, interp_);
    if (!absl::IsUnimplemented(result.status()) || n.op->expansion.empty()) {
      return result;
    }
    return Expanded(*n.op, inputs, attrs);
  }

  absl::StatusOr<std::vector<Tensor>> Expanded(
      const OpDef& op, absl::Span<const Tensor* const> inputs,
      const Attrs& attrs) const {
    std::vector<TensorType> types;
    for (const Tensor* t : inputs) types.push_back(t->type);
    ASSIGN_OR_RETURN(std::shared_ptr<const ir::Graph> graph,
                     expansions_.Expand(op, types, attrs));
    std::map<std::string, Tensor> named;
    for (size_t i = 0; i < inputs.size(); ++i) {
      named[*graph->node(graph->inputs()[i]).name] = *inputs[i];
    }
    return ir::Evaluate(*graph, named, {.interp = interp_});
  }

  const ir::RuleSide& side_;
  const ir::SideTyping<int64_t>& typing_;
  const Assignment& assignment_;
  const absl::Span<const Tensor> variables_;
  const Interp interp_;
  ir::Expansions& expansions_;
  SideValues values_;
};

}  // namespace

absl::StatusOr<SideValues> RunSource(const ir::Rule& rule,
                                     const Assignment& assignment,
                                     absl::Span<const Tensor> values,
                                     Interp interp,
                                     ir::Expansions& expansions) {
  return SideRun(rule.source(), assignment.source, assignment, values, interp,
                 expansions)
      .Run();
}

absl::StatusOr<SideValues> RunTarget(const ir::Rule& rule,
                                     const Assignment& assignment,
                                     absl::Span<const Tensor> values,
                                     Interp interp,
                                     ir::Expansions& expansions) {
  return SideRun(rule.target(), assignment.target, assignment, values, interp,
                 expansions)
      .Run();
}

}  // namespace isomer::verify

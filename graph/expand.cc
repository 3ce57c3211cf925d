// The operator is put into a graph of its own, where its expansion, a rule
// like any other, is applied.
#include "graph/expand.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

class GraphBuilder : public OpBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  const TensorType& type(Value v) const override { return graph_.type(v); }
  absl::StatusOr<Value> Add(absl::string_view op, std::vector<Value> inputs,
                            Attrs attrs) override {
    return graph_.Add(op, inputs, std::move(attrs));
  }

 private:
  Graph& graph_;
};

void AddOutputs(const std::vector<Value>& values, Graph& graph) {
  for (size_t k = 0; k < values.size(); ++k) {
    graph.AddOutput(absl::StrCat("y", k), values[k]);
  }
}

}  // namespace

absl::StatusOr<const Rule*> Expansions::RuleOf(const OpDef& op) {
  auto it = rules_.find(op.name);
  if (it == rules_.end()) {
    if (op.expansion.empty()) return Invalid(op.name, ": has no expansion");
    auto rules = ReadRuleBody(op.expansion);
    if (!rules.ok()) {
      return Prefixed(absl::StrCat(op.name, ": expansion: "), rules.status());
    }
    it = rules_.emplace(op.name, std::make_unique<Rule>(std::move((*rules)[0])))
             .first;
  }
  return it->second.get();
}

absl::StatusOr<std::shared_ptr<const Graph>> Expansions::Expand(
    const OpDef& op, absl::Span<const TensorType> inputs, const Attrs& attrs) {
  std::string key = absl::StrCat(op.name, "(");
  for (const TensorType& t : inputs) absl::StrAppend(&key, TypeText(t), ",");
  absl::StrAppend(&key, AttrsText<int64_t>(attrs), ")");
  if (auto it = made_.find(key); it != made_.end()) return it->second;

  Graph graph;
  std::vector<Value> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(graph.AddInput(absl::StrCat("x", i), inputs[i]));
  }
  if (op.build) {
    GraphBuilder builder(graph);
    ASSIGN_OR_RETURN(const std::vector<Value> built,
                     op.build(builder, operands, attrs));
    AddOutputs(built, graph);
  } else {
    ASSIGN_OR_RETURN(const Rule* rule, RuleOf(op));
    ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(op, operands, attrs));
    std::vector<Value> whole;
    for (int k = 0; k < op.outputs; ++k) whole.push_back({id, k});
    AddOutputs(whole, graph);
    const std::vector<Match> matches =
        FindMatches(graph, *rule, {.beyond_cases = true});
    if (matches.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(key, ": the expansion does not match it"));
    }
    ASSIGN_OR_RETURN(graph, Apply(graph, *rule, matches[0]));
  }
  auto made = std::make_shared<const Graph>(std::move(graph));
  made_.emplace(std::move(key), made);
  return made;
}

}  // namespace isomer::ir

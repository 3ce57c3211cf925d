// A counterexample is believed because it runs: replaying trusts nothing but
// the sizes and values in it.
#include "verify/counterexample.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "graph/build_side.h"
#include "graph/evaluate.h"
#include "graph/expand.h"
#include "ops/status.h"
#include "verify/assignment.h"
#include "verify/witness.h"

namespace isomer::verify {

namespace {

std::string TypesAndAttrs(const ir::Rule& rule, const Counterexample& e) {
  std::string out;
  for (size_t i = 0; i < e.values.size(); ++i) {
    absl::StrAppend(&out, "  ", rule.tensors()[i], ": ", TypeText(e.tensors[i]),
                    " = ", TensorText(e.values[i]), "\n");
  }
  for (size_t i = 0; i < e.attrs.size(); ++i) {
    absl::StrAppend(&out, "  ", rule.attrs()[i].name, " = ",
                    AttrText<int64_t>(*e.attrs[i]), "\n");
  }
  return out;
}

// True if no element differs by more than float could round away; the margin
// of a counterexample is far above that.
bool Alike(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = ToDoubles(a), y = ToDoubles(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) != std::isfinite(y[i])) return false;
    const double scale = std::max({1.0, std::fabs(x[i]), std::fabs(y[i])});
    if (std::fabs(x[i] - y[i]) > 1e-6 * scale) return false;
  }
  return true;
}

absl::StatusOr<Assignment> AssignmentOf(const ir::Rule& rule,
                                        const Counterexample& example) {
  if (example.values.size() != rule.tensors().size() ||
      example.attrs.size() != rule.attrs().size()) {
    return Invalid("rule ", rule.name(), ": the counterexample has ",
                   example.values.size(), " tensors and ", example.attrs.size(),
                   " attributes, the rule ", rule.tensors().size(), " and ",
                   rule.attrs().size());
  }
  return Assign(rule, example.case_index, example.tensors, example.attrs);
}

absl::StatusOr<std::vector<Tensor>> RunGraph(
    const ir::Rule& rule, const ir::RuleSide& side, const Assignment& a,
    const ir::SideTyping<int64_t>& typing,
    const std::map<std::string, Tensor>& inputs, Interp interp) {
  ir::Graph graph;
  std::vector<Value> tensors;
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    tensors.push_back(graph.AddInput(rule.tensors()[i], a.tensors[i]));
  }
  ASSIGN_OR_RETURN(ir::BuiltSide built,
                   ir::BuildSide(graph, side, typing, tensors, a.attrs));
  return ir::EvaluateValues(graph, built.outputs, inputs, {.interp = interp});
}

}  // namespace

absl::StatusOr<ExampleRun> RunExample(const ir::Rule& rule,
                                      const Counterexample& example,
                                      Interp interp) {
  ASSIGN_OR_RETURN(Assignment a, AssignmentOf(rule, example));
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < example.values.size(); ++i) {
    ASSIGN_OR_RETURN(inputs[rule.tensors()[i]],
                     Reinterpret(example.values[i], interp));
  }
  ExampleRun out;
  ASSIGN_OR_RETURN(out.source,
                   RunGraph(rule, rule.source(), a, a.source, inputs, interp));
  ASSIGN_OR_RETURN(out.target,
                   RunGraph(rule, rule.target(), a, a.target, inputs, interp));
  return out;
}

absl::Status Replay(const ir::Rule& rule, const Counterexample& example) {
  ASSIGN_OR_RETURN(Assignment a, AssignmentOf(rule, example));
  ir::Expansions expansions;
  if (!FindDifference(rule, a, example.values, expansions)) {
    return absl::FailedPreconditionError(
        absl::StrCat("rule ", rule.name(),
                     ": both sides agree at the counterexample's values"));
  }
  for (Interp interp : {Interp::kReal, Interp::kRun}) {
    ASSIGN_OR_RETURN(ExampleRun run, RunExample(rule, example, interp));
    if (Alike(run.source[example.output], run.target[example.output])) {
      return absl::FailedPreconditionError(
          absl::StrCat("rule ", rule.name(), ": both sides give ",
                       TensorText(run.source[example.output]), " in ",
                       interp == Interp::kReal ? "double" : "float"));
    }
  }
  return absl::OkStatus();
}

std::string ToText(const ir::Rule& rule, const Counterexample& example) {
  const std::string which =
      rule.source().outputs.size() == 1
          ? std::string()
          : absl::StrCat(" (output ", example.output, ")");
  return absl::StrCat("with\n", TypesAndAttrs(rule, example), "the source",
                      which, " gives ", TensorText(example.source),
                      "\nthe target", which, " gives ",
                      TensorText(example.target), "\n");
}

}  // namespace isomer::verify

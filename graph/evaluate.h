// Running a whole graph, under any interpretation. Operators that have no
// kernel there are run as their expansion. A caller may run operators its own
// way (the fast CPU evaluator does), node by node.
#ifndef ISOMER_GRAPH_EVALUATE_H_
#define ISOMER_GRAPH_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/expand.h"
#include "graph/graph.h"
#include "ops/tensor.h"

namespace isomer::ir {

// Runs one operator; nothing means: the reference shall do it.
using RunNode =
    std::function<std::optional<absl::StatusOr<std::vector<Tensor>>>(
        const OpDef& op, const Attrs& attrs,
        absl::Span<const Tensor* const> inputs)>;

struct EvaluateOptions {
  Interp interp = Interp::kRun;
  RunNode run = nullptr;
  // Called before each node with how many are done; false stops the run.
  std::function<bool(int done, int total)> progress = nullptr;
};

// The outputs of the graph, in order, for inputs given by name. An opaque node
// that an output needs is an error that names it.
absl::StatusOr<std::vector<Tensor>> Evaluate(
    const Graph& graph, const std::map<std::string, Tensor>& inputs,
    const EvaluateOptions& options = {});

// The floating-point operations of a node that is an operator.
int64_t FlopsOf(const Graph& graph, NodeId id);

// The given values alone.
absl::StatusOr<std::vector<Tensor>> EvaluateValues(
    const Graph& graph, absl::Span<const Value> values,
    const std::map<std::string, Tensor>& inputs,
    const EvaluateOptions& options = {});

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_EVALUATE_H_

// Running one side of a rule, node by node, without building a graph: what the
// refuter does thousands of times.
#ifndef ISOMER_VERIFY_RUN_SIDE_H_
#define ISOMER_VERIFY_RUN_SIDE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/expand.h"
#include "graph/rule_side.h"
#include "ops/tensor.h"
#include "verify/assignment.h"

namespace isomer::verify {

// The values of a side's nodes, by node and output; none for a node that no
// output needs.
using SideValues = std::vector<std::vector<Tensor>>;

// Runs the source or the target at the values of the tensor variables, which
// are in the representation of `interp`. Composite operators without a kernel
// there run as their expansion, which `expansions` remembers.
absl::StatusOr<SideValues> RunSource(const ir::Rule& rule,
                                     const Assignment& assignment,
                                     absl::Span<const Tensor> values,
                                     Interp interp, ir::Expansions& expansions);
absl::StatusOr<SideValues> RunTarget(const ir::Rule& rule,
                                     const Assignment& assignment,
                                     absl::Span<const Tensor> values,
                                     Interp interp, ir::Expansions& expansions);

// The value of one output of a node.
inline const Tensor& At(const SideValues& values, ir::RuleOperand o) {
  return values[o.node][o.output];
}

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_RUN_SIDE_H_

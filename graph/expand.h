// A composite operator opened: its expansion, instantiated at given types.
#ifndef ISOMER_GRAPH_EXPAND_H_
#define ISOMER_GRAPH_EXPAND_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/rule.h"
#include "ops/op_def.h"

namespace isomer::ir {

// Instantiates expansions and remembers them.
class Expansions {
 public:
  // The graph that `op` stands for at these operand types and attributes. Its
  // inputs are the operands in order, its outputs those of the operator. An
  // operator without an expansion is an error.
  absl::StatusOr<std::shared_ptr<const Graph>> Expand(
      const OpDef& op, absl::Span<const TensorType> inputs, const Attrs& attrs);

 private:
  absl::StatusOr<const Rule*> RuleOf(const OpDef& op);

  std::map<std::string, std::unique_ptr<const Rule>> rules_;
  std::map<std::string, std::shared_ptr<const Graph>> made_;
};

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_EXPAND_H_

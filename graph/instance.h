// A rule at concrete sizes: both of its sides as graphs with the same inputs,
// for running and comparing.
#ifndef ISOMER_GRAPH_INSTANCE_H_
#define ISOMER_GRAPH_INSTANCE_H_

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/rule.h"
#include "graph/rule_bind.h"

namespace isomer::ir {

struct RuleInstance {
  Graph source, target;  // inputs are named like the tensor variables
  std::vector<std::optional<Attr>> attrs;
};

struct InstanceLimits {
  int64_t max_size = 4;  // of a dimension that is free
  int tries = 400;
  DType floats = DType::kF32;  // what float tensors are
};

// Picks sizes and integer attributes at random until they satisfy what the
// case says about them and both sides type alike. NotFound if no try does.
absl::StatusOr<RuleInstance> MakeInstance(const Rule& rule, const RuleCase& c,
                                          std::mt19937_64& random,
                                          const InstanceLimits& limits = {});

// A rule at the types of its tensor variables, whatever its conditions;
// attribute variables have no values.  NotFound if the sides differ in type.
absl::StatusOr<RuleInstance> InstanceAt(const BoundRule& rule,
                                        absl::Span<const TensorType> types);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_INSTANCE_H_

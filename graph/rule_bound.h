// What must hold of a rule once its names are bound. Part of checking a rule
// (graph/rule.h).
#ifndef ISOMER_GRAPH_RULE_BOUND_H_
#define ISOMER_GRAPH_RULE_BOUND_H_

#include "absl/status/status.h"
#include "graph/rule_bind.h"

namespace isomer::ir {

// Demands that a match of the source gives every attribute variable a value.
absl::Status CheckSolvable(const BoundRule& rule);

// Notes which attribute variables name dimensions.
void MarkAxes(BoundRule& rule);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_BOUND_H_

// Binding: the names of a rule become nodes and variables. Part of checking a
// rule (graph/rule.h).
#ifndef ISOMER_GRAPH_RULE_BIND_H_
#define ISOMER_GRAPH_RULE_BIND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule.h"

namespace isomer::ir {

// A rule whose names are bound and whose types are not yet checked.
struct BoundRule {
  RuleSide source, target;
  std::vector<std::string> tensors;
  std::vector<RuleVariable> attrs;
  std::vector<RuleCondition> where;
};

// Binds the names of a rule, opens its short forms, and checks that a match of
// the source gives every variable a value.
//
// Short forms, for any operator:
//   axis=a          where the operator has `axes`: axes=[a], and the other
//                   lists of the call are written as single numbers
//   axes=[...]      where it has `dims` and `shape`: the dimensions of shape
//                   that dims does not name
//   end             the size of the operand in the dimension that the same
//                   place of `axes` names
//   [..]            without a name: the next attribute in schema order
//   shape, dtype    left out: from the surroundings (graph/rule_side.h); in a
//                   source they match anything
absl::StatusOr<BoundRule> Bind(const RuleSyntax& syntax,
                               const Registry& registry);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_BIND_H_

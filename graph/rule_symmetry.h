// The symmetries of a rule. Part of checking a rule (graph/rule.h).
#ifndef ISOMER_GRAPH_RULE_SYMMETRY_H_
#define ISOMER_GRAPH_RULE_SYMMETRY_H_

#include <vector>

#include "graph/rule_bind.h"

namespace isomer::ir {

// Returns the permutations of variables, the identity left out, that map the
// source and the conditions to themselves up to the order of outputs and of
// commutative operands, and the target along with them.
//
// Where outputs trade places the target is compared up to attribute values and
// the order of variadic operands: merging two products as (y, z) or as (z, y)
// counts once, though the concats differ.
std::vector<Symmetry> FindSymmetries(const BoundRule& rule);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_SYMMETRY_H_

// Finding the cases of a rule: the choices of ranks, axes and list lengths
// under which both sides type. Part of checking a rule (graph/rule.h).
#ifndef ISOMER_GRAPH_RULE_TYPING_H_
#define ISOMER_GRAPH_RULE_TYPING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule_bind.h"

namespace isomer::ir {

struct TypedCases {
  std::vector<RuleCase> cases;
  bool cut_short = false;  // the steps did not do for all of them
};

// Returns every case, or the error of the attempt that came closest.
//
// Tensors are f32; if nothing types so, one or two of them are tried as bool
// and i64. Integer attributes are symbols; if nothing types so, single ones,
// then lists too, take the sample values of their schema.
absl::StatusOr<TypedCases> TypeCases(const BoundRule& rule,
                                     const RuleLimits& limits);

// Exact if every operator on both sides only moves elements (its flops are 0).
Numerics NumericsOf(const BoundRule& rule, const std::vector<RuleCase>& cases);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_TYPING_H_

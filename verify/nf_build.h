// One side of a rule as a sum: what an output element is at a symbolic index,
// from the index semantics of its operators. Composites are opened.
#ifndef ISOMER_VERIFY_NF_BUILD_H_
#define ISOMER_VERIFY_NF_BUILD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule.h"
#include "verify/nf_term.h"

namespace isomer::verify {

// A case of a rule at which both sides are looked at.
struct CaseView {
  const ir::Rule& rule;
  const ir::RuleCase& rule_case;
  // The attribute variables; floating-point ones have values that stand for
  // all: their texts, by value.
  std::vector<std::optional<SymAttr>> attrs;
  std::map<double, std::string> float_names;
};

// The view of a case. Floating-point variables get values of their own.
CaseView ViewOf(const ir::Rule& rule, const ir::RuleCase& rule_case);

// Element `index` of the given output of the source or the target. An index
// begins with those of the device axes, if there are any.
absl::StatusOr<Sum> OutputElement(const CaseView& view, bool target, int output,
                                  const std::vector<DimExpr>& index,
                                  Names& names);

// The type of an output of the source.
const SymType& OutputType(const CaseView& view, int output);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_NF_BUILD_H_

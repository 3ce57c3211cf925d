// What a rule may ask for: conditions on sizes and ranks that hold where the
// rule was seen.
#ifndef ISOMER_XFER_GEN_GENERALISE_CONDITIONS_H_
#define ISOMER_XFER_GEN_GENERALISE_CONDITIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/rule_syntax.h"
#include "ops/tensor_type.h"

namespace isomer::gen {

// A tensor variable and its type where the rule was seen.
struct SeenTensor {
  std::string name;
  TensorType type;
};
using SeenTensors = std::vector<SeenTensor>;

// A condition on sizes, and the same as a function of tensor types, given in
// the order of the tensors that were seen.
struct SizeCondition {
  ir::ConditionSyntax syntax;
  std::function<bool(absl::Span<const TensorType>)> holds;
};

// What may tell true cases from false ones, the weakest first: two ranks are
// equal, a rank is what it was, two sizes are equal, a size is what it was.
std::vector<SizeCondition> ConditionsOf(const SeenTensors& seen);

// The rule where the ranks of all tensors are what they were.
ir::RuleSyntax AtRanks(ir::RuleSyntax rule, const SeenTensors& seen);

// `a != b`, for two attribute variables.
ir::ConditionSyntax DifferentValues(const std::string& a, const std::string& b);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_CONDITIONS_H_

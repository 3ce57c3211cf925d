// A candidate rule as the enumeration hands it on: two sides of equal value,
// in the shape of the rule language, with the attributes and sizes of the
// templates it was found with. Generalising and proving come after.
#ifndef ISOMER_XFER_GEN_CANDIDATE_H_
#define ISOMER_XFER_GEN_CANDIDATE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule_syntax.h"
#include "ops/status.h"
#include "ops/tensor_type.h"

namespace isomer::gen {

// A leaf that a candidate names: a tensor variable of the rule.
struct CandidateLeaf {
  std::string name;  // the class and a number: x1, w2
  bool weight = false;
  TensorType type;  // in the first assignment of sizes
};

// The same with the numbers of another assignment of sizes.
struct SeenElsewhere {
  std::string text;
  std::vector<TensorType> leaves;  // in the order of the candidate's
};

struct Candidate {
  // Both ways, without a name or conditions. The source has at least as many
  // steps as the target and names every leaf; a target may be a bare leaf.
  // Values used twice are bound by `let`; attributes are literals, or sizes
  // of what they are about. As text it
  // takes a tenth of the memory, and there may be hundreds of thousands.
  std::string text;
  ir::RuleSyntax rule() const {
    absl::StatusOr<ir::RuleSyntax> rule = ir::ParseRuleBody(text);
    Check(rule.ok(), "a candidate that does not read back");
    return *std::move(rule);
  }
  // The leaves, in the order in which the source names them.
  std::vector<CandidateLeaf> leaves;
  // Templates applied on each side; a fragment counts as one step.
  int source_steps = 0;
  int target_steps = 0;
  // At the other assignments of sizes, in which unrelated dimensions differ:
  // those that type both sides, which are then equal there too. Without any,
  // the equality has been seen at the first sizes alone.
  std::vector<SeenElsewhere> elsewhere = {};
  // Whether another candidate says the same with shapes by sizes of operands:
  // this one, with shapes in numbers, says more if those can be variables.
  bool said_by_sizes = false;
  // What it was found with, for the comment of its rule.
  std::string origin = {};
};

// Candidates come sorted by steps, then by the text of their rules.

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_CANDIDATE_H_

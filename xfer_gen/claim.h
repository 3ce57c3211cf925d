// What a candidate or a rule says, as something that rules may give: a
// candidate at the sizes at which it was seen, a rule at all of its ranks.
#ifndef ISOMER_XFER_GEN_CLAIM_H_
#define ISOMER_XFER_GEN_CLAIM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/instance.h"
#include "graph/rule.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/derive.h"

namespace isomer::gen {

// A candidate at the other sizes: both sides as graphs, by assignment. Nothing
// if it was not seen there.
std::vector<ir::RuleInstance> InstancesOf(const Candidate& candidate);

class Claim {
 public:
  Claim(ir::Rule rule, bool both_ways);
  // What is seen at some sizes, at least one.
  Claim(std::vector<ir::RuleInstance> seen, bool both_ways);

  // How a theory gives it, if it does: in every direction in which it is worth
  // having.
  std::optional<Derivation> DerivedBy(const Theory& theory, DeriveLimits limits,
                                      Rewritten* rewritten = nullptr) const;

  // A hash of its operators: candidates with the same often become one rule.
  uint64_t Operators() const;

 private:
  using Counts = std::map<std::string, int>;  // by operator

  Counts source_, target_;
  bool both_ways_;
  // One of the sides also hands out what it uses inside.
  bool nested_;
  std::optional<ir::Rule> rule_;
  std::vector<ir::RuleInstance> seen_;  // without a rule
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_CLAIM_H_

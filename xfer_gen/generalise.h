// From a candidate, seen at one set of sizes and attributes, to a rule about as
// many as hold. Sizes and ranks are free in any rule; attributes become
// variables where the rule stays true, and what must then be asked for is asked
// for in `where`, the weakest condition that tells true cases from false ones.
//
// "True" means here: no trial says otherwise (xfer_gen/generalise_trial.h).
#ifndef ISOMER_XFER_GEN_GENERALISE_H_
#define ISOMER_XFER_GEN_GENERALISE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/candidate.h"

namespace isomer::gen {

struct GeneraliseOptions {
  int assignments = 12;        // that tell whether a form holds
  int final_assignments = 64;  // that the result must pass
  uint64_t seed = 1;
  bool attributes = true;  // whether attributes other than axes are freed
  // Asked, if set, about the rule as it was seen, at the ranks that were seen
  // and with numbers as sizes: what it says no to is not generalised.
  std::function<bool(const ir::RuleSyntax&)> worthwhile = {};
};

// The rule that a candidate stands for: with a direction in which it can be a
// source, `<=>` if it can in both, and no condition that could be left out.
// FailedPrecondition if no form of it holds, with the trial that it failed;
// Aborted if it was not worthwhile.
absl::StatusOr<ir::RuleSyntax> Generalise(const Candidate& candidate,
                                          const GeneraliseOptions& options);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_H_

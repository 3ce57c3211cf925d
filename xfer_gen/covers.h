// What a set of rules makes of somebody else's rule: has it, has a more general
// one, derives it, shows it to be false, or misses it.
#ifndef ISOMER_XFER_GEN_COVERS_H_
#define ISOMER_XFER_GEN_COVERS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/rule.h"
#include "xfer_gen/derive.h"
#include "xfer_gen/derive_theory.h"

namespace isomer::gen {

enum class Coverage {
  kSame,       // up to names, commutative operands and direction
  kInstance,   // of a more general rule
  kDerived,    // in a few steps
  kFalse,      // there is a counterexample
  kIllFormed,  // it is no rule
  kMissing,
};

// same, instance, derived, false, ill_formed, missing.
absl::string_view CoverageName(Coverage c);

struct CoverReport {
  Coverage coverage = Coverage::kMissing;
  std::vector<std::string> steps;  // names of rules, from source to target
  // Rewriting can take the steps in that order. Otherwise the sides are equal
  // by them, but one has to be taken by a rule that drops a variable.
  bool forward = true;
  std::string reason;  // the counterexample, or what is wrong
};

struct CoverOptions {
  DeriveLimits limits;
  // Describes a counterexample to a rule, if it finds one.
  std::function<std::optional<std::string>(const ir::Rule&)> refute;
};

// Reports on one rule. One that is false is called false even if our rules
// would derive it.
CoverReport Cover(const ir::RuleSyntax& theirs, const Theory& ours,
                  const CoverOptions& options);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_COVERS_H_

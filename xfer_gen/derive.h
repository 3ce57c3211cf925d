// Deriving a rule from others: at an instance of it in which all sizes that may
// differ do, the source is rewritten from one end and the target from the
// other, within the limits, until they meet. The same steps must then lead
// through at every other rank and at other sizes, so that no step was an
// accident of sizes.
#ifndef ISOMER_XFER_GEN_DERIVE_H_
#define ISOMER_XFER_GEN_DERIVE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/instance.h"
#include "graph/rule.h"
#include "xfer_gen/derive_theory.h"

namespace isomer::gen {

struct DeriveLimits {
  int steps = 4;
  int graphs = 3000;  // that a search makes
  int growth = 4;     // how many operators a graph may have over the larger end
  // Whether every step must be one that rewriting can take from source to
  // target, or from target to source. A rule that drops a variable cannot be
  // taken backwards, though it is an equation like any other.
  bool forward = false, backward = false;
};

struct Derivation {
  // Which equations rewrite the source, and which the target, in order, until
  // both are the same graph.
  std::vector<int> from_source, from_target;
  // There is one step at most, and it rewrites the outputs themselves: the
  // rule is an instance of the equation.
  bool whole = false;

  int steps() const {
    return static_cast<int>(from_source.size() + from_target.size());
  }
};

// The graphs that searches tried to rewrite. One more equation that needs what
// none of them has changes nothing of what the searches found.
using Rewritten = std::vector<Traits>;

// Derives what is seen at several sizes, by the same steps where these lead
// through; nothing if that fails at one of them.
std::optional<Derivation> DeriveAll(absl::Span<const ir::RuleInstance> seen,
                                    const Theory& theory,
                                    const DeriveLimits& limits = {},
                                    Rewritten* rewritten = nullptr);

// Derives a rule for all of its cases; nothing if that fails for one of them.
std::optional<Derivation> DeriveRule(const ir::Rule& rule, const Theory& theory,
                                     const DeriveLimits& limits = {},
                                     Rewritten* rewritten = nullptr);

// The names of the equations from source to target; those that rewrite the
// target are read the other way.
std::vector<std::string> StepNames(const Derivation& d, const Theory& theory);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_DERIVE_H_

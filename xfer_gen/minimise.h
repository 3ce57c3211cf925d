// From candidates to a set of rules that people can read: candidates are taken
// smallest first; what the rules kept so far give is dropped, what they do not
// give is generalised, proved for all sizes, and kept. In the end, what the
// later rules give is dropped too. (The idea is Ruler's: rules found, not only
// candidates, do the pruning.)
#ifndef ISOMER_XFER_GEN_MINIMISE_H_
#define ISOMER_XFER_GEN_MINIMISE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/derive.h"
#include "xfer_gen/generalise.h"

namespace isomer::gen {

struct MinimiseOptions {
  GeneraliseOptions generalise;
  DeriveLimits limits = {.steps = 6, .graphs = 1500};
  // Threads that look at candidates, generalise and prove; the result is the
  // same with any number.
  int threads = 1;
  // Rules that may be used in derivations and are not written.
  std::vector<ir::RuleSyntax> known;
  // Called with how many candidates are done; false stops the work. What was
  // kept until then is a valid set.
  std::function<bool(int64_t done, int64_t total)> progress;
};

// A candidate that is not among the rules, and why: "same as NAME", "instance
// of NAME", "derived by NAME, NAME'", "fails: COUNTEREXAMPLE", "unknown:
// REASON" of one that could not be proved.
struct Dropped {
  std::string rule;
  std::string why;
};

struct Minimised {
  ir::RuleFileSyntax file;  // rules by name, each fold after its rule
  std::vector<Dropped> dropped;
  int64_t generalised = 0;  // candidates that became rules
  int64_t unproved = 0;     // candidates left out because they are not proved
  // The time it took, by what the threads were busy with.
  double generalise_s = 0;  // with proving
  double minimise_s = 0;
  bool stopped = false;
};

// Reduces candidates to rules.
absl::StatusOr<Minimised> Minimise(absl::Span<const Candidate> candidates,
                                   const MinimiseOptions& options);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_MINIMISE_H_

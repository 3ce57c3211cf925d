// What becomes of a candidate whatever the other rules are: it is generalised,
// and proved for all sizes in the directions that it has.
#ifndef ISOMER_XFER_GEN_PROPOSE_H_
#define ISOMER_XFER_GEN_PROPOSE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/claim.h"
#include "xfer_gen/generalise.h"

namespace isomer::gen {

struct Proposal {
  std::optional<ir::RuleSyntax> rule;  // proved, in the directions that it has
  std::string why = {};                // there is none
  bool unproved = false;               // as far as anybody knows it is true
};

// The directions in which a rule is proved, and why not in the first one that
// it is not. An error if it is no rule from left to right and, from right to
// left, not proved.
struct ProvedWays {
  bool forward = false, backward = false;
  std::string why = {};
};

// Proofs by the text of the rule: many candidates become the same one. May be
// used from several threads.
class Proofs {
 public:
  absl::StatusOr<ProvedWays> Prove(const ir::RuleSyntax& rule);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, absl::StatusOr<ProvedWays>> known_
      ABSL_GUARDED_BY(mutex_);
};

// One candidate on its way to a rule.
class Proposer {
 public:
  Proposer(const Candidate& candidate, const GeneraliseOptions& options,
           Proofs& proofs);
  Proposer(const Proposer&) = delete;
  Proposer& operator=(const Proposer&) = delete;

  // What it says where it was seen: at the other sizes or, where that does not
  // tell, at the ranks, with numbers that are sizes there written so.
  absl::StatusOr<Claim> Seen();

  // What is more general is harder to prove: where that fails, attributes stay
  // as they were seen, and then ranks too.
  absl::StatusOr<Proposal> Propose();

 private:
  ir::RuleSyntax SeenRule();
  // Reduces a rule to the directions in which it is proved; the reason if there
  // is none.
  absl::StatusOr<std::optional<std::string>> ProveWays(ir::RuleSyntax& rule);

  const Candidate& candidate_;
  GeneraliseOptions options_;
  Proofs& proofs_;
  SeenTensors leaves_;
  std::vector<ir::RuleInstance> instances_;  // at the other sizes
  std::string not_provable_;
  Generaliser generaliser_;
};

// A name made of what the rule says: its operators and a short hash.
std::string NameOf(const ir::RuleSyntax& rule);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PROPOSE_H_

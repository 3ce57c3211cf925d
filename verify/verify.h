// The verdict on a rule: proved for all sizes, refuted with a counterexample,
// or unknown with a reason. Unknown is never treated as proved.
#ifndef ISOMER_VERIFY_VERIFY_H_
#define ISOMER_VERIFY_VERIFY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "graph/rule.h"
#include "verify/prover.h"
#include "verify/refuter.h"

namespace isomer::verify {

enum class Outcome { kProved, kRefuted, kUnknown, kIllFormed };

// "proved", "refuted", "unknown", "ill_formed".
absl::string_view OutcomeName(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  std::string reason;  // for unknown and ill-formed
  std::optional<Counterexample> counterexample;
  Proof proof;
  int assignments = 0;
  absl::Duration time;
};

struct VerifyOptions {
  ProveOptions prove;
  RefuteOptions refute;
  // Assignments that are tried before the proof; the others only if it fails.
  int quick_assignments = 3;
};

// Refutes the rule or proves it: a short look for a counterexample, the proof,
// and if that fails a long look.
Verdict Verify(const ir::Rule& rule, const VerifyOptions& options);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_VERIFY_H_

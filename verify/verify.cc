// Refuting comes first: it is cheap, and a proof that does not come to an end
// is the most expensive answer there is.
#include "verify/verify.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace isomer::verify {

namespace {

// Looks for a counterexample; true if the verdict is settled.
bool Look(const ir::Rule& rule, const RefuteOptions& options, Verdict& v,
          bool& suspicious) {
  Refutation r = Refute(rule, options);
  v.assignments += r.assignments;
  suspicious |= r.suspicious;
  if (!r.found) return false;
  v.outcome = Outcome::kRefuted;
  v.counterexample = std::move(r.found);
  return true;
}

void Decide(const ir::Rule& rule, const VerifyOptions& options, Verdict& v) {
  bool suspicious = false;
  RefuteOptions quick = options.refute;
  quick.assignments = std::min(quick.assignments, options.quick_assignments);
  if (Look(rule, quick, v, suspicious)) return;
  v.proof = Prove(rule, options.prove);
  if (v.proof.proved) {
    v.outcome = Outcome::kProved;
    return;
  }
  RefuteOptions thorough = options.refute;
  thorough.seed += 1;
  thorough.assignments *= 4;
  if (Look(rule, thorough, v, suspicious)) return;
  v.outcome = Outcome::kUnknown;
  v.reason = v.proof.reason;
  if (v.assignments == 0) {
    absl::StrAppend(&v.reason, "; no sizes satisfy its conditions");
  } else if (suspicious) {
    absl::StrAppend(&v.reason,
                    "; the sides differ where functions are taken as unknown, "
                    "but at no number that was tried");
  }
}

}  // namespace

absl::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kProved:
      return "proved";
    case Outcome::kRefuted:
      return "refuted";
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kIllFormed:
      return "ill_formed";
  }
  return "";
}

Verdict Verify(const ir::Rule& rule, const VerifyOptions& options) {
  const absl::Time start = absl::Now();
  Verdict v;
  Decide(rule, options, v);
  v.time = absl::Now() - start;
  return v;
}

}  // namespace isomer::verify

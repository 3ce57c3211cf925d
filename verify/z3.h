// Z3 behind the one door to an SMT solver (verify/smt.h). The only file that
// includes Z3; a build without it has a solver that says unknown.
#ifndef ISOMER_VERIFY_Z3_H_
#define ISOMER_VERIFY_Z3_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "verify/smt.h"

namespace isomer::verify {

struct SmtLimits {
  absl::Duration time = absl::Milliseconds(500);
  int64_t memory_mb = 1024;
};

// Answers one question. Z3 sees to the limits itself and is known to overrun
// them; a program that must not wait asks it in a process that can be stopped.
SmtAnswer Z3Solve(const std::string& question, const SmtLimits& limits);

// The version, as in "4.8.12"; "" in a build without Z3.
std::string Z3Version();

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_Z3_H_

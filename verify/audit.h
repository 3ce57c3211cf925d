// A second opinion on a proof's arithmetic: what the prover settled by its own
// means is asked of the solver again.
#ifndef ISOMER_VERIFY_AUDIT_H_
#define ISOMER_VERIFY_AUDIT_H_

#include <string>
#include <vector>

#include "verify/arithmetic.h"
#include "verify/smt.h"

namespace isomer::verify {

struct Audit {
  int asked = 0;
  int confirmed = 0;
  // A question to which the solver has a counterexample; "" if there is none.
  std::string contradicted;
};

// Asks each question once, however often the proof came to it. Where the solver
// finds no answer, it is asked for the steps by which the prover got there.
// Stops at the first that is contradicted.
Audit AuditArithmetic(const std::vector<ArithmeticQuery>& settled,
                      const SmtSolver& solver);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_AUDIT_H_

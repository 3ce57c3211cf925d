// Proves a rule for all sizes: both sides, as functions of an output index,
// have the same normal form.
#ifndef ISOMER_VERIFY_PROVER_H_
#define ISOMER_VERIFY_PROVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "graph/rule.h"
#include "verify/arithmetic.h"
#include "verify/smt.h"

namespace isomer::verify {

struct ProveOptions {
  SmtSolver solver = nullptr;
  absl::Duration time = absl::Seconds(10);
  int64_t steps = 1'000'000;  // of normalisation, over all cases
  bool record = false;        // keep what was settled without the solver
};

struct Proof {
  bool proved = false;
  std::string reason;   // why it is not proved, with the case it is about
  bool differ = false;  // it is that values are not shown to be equal
  // The scalar-function axioms that were used, sorted ("relu(relu(x)) =
  // relu(x)"), and how many cases and solver calls it took.
  std::vector<std::string> facts;
  int cases = 0;
  int solver_calls = 0;
  // If asked for: arithmetic that was settled without the solver, for an audit
  // to ask again.
  std::vector<ArithmeticQuery> settled;
};

// Tries to prove every case of the rule. A proof that does not come to an end
// within the limits is no proof.
Proof Prove(const ir::Rule& rule, const ProveOptions& options);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_PROVER_H_

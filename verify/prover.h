// Proves a rule for all sizes: both sides, as functions of an output index,
// have the same normal form.
#ifndef ISOMER_VERIFY_PROVER_H_
#define ISOMER_VERIFY_PROVER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "graph/rule.h"
#include "verify/arithmetic.h"
#include "verify/smt.h"

namespace isomer::verify {

// Cases in which the values of both sides were shown to be equal, with what it
// took. A case is known by what it says: the elements of both sides, in any
// order, and all that is assumed of sizes and signs. Whether the target is
// defined where the source is belongs to a direction, and is no part of it.
struct ShownEqual {
  std::set<std::string> axioms;
  int64_t steps = 0;
};
using EqualCases = std::map<std::string, ShownEqual>;

struct ProveOptions {
  SmtSolver solver = nullptr;
  absl::Duration time = absl::Seconds(10);
  int64_t steps = 1'000'000;  // of normalisation, over all cases
  bool record = false;        // keep what was settled without the solver
  // If set, cases that are there are not shown again, and those that are shown
  // are added: a rule and the same one from right to left have most in common.
  // They cost the same steps as before, so that what is proved does not depend
  // on what was proved already. Not with `record`, which wants all of a proof.
  EqualCases* equal = nullptr;
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

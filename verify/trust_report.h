// What has to be believed for a proof to be one, as a report for people.
#ifndef ISOMER_VERIFY_TRUST_REPORT_H_
#define ISOMER_VERIFY_TRUST_REPORT_H_

#include <string>

#include "ops/registry.h"
#include "verify/smt.h"

namespace isomer::verify {

// Lists the operators by how their meaning is given, the axioms about scalar
// functions, and the solver; and the rules that operators state about
// themselves, each with its verdict, since those are proved and not believed.
std::string TrustReport(const Registry& registry, const SmtSolver& solver);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_TRUST_REPORT_H_

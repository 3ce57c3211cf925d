// The questions as the solver gets them are the whole of what is shared with
// the prover.
#include "verify/audit.h"

#include <set>
#include <utility>

namespace isomer::verify {

Audit AuditArithmetic(const std::vector<ArithmeticQuery>& settled,
                      const SmtSolver& solver) {
  Audit audit;
  std::set<std::string> asked;
  for (const ArithmeticQuery& query : settled) {
    std::string text = SmtText(query);
    if (!asked.insert(text).second) continue;
    ++audit.asked;
    switch (solver ? solver(text) : SmtAnswer::kUnknown) {
      case SmtAnswer::kUnsat:
        ++audit.confirmed;
        break;
      case SmtAnswer::kSat:
        audit.contradicted = std::move(text);
        return audit;
      case SmtAnswer::kUnknown:
        break;
    }
  }
  return audit;
}

}  // namespace isomer::verify

// The questions as the solver gets them are the whole of what is shared with
// the prover.
#include "verify/audit.h"

#include <set>
#include <utility>

namespace isomer::verify {

namespace {

// Each factor is not negative, and the goal follows from the products with the
// bounds of single symbols.
bool ConfirmedInSteps(const ArithmeticQuery& query, const SmtSolver& solver) {
  ArithmeticQuery last{{}, query.goal};
  for (const Obligation& fact : query.facts) {
    if (fact.expr.polynomial().monomials().size() == 1) {
      last.facts.push_back(fact);
    }
  }
  for (const auto& [factor, fact] : query.payments) {
    const ArithmeticQuery step{query.facts, {Obligation::kNonNegative, factor}};
    const auto number = factor.constant();
    if (number ? *number < 0 : solver(SmtText(step)) != SmtAnswer::kUnsat) {
      return false;
    }
    last.facts.push_back({Obligation::kNonNegative, factor * fact});
  }
  return solver(SmtText(last)) == SmtAnswer::kUnsat;
}

}  // namespace

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
        if (solver && ConfirmedInSteps(query, solver)) ++audit.confirmed;
        break;
    }
  }
  return audit;
}

}  // namespace isomer::verify

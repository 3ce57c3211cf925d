// A second way to a proof, as TASO goes it: operators are uninterpreted
// functions of tensors and integers, what is known of them are axioms, and an
// SMT solver finds out whether a rule follows. It shares no step of reasoning
// with the prover: only rules, their types and the printing of sizes.
//
// Axioms are rules. One that holds for tensors of several ranks becomes a
// statement for each of its cases: for all tensors of those ranks and all
// attributes that satisfy its conditions, both sides are the same tensor, and
// the sizes of what the target computes are such and such.
#ifndef ISOMER_VERIFY_AXIOMS_H_
#define ISOMER_VERIFY_AXIOMS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "graph/rule.h"
#include "verify/smt.h"

namespace isomer::verify {

// The functions that a statement speaks of: their declarations, by name.
using SmtFunctions = std::map<std::string, std::string>;

class AxiomSet {
 public:
  AxiomSet() = default;
  explicit AxiomSet(absl::Span<const ir::Rule> rules);

  // Statements that were made, and rules of which there is none because they
  // have conditions or attributes that cannot be said here.
  int statements() const { return static_cast<int>(axioms_.size()); }
  const std::vector<std::string>& unsaid() const { return unsaid_; }

  // A question that has no model if the case of the rule follows from the
  // axioms; "" if the case cannot be said.
  std::string Question(const ir::Rule& rule, const ir::RuleCase& c) const;

 private:
  struct Axiom {
    std::string text;
    SmtFunctions functions;
    std::set<std::string> needed;  // without these it has nothing to match
  };

  std::vector<Axiom> axioms_;
  std::vector<std::string> unsaid_;
};

struct AxiomAnswer {
  int cases = 0;
  int proved = 0;  // of them; all: the rule follows from the axioms
};

// Asks for each case, until one is not proved or the time is up.
AxiomAnswer AskFromAxioms(const ir::Rule& rule, const AxiomSet& axioms,
                          const SmtSolver& solver, absl::Time deadline);

// The text of rules/axioms.rules.
absl::string_view AxiomRules();

// What operators state about themselves, their expansions, and AxiomRules().
AxiomSet AllAxioms(const Registry& registry);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_AXIOMS_H_

// From a candidate, seen at one set of sizes and attributes, to a rule about as
// many as hold. Sizes and ranks are free in any rule; attributes become
// variables where the rule stays true, and what must then be asked for is asked
// for in `where`, the weakest condition that tells true cases from false ones.
//
// "True" means here: no trial says otherwise (xfer_gen/generalise_trial.h).
#ifndef ISOMER_XFER_GEN_GENERALISE_H_
#define ISOMER_XFER_GEN_GENERALISE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/generalise_fare.h"
#include "xfer_gen/generalise_sites.h"
#include "xfer_gen/generalise_sizes.h"

namespace isomer::gen {

struct GeneraliseOptions {
  int naming_assignments = 6;  // that tell which size a number is
  int assignments = 12;        // that tell whether a form holds
  int final_assignments = 24;  // that the result must pass
  int many_assignments = 64;   // that tell whether conditions are enough
  uint64_t seed = 1;
  // Asked, if set, about the rule at the ranks that were seen, with numbers as
  // sizes and what it must ask for there: what it says no to is not
  // generalised.
  std::function<bool(const ir::RuleSyntax&)> worthwhile = {};
};

// Generalises one candidate; what was tried is kept for what comes after.
class Generaliser {
 public:
  Generaliser(const Candidate& candidate, const GeneraliseOptions& options)
      : candidate_(candidate), options_(options), fares_(options.seed) {}

  // The rule at the ranks at which it was seen, with numbers written as the
  // sizes that they are.
  absl::StatusOr<ir::RuleSyntax> Named();

  // The rule that the candidate stands for: with a direction in which it can
  // be a source, `<=>` if it can in both, and no condition that could be left
  // out. `attributes` tells whether others than axes are freed.
  // FailedPrecondition if no form of it holds, with the trial that it failed;
  // Aborted if it was not worthwhile, or is about the sizes that were seen.
  absl::StatusOr<ir::RuleSyntax> Run(bool attributes);

 private:
  absl::Status Prepare();
  absl::Status LookWhereSeen();
  absl::Status FreeSizes();
  absl::Status AskWhether(const ir::RuleSyntax& seen) const;
  absl::Status SetDirections(ir::RuleSyntax& rule) const;
  void NameSizes(const std::vector<SizeGroup>& groups);
  ir::RuleSyntax Formed() const { return WithForms(base_, groups_, forms_); }
  void SetForms(bool axes, AttrForm form);

  absl::Status FreeAll();
  absl::Status FreeAxes();
  bool CountFromEnd(int& passed);
  bool AllAxesFree();
  absl::Status Restrict(const ir::RuleSyntax& of, Fare fare,
                        std::vector<ir::ConditionSyntax>& where);
  bool AcceptsAxes(int& passed, int least);
  void FreeOthers();
  bool HoldsWhereSeen();
  void FreeSome(const std::vector<int>& groups, size_t first, size_t last);
  void DropConditions();
  void FixIdleVariables();

  const Candidate& candidate_;
  const GeneraliseOptions& options_;
  Fares fares_;
  ir::RuleSyntax base_;
  std::vector<AttrGroup> groups_;
  // The rule so far: the forms of the groups, and what it asks for.
  std::vector<AttrForm> forms_;
  std::vector<ir::ConditionSyntax> where_;
  // How far it has come.
  std::optional<absl::Status> prepared_, looked_;
};

// The rule that a candidate stands for, with all attributes freed that can be.
absl::StatusOr<ir::RuleSyntax> Generalise(const Candidate& candidate,
                                          const GeneraliseOptions& options);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_H_

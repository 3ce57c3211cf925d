// How a form of a rule fares in trials, with what was tried before kept:
// generalising comes back to some forms.
#ifndef ISOMER_XFER_GEN_GENERALISE_FARE_H_
#define ISOMER_XFER_GEN_GENERALISE_FARE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/generalise_conditions.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::gen {

// Enough for the cases of a rule that is worth having; a form whose variables
// leave everything open costs no more than that.
constexpr ir::RuleLimits kTrialLimits{.steps = 700};
// Enough to see whether there is a rule at all.
constexpr ir::RuleLimits kAnyCase{.cases = 1};

// Which cases of a form are run: all of them, or none after the first that
// fails.
enum class Extent { kEveryCase, kToFirstFailure };

struct Fare {
  int passed = 0;  // cases that are about something and hold
  int failed = 0;
  int freedom = 0;  // how many sizes are free, at most, in a case that holds
  int open = 0;     // the same of cases that may or may not
  // Attribute variables that had one value in all assignments.
  std::set<std::string> idle = {};
  std::string failure = {};

  bool good() const { return passed > 0 && failed == 0; }
};

class Fares {
 public:
  explicit Fares(uint64_t seed) : seed_(seed) {}

  // What was seen, in the order in which the rule names its tensors.
  void SetSeen(SeenTensors seen) { seen_ = std::move(seen); }
  const SeenTensors& seen() const { return seen_; }
  // Whether a form must also be one from right to left.
  void SetBothWays(bool both_ways) { both_ways_ = both_ways; }

  // The rule at the ranks that were seen, which is quickly checked.
  ir::RuleSyntax Pinned(ir::RuleSyntax rule) const;

  // How a form fares. It must hold where it was seen, if not there alone.
  const Fare& Try(const ir::RuleSyntax& rule, int assignments,
                  Extent extent = Extent::kToFirstFailure,
                  const ir::RuleLimits& limits = kTrialLimits);

  // The trials of a rule's cases, whatever the seed of the options.
  const std::vector<CaseTrial>& Trials(const ir::Rule& rule,
                                       TrialOptions options);

 private:
  // A form, or why it will not do.
  using Typed = absl::StatusOr<ir::Rule>;
  struct Known {
    Typed rule;
    int steps = 0;  // that there were for its cases
    bool cut_short = false;
  };

  const Typed& TypedOf(const ir::RuleSyntax& rule, const std::string& text,
                       const ir::RuleLimits& limits);
  // Sets `cut_short` if more steps might say something else.
  Typed TypeAnew(const ir::RuleSyntax& rule, const ir::RuleLimits& limits,
                 bool& cut_short) const;
  bool CoversWhereSeen(const ir::Rule& rule) const;
  Fare TryAnew(const ir::Rule& rule, int assignments, Extent extent);

  const uint64_t seed_;
  SeenTensors seen_;
  bool both_ways_ = false;
  std::map<std::string, Known> typed_;  // by text
  // By text, number of cases, assignments and extent. Cases are found in one
  // order, so a limit on steps that leaves as many leaves the same.
  std::map<std::tuple<std::string, int, int, Extent>, Fare> known_;
  // By what is tried, assignments, `go_on` and `every_case`. Forms that differ
  // in conditions which change no case have their trials in common.
  std::map<std::tuple<std::string, int, bool, bool>, std::vector<CaseTrial>>
      trials_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_FARE_H_

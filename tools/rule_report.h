// What `isomer verify` says about a rule, for people and as JSON.
#ifndef ISOMER_TOOLS_RULE_REPORT_H_
#define ISOMER_TOOLS_RULE_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tools/json.h"
#include "verify/verify.h"

namespace isomer::cli {

// What a run reports about one rule.
struct RuleReport {
  std::string name;
  verify::Outcome outcome = verify::Outcome::kUnknown;
  std::string reason;
  std::string counterexample;      // as text
  std::vector<std::string> facts;  // that the proof used
  bool parametric = false;         // it leaves attributes free
  int cases = 0;
  int solver_calls = 0;
  int assignments = 0;
  absl::Duration time;
  std::string hash;             // "" for what is ill-formed
  bool cached = false;          // it was not verified this time
  std::string degrees;          // of Unity's rules: the verdict on degrees
  std::string audit;            // what Z3 says of the proof, if it was asked
  std::optional<bool> follows;  // and whether from axioms, if it was asked
  std::string condition;  // that a refuted rule needs, if it was asked for
};

// One line about a rule, and under it what refutes it.
std::string ReportText(const RuleReport& report);

// How many rules have each verdict, as a table.
std::string TotalsText(absl::Span<const RuleReport> reports,
                       absl::Duration wall);

// What the whole run found.
Json ReportJson(absl::Span<const RuleReport> reports, absl::Duration wall,
                const std::string& definitions);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_RULE_REPORT_H_

// Files of rules, in any form that Isomer reads: text (.rules), its binary
// form, and the substitution files of TASO and Unity.
#ifndef ISOMER_TOOLS_RULE_FILES_H_
#define ISOMER_TOOLS_RULE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule_syntax.h"

namespace isomer::cli {

struct RejectedRule {
  std::string name;
  std::string reason;
};

struct RuleFile {
  std::string form;  // "text", "binary" or "foreign"
  ir::RuleFileSyntax rules;
  std::vector<RejectedRule> rejected;  // of a foreign file
};

// Reads a file of rules; the form is recognised by its content.
absl::StatusOr<RuleFile> ReadRuleFile(const std::string& path);

// Writes the rules in the form that the name asks for: .taso.pb is TASO's, .pb
// our binary one, anything else text. Returns how many were written; those that
// the form cannot say are named in `not_expressible`.
absl::StatusOr<int> WriteRuleFile(const RuleFile& file, const std::string& path,
                                  std::vector<std::string>* not_expressible);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_RULE_FILES_H_

// The rules of a file one by one, for work that must not stop at the first bad
// one: a rule that cannot be read is an entry that says why and where.
#ifndef ISOMER_TOOLS_RULE_ENTRIES_H_
#define ISOMER_TOOLS_RULE_ENTRIES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/rule_syntax.h"

namespace isomer::cli {

struct RuleEntry {
  std::string name;
  std::optional<ir::RuleSyntax> rule = {};
  std::string ill_formed = {};  // why there is no rule, with its place
  // What verify::JudgeDegrees says of a rule of Unity's.
  std::string degrees = {};
};

struct RuleEntries {
  std::string form;  // "text", "binary" or "foreign"
  std::string bytes;
  std::vector<RuleEntry> rules;
};

// Reads a file of rules in any form. Text is taken apart at the words `rule`
// and `fold` that begin a line, where it does not parse as a whole.
absl::StatusOr<RuleEntries> ReadRuleEntries(const std::string& path);
RuleEntries TextEntries(absl::string_view text);

// The file with a stamp `verdicts[i]` ("proved 0123..."; "" for none) on rule
// i; text keeps everything else byte for byte. A foreign file has no place for
// stamps.
absl::StatusOr<std::string> WithStamps(const RuleEntries& entries,
                                       const std::vector<std::string>& stamps);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_RULE_ENTRIES_H_

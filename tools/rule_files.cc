// Recognising the form of a file of rules, by content when it is read and by
// name when it is written.
#include "tools/rule_files.h"

#include "absl/strings/match.h"
#include "graph/foreign_rules.h"
#include "graph/rule_pb.h"
#include "ops/status.h"
#include "tools/files.h"

namespace isomer::cli {

namespace {

absl::StatusOr<RuleFile> ReadForeign(absl::string_view bytes) {
  ASSIGN_OR_RETURN(std::vector<ir::ForeignRule> rules,
                   ir::ReadForeignRules(bytes));
  RuleFile file{"foreign", {}, {}};
  for (ir::ForeignRule& r : rules) {
    if (r.rule) {
      file.rules.items.push_back(*std::move(r.rule));
    } else {
      file.rejected.push_back({absl::StrCat("rule ", r.index), r.rejected});
    }
  }
  return file;
}

absl::StatusOr<RuleFile> ReadAny(absl::string_view bytes) {
  if (ir::IsRulesPb(bytes)) {
    ASSIGN_OR_RETURN(ir::RuleFileSyntax rules, ir::DeserializeRules(bytes));
    return RuleFile{"binary", std::move(rules), {}};
  }
  if (ir::IsForeignRules(bytes)) return ReadForeign(bytes);
  ASSIGN_OR_RETURN(ir::RuleFileSyntax rules, ir::ParseRuleFile(bytes));
  return RuleFile{"text", std::move(rules), {}};
}

}  // namespace

absl::StatusOr<RuleFile> ReadRuleFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  absl::StatusOr<RuleFile> file = ReadAny(bytes);
  if (!file.ok()) return Prefixed(absl::StrCat(path, ":"), file.status());
  return file;
}

absl::StatusOr<int> WriteRuleFile(const RuleFile& file, const std::string& path,
                                  std::vector<std::string>* not_expressible) {
  if (!absl::EndsWith(path, ".taso.pb")) {
    RETURN_IF_ERROR(WriteFile(path, absl::EndsWith(path, ".pb")
                                        ? ir::SerializeRules(file.rules)
                                        : ir::PrintRuleFile(file.rules)));
    return static_cast<int>(file.rules.items.size());
  }
  std::vector<ir::RuleSyntax> rules;
  for (const ir::RuleItem& item : file.rules.items) {
    if (auto* rule = std::get_if<ir::RuleSyntax>(&item)) rules.push_back(*rule);
  }
  ASSIGN_OR_RETURN(std::string bytes,
                   ir::WriteForeignRules(rules, not_expressible));
  RETURN_IF_ERROR(WriteFile(path, bytes));
  return static_cast<int>(rules.size() - not_expressible->size());
}

}  // namespace isomer::cli

// Recognising the form of a file of rules.
#include "tools/rule_files.h"

#include "absl/strings/match.h"
#include "graph/rule_pb.h"
#include "ops/status.h"
#include "tools/files.h"

namespace isomer::cli {

absl::StatusOr<RuleFile> ReadRuleFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  const bool binary = ir::IsRulesPb(bytes);
  auto rules = binary ? ir::DeserializeRules(bytes) : ir::ParseRuleFile(bytes);
  if (!rules.ok()) return Prefixed(absl::StrCat(path, ":"), rules.status());
  return RuleFile{binary ? "binary" : "text", *std::move(rules), {}};
}

}  // namespace isomer::cli

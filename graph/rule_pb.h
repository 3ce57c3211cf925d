// The binary form of a file of rules: a versioned protobuf of the same tree.
#ifndef ISOMER_GRAPH_RULE_PB_H_
#define ISOMER_GRAPH_RULE_PB_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/rule_syntax.h"

namespace isomer::ir {

// The version that SerializeRules writes.
inline constexpr int kRulesVersion = 1;

std::string SerializeRules(const RuleFileSyntax& file);

// Reads what SerializeRules wrote. Everything that the text form forbids is an
// error here too, with the place in the canonical text.
absl::StatusOr<RuleFileSyntax> DeserializeRules(absl::string_view bytes);

// True if the bytes begin like a file that SerializeRules wrote.
bool IsRulesPb(absl::string_view bytes);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_PB_H_

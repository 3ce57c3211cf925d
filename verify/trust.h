// Which rules may be used: those with a stamp that says `proved` and carries
// the hash of what was proved. The hash is over the rule's canonical text and
// over everything that its proof rests on, so a rule that was edited, or an
// operator that means something else today, is not trusted. Nothing is proved
// here and no solver runs.
//
// A stamp is a comment line of the rule:
//
//   # proved 5f0c6e1d2b3a4978
//   rule merge_matmuls: ...
#ifndef ISOMER_VERIFY_TRUST_H_
#define ISOMER_VERIFY_TRUST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/rule.h"
#include "graph/rule_syntax.h"
#include "ops/registry.h"

namespace isomer::verify {

// A hash over what operators mean: their types, their index semantics or, for
// those without, their results on small examples, their expansions and axioms.
// The same on every machine.
uint64_t OperatorDigest(const Registry& registry);

// The hash that a verdict on a rule is stored under: 16 hexadecimal digits.
// Names and comments are no part of it.
std::string RuleHash(const ir::RuleSyntax& rule, uint64_t operators);

// What a stamp says.
struct Stamp {
  std::string verdict;  // "proved", "refuted" or "unknown"
  std::string hash;
};

// The rule's stamp, if it has one.
std::optional<Stamp> FindStamp(const ir::RuleSyntax& rule);

// Replaces the rule's stamp.
void SetStamp(ir::RuleSyntax& rule, const Stamp& stamp);

// A file of rules parted into what may be used and what may not.
struct TrustedRules {
  ir::RuleSet rules;
  std::vector<std::string> refused;  // "name: why"
};

// Takes the rules whose stamp says `proved` with the right hash, and the folds
// of those. A proved rule that no longer checks is refused too.
TrustedRules TakeProved(const ir::RuleFileSyntax& file,
                        const Registry& registry = Ops());

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_TRUST_H_

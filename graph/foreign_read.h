// One rule of a substitution file in our language.
#ifndef ISOMER_GRAPH_FOREIGN_READ_H_
#define ISOMER_GRAPH_FOREIGN_READ_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/foreign_shapes.h"
#include "graph/foreign_wire.h"
#include "graph/rule_syntax.h"

namespace isomer::ir {

// The name of input `id`: for TASO what its generator calls it (x1, w1, i1 and
// so on; that says nothing about shapes), else v and the number.
std::string ForeignInputName(ForeignDialect dialect, int id);

// Translates a rule; it has no name yet and is not checked. An error is a
// reason to reject the rule.
absl::StatusOr<RuleSyntax> TranslateRule(const WireRule& rule,
                                         ForeignDialect dialect,
                                         const ForeignNames& names);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_READ_H_

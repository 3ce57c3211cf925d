// Brings a foreign rule into one form, so that rules that mean the same to us
// look the same, however the file spells them.
#ifndef ISOMER_GRAPH_FOREIGN_NORMALIZE_H_
#define ISOMER_GRAPH_FOREIGN_NORMALIZE_H_

#include "absl/status/statusor.h"
#include "graph/foreign_ops.h"
#include "graph/foreign_wire.h"

namespace isomer::ir {

// Takes fused activations apart, merges equal operators, leaves out what no
// output needs, and orders the rest as the outputs reach it.
absl::StatusOr<WireRule> NormalizeWire(const WireRule& rule,
                                       ForeignDialect dialect);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_NORMALIZE_H_

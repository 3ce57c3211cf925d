// What the operators of a foreign rule say about ranks and sizes, found before
// the rule is written down in our language.
#ifndef ISOMER_GRAPH_FOREIGN_SHAPES_H_
#define ISOMER_GRAPH_FOREIGN_SHAPES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/foreign_dims.h"
#include "graph/foreign_ops.h"
#include "graph/foreign_wire.h"

namespace isomer::ir {

// The name of input `id` (1, 2, ...) of a rule.
using ForeignNames = std::function<std::string(int id)>;

struct ForeignSideShapes {
  std::vector<const ForeignOp*> info;              // by operator
  std::vector<std::vector<ForeignShape>> outputs;  // by operator and output
};

struct ForeignShapes {
  std::vector<int> inputs;  // the source's, by first use
  ForeignSideShapes source, target;
  // What typing demands, on both sides and between their outputs.
  SizeEquations equations;
  // What the file says and our operators do not: ranks, sizes of kernels.
  std::vector<ConditionSyntax> where;
};

// Finds ranks and sizes. An error is a reason to reject the rule.
absl::StatusOr<ForeignShapes> FindShapes(const WireRule& rule,
                                         ForeignDialect dialect,
                                         const ForeignNames& names);

// The pad on each side that a convolution or pooling has in dimension j (0, 1).
absl::StatusOr<int> ForeignPad(const WireOp& op, const ForeignOp& info, int j);

// Bounds on what a rule may hold.
inline constexpr int kMaxForeignKernel = 1024;
inline constexpr int kMaxForeignRank = 5;
inline constexpr int kMaxForeignDegree = 1 << 20;

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_SHAPES_H_

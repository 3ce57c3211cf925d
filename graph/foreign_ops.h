// The operators of substitution files by number: what they are to us.
#ifndef ISOMER_GRAPH_FOREIGN_OPS_H_
#define ISOMER_GRAPH_FOREIGN_OPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/foreign_rules.h"
#include "graph/foreign_wire.h"

namespace isomer::ir {

struct ForeignOp {
  enum class Kind {
    kUnary,   // an elementwise operator of ours, `name`
    kBinary,  // likewise
    kConv,    // from here on operators with a reading of their own
    kMaxPool,
    kAvgPool,
    kConcat,
    kSplit,
    kTranspose,
    kMatmul,
    kScale,  // by a tensor of rank 0
    kEnlarge,
    kEye,
    kIdentityFilter,
    kOnes,
    kPoolFilter,
    kLinear,
    kPartition,  // Unity's four in the order of ParallelStep::Kind
    kCombine,
    kReplicate,
    kReduce,
  };
  int number;
  Kind kind;
  absl::string_view foreign;  // what they call it
  absl::string_view name;     // what we call it, for kUnary and kBinary
  int inputs;                 // -1: one or more
};

// The operator of that number, or null if it has no reading.
const ForeignOp* FindForeignOp(ForeignDialect dialect, int number);

// TASO's operator for one of ours (kUnary, kBinary), or for a kind; or null.
const ForeignOp* FindForeignOp(absl::string_view name);
const ForeignOp* FindForeignOp(ForeignOp::Kind kind);

// A parameter that the operator needs, between `low` and `high`.
absl::StatusOr<int> ForeignParameter(const WireOp& op, const ForeignOp& info,
                                     int key, int low, int high);

// What a fused activation is: "", "sigmoid", "relu" or "tanh".
absl::StatusOr<std::string> ForeignActivation(const WireOp& op,
                                              const ForeignOp& info);

// The permutation that a number codes: digits in base `rank`, the first one
// the most significant.
absl::StatusOr<std::vector<int>> DecodePerm(int code, int rank);
int EncodePerm(const std::vector<int>& perm);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_OPS_H_

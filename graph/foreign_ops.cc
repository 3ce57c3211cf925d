// The table, and how parameters code what they say.
#include "graph/foreign_ops.h"

#include <algorithm>

#include "ops/status.h"

namespace isomer::ir {

namespace {

using K = ForeignOp::Kind;

// Below kFirstDifferent the two numberings are one.
constexpr int kFirstDifferent = 26;

constexpr ForeignOp kTaso[] = {
    {3, K::kConv, "CONV2D", "", 2},
    {6, K::kMaxPool, "POOL2D_MAX", "", 1},
    {7, K::kAvgPool, "POOL2D_AVG", "", 1},
    {8, K::kUnary, "RELU", "relu", 1},
    {9, K::kUnary, "SIGMOID", "sigmoid", 1},
    {10, K::kUnary, "TANH", "tanh", 1},
    {12, K::kConcat, "CONCAT", "", -1},
    {13, K::kSplit, "SPLIT", "", 1},
    {15, K::kTranspose, "TRANSPOSE", "", 1},
    {16, K::kBinary, "EW_ADD", "add", 2},
    {17, K::kBinary, "EW_MUL", "mul", 2},
    {18, K::kMatmul, "MATMUL", "", 2},
    {19, K::kScale, "MUL", "", 2},
    {20, K::kEnlarge, "ENLARGE", "", 1},
    {22, K::kEye, "CONSTANT_IMM", "", 0},
    {23, K::kIdentityFilter, "CONSTANT_ICONV", "", 0},
    {24, K::kOnes, "CONSTANT_ONE", "", 0},
    {25, K::kPoolFilter, "CONSTANT_POOL", "", 0},
    {28, K::kBinary, "EW_SUB", "sub", 2},
    {29, K::kBinary, "EW_DIV", "div", 2},
    {33, K::kBinary, "EW_MAX", "max", 2},
    {34, K::kBinary, "EW_MIN", "min", 2},
    {47, K::kUnary, "CEIL", "ceil", 1},
    {49, K::kUnary, "EXP", "exp", 1},
    {50, K::kUnary, "ROUND", "round", 1},
    {51, K::kUnary, "LOG", "log", 1},
    {53, K::kUnary, "SQRT", "sqrt", 1},
};

constexpr ForeignOp kUnity[] = {
    {5, K::kLinear, "LINEAR", "", 2},
    {26, K::kPartition, "PARTITION", "", 1},
    {27, K::kCombine, "COMBINE", "", 1},
    {28, K::kReplicate, "REPLICATE", "", 1},
    {29, K::kReduce, "REDUCE", "", 1},
};

}  // namespace

const ForeignOp* FindForeignOp(ForeignDialect dialect, int number) {
  if (dialect == ForeignDialect::kUnity) {
    for (const ForeignOp& op : kUnity) {
      if (op.number == number) return &op;
    }
    if (number >= kFirstDifferent) return nullptr;
  }
  for (const ForeignOp& op : kTaso) {
    if (op.number == number) return &op;
  }
  return nullptr;
}

const ForeignOp* FindForeignOp(absl::string_view name) {
  for (const ForeignOp& op : kTaso) {
    if (!name.empty() && op.name == name) return &op;
  }
  return nullptr;
}

const ForeignOp* FindForeignOp(ForeignOp::Kind kind) {
  for (const ForeignOp& op : kTaso) {
    if (op.kind == kind) return &op;
  }
  return nullptr;
}

absl::StatusOr<int> ForeignParameter(const WireOp& op, const ForeignOp& info,
                                     int key, int low, int high) {
  const int* value = op.Find(key);
  if (value == nullptr) {
    return Invalid(info.foreign, " lacks parameter ", key);
  }
  if (*value < low || *value > high) {
    return Invalid(info.foreign, ": parameter ", key, " is ", *value,
                   ", which is not in [", low, ", ", high, "]");
  }
  return *value;
}

absl::StatusOr<std::string> ForeignActivation(const WireOp& op,
                                              const ForeignOp& info) {
  static constexpr absl::string_view kNames[] = {"", "sigmoid", "relu", "tanh"};
  if (op.Find(WireKey::kActivation) == nullptr) return std::string();
  ASSIGN_OR_RETURN(int mode,
                   ForeignParameter(op, info, WireKey::kActivation, 0, 3));
  return std::string(kNames[mode]);
}

absl::StatusOr<std::vector<int>> DecodePerm(int code, int rank) {
  std::vector<int> perm(rank);
  int rest = code;
  for (int d = rank - 1; d >= 0; --d) {
    perm[d] = rest % rank;
    rest /= rank;
  }
  std::vector<int> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (int d = 0; d < rank; ++d) {
    if (rest != 0 || sorted[d] != d) {
      return Invalid("TRANSPOSE: ", code, " codes no permutation of ", rank,
                     " dimensions");
    }
  }
  return perm;
}

int EncodePerm(const std::vector<int>& perm) {
  int code = 0;
  for (int d : perm) code = code * static_cast<int>(perm.size()) + d;
  return code;
}

}  // namespace isomer::ir

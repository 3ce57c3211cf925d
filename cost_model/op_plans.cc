// The table of operators.
#include "cost_model/op_plans.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"

namespace isomer::cost {

namespace {

constexpr std::array<absl::string_view, kNumOpClasses> kClassNames = {
    "pointwise", "cast",  "reshape", "transpose", "slice",
    "broadcast", "index", "concat",  "generate",  "core"};

constexpr std::array<absl::string_view, kNumFamilies> kFamilyNames = {
    "pointwise", "copy", "matmul",  "conv", "reduce",     "norm", "softmax",
    "attention", "pool", "scatter", "sort", "collective", "other"};

struct Row {
  absl::string_view op;
  OpPlan plan;
};

constexpr OpPlan kPointwise = {OpClass::kPointwise, Family::kPointwise};
constexpr OpPlan kCast = {OpClass::kCast, Family::kPointwise};
constexpr OpPlan kReshape = {OpClass::kReshape, Family::kCopy};
constexpr OpPlan kTranspose = {OpClass::kTranspose, Family::kCopy};
constexpr OpPlan kSlice = {OpClass::kSlice, Family::kCopy};
constexpr OpPlan kBroadcast = {OpClass::kBroadcast, Family::kCopy};
constexpr OpPlan kIndex = {OpClass::kIndex, Family::kCopy};
constexpr OpPlan kPick = {OpClass::kIndex, Family::kCopy, true};
constexpr OpPlan kConcat = {OpClass::kConcat, Family::kCopy};
constexpr OpPlan kGenerate = {OpClass::kGenerate, Family::kCopy};
constexpr OpPlan Core(Family family) { return {OpClass::kCore, family}; }

constexpr Row kTable[] = {
    {"abs", kPointwise},
    {"add", kPointwise},
    {"and", kPointwise},
    {"argmax", Core(Family::kReduce)},
    {"argmin", Core(Family::kReduce)},
    {"attention", Core(Family::kAttention)},
    {"avg_pool", Core(Family::kPool)},
    {"batch_norm", kPointwise},
    {"broadcast", kBroadcast},
    {"cast", kCast},
    {"ceil", kPointwise},
    {"clip", kPointwise},
    {"combine", Core(Family::kCollective)},
    {"concat", kConcat},
    {"conv2d", Core(Family::kConv)},
    {"conv_transpose2d", Core(Family::kConv)},
    {"cos", kPointwise},
    {"cumsum", Core(Family::kReduce)},
    {"depth_to_space", kIndex},
    {"div", kPointwise},
    {"elu", kPointwise},
    {"equal", kPointwise},
    {"erf", kPointwise},
    {"exp", kPointwise},
    {"eye", kGenerate},
    {"fill", kGenerate},
    {"floor", kPointwise},
    {"gather", kPick},
    {"gather_elements", kIndex},
    {"gather_nd", kIndex},
    {"gelu", kPointwise},
    {"gelu_tanh", kPointwise},
    {"greater", kPointwise},
    {"greater_equal", kPointwise},
    {"group_norm", Core(Family::kNorm)},
    {"hard_sigmoid", kPointwise},
    {"hard_swish", kPointwise},
    {"identity", kReshape},
    {"instance_norm", Core(Family::kNorm)},
    {"iota", kGenerate},
    {"is_nan", kPointwise},
    {"layer_norm", Core(Family::kNorm)},
    {"leaky_relu", kPointwise},
    {"less", kPointwise},
    {"less_equal", kPointwise},
    {"log", kPointwise},
    {"log_softmax", Core(Family::kSoftmax)},
    {"lrn", Core(Family::kNorm)},
    {"lstm", Core(Family::kOther)},
    {"masked_attention", Core(Family::kAttention)},
    {"matmul", Core(Family::kMatmul)},
    {"max", kPointwise},
    {"max_pool", Core(Family::kPool)},
    {"min", kPointwise},
    {"mod", kPointwise},
    {"mul", kPointwise},
    {"neg", kPointwise},
    {"not", kPointwise},
    {"one_hot", kIndex},
    {"or", kPointwise},
    {"pad", kIndex},
    {"partition", Core(Family::kCollective)},
    {"pow", kPointwise},
    {"reciprocal", kPointwise},
    {"reduce", Core(Family::kCollective)},
    {"reduce_l1", Core(Family::kReduce)},
    {"reduce_l2", Core(Family::kReduce)},
    {"reduce_log_sum", Core(Family::kReduce)},
    {"reduce_log_sum_exp", Core(Family::kReduce)},
    {"reduce_max", Core(Family::kReduce)},
    {"reduce_mean", Core(Family::kReduce)},
    {"reduce_min", Core(Family::kReduce)},
    {"reduce_prod", Core(Family::kReduce)},
    {"reduce_sum", Core(Family::kReduce)},
    {"reduce_sum_square", Core(Family::kReduce)},
    {"relu", kPointwise},
    {"replicate", Core(Family::kCollective)},
    {"reshape", kReshape},
    {"resize", Core(Family::kPool)},
    {"rms_norm", Core(Family::kNorm)},
    {"round", kPointwise},
    {"rsqrt", kPointwise},
    {"scatter_elements", Core(Family::kScatter)},
    {"scatter_nd", Core(Family::kScatter)},
    {"selu", kPointwise},
    {"sigmoid", kPointwise},
    {"sign", kPointwise},
    {"silu", kPointwise},
    {"sin", kPointwise},
    {"slice", kSlice},
    {"softmax", Core(Family::kSoftmax)},
    {"softplus", kPointwise},
    {"softsign", kPointwise},
    {"space_to_depth", kIndex},
    {"sqrt", kPointwise},
    {"sub", kPointwise},
    {"tanh", kPointwise},
    {"tile", kIndex},
    {"topk", Core(Family::kSort)},
    {"transpose", kTranspose},
    {"where", kPointwise},
    {"xor", kPointwise},
};

template <class T, size_t N>
absl::StatusOr<T> ParseName(const std::array<absl::string_view, N>& names,
                            absl::string_view name, absl::string_view what) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) {
    return Invalid("there is no ", what, " '", name, "'; there are ",
                   absl::StrJoin(names, ", "));
  }
  return static_cast<T>(it - names.begin());
}

}  // namespace

absl::string_view OpClassName(OpClass c) {
  return kClassNames[static_cast<int>(c)];
}

absl::string_view FamilyName(Family f) {
  return kFamilyNames[static_cast<int>(f)];
}

absl::StatusOr<OpClass> ParseOpClass(absl::string_view name) {
  return ParseName<OpClass>(kClassNames, name, "class of operators");
}

absl::StatusOr<Family> ParseFamily(absl::string_view name) {
  return ParseName<Family>(kFamilyNames, name, "family of kernels");
}

std::optional<OpPlan> FindOpPlan(absl::string_view op) {
  using Table = absl::flat_hash_map<absl::string_view, OpPlan>;
  static const Table& table = *[] {
    auto* t = new Table;
    for (const Row& row : kTable) t->emplace(row.op, row.plan);
    return t;
  }();
  const auto it = table.find(op);
  if (it == table.end()) return std::nullopt;
  return it->second;
}

OpPlan OpPlanOf(absl::string_view op) {
  return FindOpPlan(op).value_or(Core(Family::kOther));
}

bool IsRecomputed(OpClass c) {
  return c != OpClass::kPointwise && c != OpClass::kConcat &&
         c != OpClass::kIndex && c != OpClass::kCore;
}

}  // namespace isomer::cost

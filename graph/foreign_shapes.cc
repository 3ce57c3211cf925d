// Two passes. Ranks: tensors that must have one rank form a class, and an
// operator that tells a rank tells it to the class. Sizes: forward through both
// sides, noting what must be equal.
#include "graph/foreign_shapes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

using K = ForeignOp::Kind;
using V = ValueSyntax;

constexpr size_t kMaxInputs = 12;  // ranks of all are tried in turn

ConditionSyntax Equals(V left, int64_t right) {
  return {.kind = ConditionSyntax::Kind::kEq,
          .left = std::move(left),
          .right = {.kind = V::Kind::kInteger, .integer = right}};
}

// ---- Ranks

// Classes of tensors of one rank. `implied`: our operators demand that rank
// by themselves, so that no condition has to.
class RankClasses {
 public:
  explicit RankClasses(int n) : parent_(n), rank_(n, -1), implied_(n, false) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int Find(int t) {
    while (parent_[t] != t) t = parent_[t] = parent_[parent_[t]];
    return t;
  }
  absl::Status Set(int t, int rank, bool implied) {
    t = Find(t);
    if (rank_[t] >= 0 && rank_[t] != rank) {
      return Invalid("one tensor has rank ", rank_[t], " and rank ", rank);
    }
    rank_[t] = rank;
    implied_[t] = implied_[t] || implied;
    return absl::OkStatus();
  }
  absl::Status Unite(int a, int b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return absl::OkStatus();
    parent_[b] = a;
    if (rank_[b] < 0) return absl::OkStatus();
    return Set(a, rank_[b], implied_[b]);
  }
  int rank(int t) { return rank_[Find(t)]; }
  bool implied(int t) { return implied_[Find(t)]; }

 private:
  std::vector<int> parent_, rank_;
  std::vector<bool> implied_;
};

class Finder {
 public:
  Finder(const WireRule& rule, ForeignDialect dialect,
         const ForeignNames& names)
      : rule_(rule), dialect_(dialect), names_(names), ranks_(0) {}

  absl::StatusOr<ForeignShapes> Run();

 private:
  absl::Status CheckOps(const std::vector<WireOp>& ops,
                        ForeignSideShapes& side);
  absl::Status CheckInputs();

  int Tensor(WireTensor t, bool target) const;
  absl::Status FindRanks();
  absl::Status RanksOf(const WireOp& op, const ForeignOp& info, int out,
                       bool target);
  void RankConditions();

  const ForeignShape& ShapeOf(WireTensor t, bool target) const;
  absl::Status FindSizes(bool target);
  absl::StatusOr<std::vector<ForeignShape>> SizesOf(const WireOp& op,
                                                    const ForeignOp& info,
                                                    bool target);
  ForeignShape ConstantShape(const WireOp& op, K kind, bool target);
  absl::StatusOr<ForeignShape> WindowShape(const WireOp& op,
                                           const ForeignOp& info, bool target);
  absl::StatusOr<ForeignShape> ConcatShape(const WireOp& op,
                                           const ForeignOp& info, bool target);
  absl::StatusOr<std::vector<ForeignShape>> SplitShapes(const WireOp& op,
                                                        const ForeignOp& info,
                                                        bool target);
  ForeignShape ProductShape(const WireOp& op, const ForeignOp& info,
                            bool target);
  absl::StatusOr<ForeignShape> MovedShape(const WireOp& op,
                                          const ForeignOp& info,
                                          ForeignShape in);
  void Same(const ForeignShape& a, const ForeignShape& b);
  Size Fresh(SizeSymbol::Kind kind);
  void GuessFilters();
  absl::Status DemandKernel(const Size& size, int kernel);

  const WireRule& rule_;
  const ForeignDialect dialect_;
  const ForeignNames& names_;
  ForeignShapes out_;
  RankClasses ranks_;
  std::map<int, ForeignShape> input_shapes_;
  bool has_axes_ = false;  // an operator speaks of certain dimensions
  int fresh_ = 0;
};

// ---- Operators and inputs

absl::Status Finder::CheckOps(const std::vector<WireOp>& ops,
                              ForeignSideShapes& side) {
  for (const WireOp& op : ops) {
    const ForeignOp* info = FindForeignOp(dialect_, op.type);
    if (info == nullptr) {
      return Invalid("operator number ", op.type, " has no reading");
    }
    const int given = static_cast<int>(op.inputs.size());
    if (info->inputs < 0 ? given < 1 : given != info->inputs) {
      return Invalid(
          info->foreign, " takes ",
          info->inputs < 0 ? "one or more" : absl::StrCat(info->inputs),
          " operands, given ", given);
    }
    has_axes_ =
        has_axes_ || (info->kind != K::kUnary && info->kind != K::kBinary &&
                      info->kind != K::kMatmul && info->kind != K::kScale);
    side.info.push_back(info);
  }
  return absl::OkStatus();
}

absl::Status Finder::CheckInputs() {
  for (const WireOp& op : rule_.source) {
    for (const WireTensor& t : op.inputs) {
      if (t.op < 0 && !absl::c_linear_search(out_.inputs, -t.op)) {
        out_.inputs.push_back(-t.op);
      }
    }
  }
  if (out_.inputs.size() > kMaxInputs) {
    return Invalid("it has ", out_.inputs.size(), " inputs; at most ",
                   kMaxInputs, " are read");
  }
  auto check = [&](const WireTensor& t) -> absl::Status {
    if (t.op >= 0 || absl::c_linear_search(out_.inputs, -t.op)) {
      return absl::OkStatus();
    }
    return Invalid("the target uses input ", names_(-t.op),
                   ", which the source does not bind");
  };
  for (const WireOp& op : rule_.target) {
    for (const WireTensor& t : op.inputs) RETURN_IF_ERROR(check(t));
  }
  for (const WireOutput& o : rule_.outputs) RETURN_IF_ERROR(check(o.target));
  return absl::OkStatus();
}

// ---- Ranks

int Finder::Tensor(WireTensor t, bool target) const {
  const int inputs = static_cast<int>(out_.inputs.size());
  if (t.op < 0) return absl::c_find(out_.inputs, -t.op) - out_.inputs.begin();
  return inputs + t.op + (target ? static_cast<int>(rule_.source.size()) : 0);
}

absl::Status Finder::RanksOf(const WireOp& op, const ForeignOp& info, int out,
                             bool target) {
  std::vector<int> in;
  for (const WireTensor& t : op.inputs) in.push_back(Tensor(t, target));
  int rank = -1;        // of the result and of all operands
  bool implied = true;  // by our operator
  switch (info.kind) {
    case K::kConv:
    case K::kMaxPool:
    case K::kAvgPool:
    case K::kEnlarge:
    case K::kIdentityFilter:
    case K::kOnes:
    case K::kPoolFilter:
      rank = 4;
      break;
    case K::kLinear:
    case K::kReplicate:
      rank = 3;
      break;
    case K::kReduce:
      rank = 3;
      implied = false;  // what it reshapes may have more dimensions of size 1
      break;
    case K::kEye:
      rank = 2;
      break;
    case K::kConcat:
    case K::kTranspose: {
      ASSIGN_OR_RETURN(rank, ForeignParameter(op, info, WireKey::kNumDim, 1,
                                              kMaxForeignRank));
      implied = info.kind == K::kTranspose;
      break;
    }
    case K::kScale:
      RETURN_IF_ERROR(ranks_.Set(in[1], 0, true));
      return ranks_.Unite(in[0], out);
    case K::kMatmul:
      // Left to our matmul, unless other operators mean matrices.
      for (int i = 0; i < 2 && has_axes_; ++i) {
        RETURN_IF_ERROR(ranks_.Set(in[i], 2, false));
      }
      return ranks_.Unite(in[0], out);
    default:
      break;
  }
  for (int t : in) {
    RETURN_IF_ERROR(ranks_.Unite(out, t));
  }
  return rank < 0 ? absl::OkStatus() : ranks_.Set(out, rank, implied);
}

absl::Status Finder::FindRanks() {
  ranks_ = RankClasses(static_cast<int>(
      out_.inputs.size() + rule_.source.size() + rule_.target.size()));
  for (bool target : {false, true}) {
    const auto& ops = target ? rule_.target : rule_.source;
    const auto& info = (target ? out_.target : out_.source).info;
    for (size_t k = 0; k < ops.size(); ++k) {
      const int out = Tensor({static_cast<int>(k), 0}, target);
      RETURN_IF_ERROR(RanksOf(ops[k], *info[k], out, target));
    }
  }
  for (const WireOutput& o : rule_.outputs) {
    RETURN_IF_ERROR(
        ranks_.Unite(Tensor(o.source, false), Tensor(o.target, true)));
  }
  return absl::OkStatus();
}

// One condition for each class, on the input that comes first.
void Finder::RankConditions() {
  std::vector<int> done;
  for (size_t i = 0; i < out_.inputs.size(); ++i) {
    const int t = static_cast<int>(i), rank = ranks_.rank(t);
    if (rank < 0 || ranks_.implied(t)) continue;
    if (absl::c_linear_search(done, ranks_.Find(t))) continue;
    done.push_back(ranks_.Find(t));
    out_.where.push_back(
        Equals({.kind = V::Kind::kRank, .name = names_(out_.inputs[i])}, rank));
  }
}

// ---- Sizes

Size Finder::Fresh(SizeSymbol::Kind kind) {
  // An attribute of the source has a name that a rule can show.
  const bool named = kind == SizeSymbol::Kind::kAttribute;
  return Size::Of({kind, absl::StrCat(named ? "n" : "", fresh_++), 0});
}

const ForeignShape& Finder::ShapeOf(WireTensor t, bool target) const {
  if (t.op < 0) return input_shapes_.at(-t.op);
  return (target ? out_.target : out_.source).outputs[t.op][t.output];
}

void Finder::Same(const ForeignShape& a, const ForeignShape& b) {
  for (int d = 0; d < std::min(a.rank(), b.rank()); ++d) {
    out_.equations.Add(a.sizes[d], b.sizes[d]);
  }
}

ForeignShape Finder::ConstantShape(const WireOp& op, K kind, bool target) {
  const auto symbol =
      target ? SizeSymbol::Kind::kConstant : SizeSymbol::Kind::kAttribute;
  ForeignShape out;
  const Size n = Fresh(symbol);
  out.sizes = {n, n};
  if (kind == K::kOnes) {
    out.sizes = {n, Fresh(symbol), Fresh(symbol), Fresh(symbol)};
  } else if (kind != K::kEye) {
    if (kind == K::kPoolFilter) out.sizes[1] = Size::Number(1);
    for (int key : {WireKey::kKernelH, WireKey::kKernelW}) {
      out.sizes.push_back(Size::Number(*op.Find(key)));
    }
  }
  out.joints.resize(out.sizes.size());
  return out;
}

absl::StatusOr<ForeignShape> Finder::WindowShape(const WireOp& op,
                                                 const ForeignOp& info,
                                                 bool target) {
  const ForeignShape& x = ShapeOf(op.inputs[0], target);
  ForeignShape out = x;
  const bool conv = info.kind == K::kConv;
  if (conv) {
    const ForeignShape& w = ShapeOf(op.inputs[1], target);
    out.sizes[1] = w.sizes[0];
    out.joints[1] = w.joints[0];
    if (!target) out_.equations.Add(x.sizes[1], w.sizes[1]);
  }
  for (int j = 0; j < 2; ++j) {
    const int kernel_key = j == 0 ? WireKey::kKernelH : WireKey::kKernelW;
    const int stride_key = j == 0 ? WireKey::kStrideH : WireKey::kStrideW;
    ASSIGN_OR_RETURN(int kernel, ForeignParameter(op, info, kernel_key, 1,
                                                  kMaxForeignKernel));
    ASSIGN_OR_RETURN(int stride, ForeignParameter(op, info, stride_key, 1,
                                                  kMaxForeignKernel));
    ASSIGN_OR_RETURN(int pad, ForeignPad(op, info, j));
    Size& size = out.sizes[j + 2];
    out.joints[j + 2] = nullptr;
    size = stride == 1 ? size + Size::Number(2 * pad - kernel + 1)
                       : Fresh(SizeSymbol::Kind::kOpaque);
    if (conv) {
      RETURN_IF_ERROR(
          DemandKernel(ShapeOf(op.inputs[1], target).sizes[j + 2], kernel));
    }
  }
  return out;
}

absl::StatusOr<ForeignShape> Finder::ConcatShape(const WireOp& op,
                                                 const ForeignOp& info,
                                                 bool target) {
  ForeignShape out = ShapeOf(op.inputs[0], target);
  ASSIGN_OR_RETURN(
      int axis, ForeignParameter(op, info, WireKey::kAxis, 0, out.rank() - 1));
  if (const int* n = op.Find(WireKey::kNumInputs);
      n != nullptr && *n != static_cast<int>(op.inputs.size())) {
    return Invalid("CONCAT says that it joins ", *n, " and has ",
                   op.inputs.size());
  }
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    const ForeignShape& part = ShapeOf(op.inputs[i], target);
    for (int d = 0; d < out.rank(); ++d) {
      if (d != axis) out_.equations.Add(out.sizes[d], part.sizes[d]);
    }
    out.joints[axis] = std::make_shared<const Joint>(
        Joint{out.sizes[axis], out.joints[axis], part.joints[axis]});
    out.sizes[axis] = out.sizes[axis] + part.sizes[axis];
  }
  return out;
}

absl::StatusOr<std::vector<ForeignShape>> Finder::SplitShapes(
    const WireOp& op, const ForeignOp& info, bool target) {
  const ForeignShape& in = ShapeOf(op.inputs[0], target);
  ASSIGN_OR_RETURN(int parts, ForeignParameter(op, info, WireKey::kNumOutputs,
                                               1, kMaxForeignDegree));
  if (parts != 2) return Invalid("SPLIT into ", parts, " has no reading");
  if (in.rank() == 0) return Invalid("SPLIT of a tensor of unknown rank");
  ASSIGN_OR_RETURN(
      int axis, ForeignParameter(op, info, WireKey::kAxis, 0, in.rank() - 1));
  const std::shared_ptr<const Joint> joint = in.joints[axis];
  if (joint == nullptr) {
    return Invalid("SPLIT along dimension ", axis,
                   " of what no concat joined there");
  }
  ForeignShape left = in, right = in;
  left.sizes[axis] = joint->at;
  left.joints[axis] = joint->left;
  right.sizes[axis] = in.sizes[axis] - joint->at;
  right.joints[axis] = joint->right;
  return std::vector<ForeignShape>{left, right};
}

// matmul: [m, k] and [k, n]. LINEAR: [r, b, c] and [s, o, c] give [1, b, o].
ForeignShape Finder::ProductShape(const WireOp& op, const ForeignOp& info,
                                  bool target) {
  ForeignShape out = ShapeOf(op.inputs[0], target);
  if (out.rank() == 0) return out;
  const ForeignShape& y = ShapeOf(op.inputs[1], target);
  const bool linear = info.kind == K::kLinear;
  const int last = out.rank() - 1;
  out_.equations.Add(out.sizes[last], y.sizes[linear ? 2 : 0]);
  out.sizes[last] = y.sizes[1];
  out.joints[last] = y.joints[1];
  if (linear) {
    out.sizes[0] = Size::Number(1);
    out.joints[0] = nullptr;
  }
  return out;
}

// Operators of one operand that change its dimensions.
absl::StatusOr<ForeignShape> Finder::MovedShape(const WireOp& op,
                                                const ForeignOp& info,
                                                ForeignShape in) {
  ForeignShape out = in;
  if (info.kind == K::kTranspose) {
    ASSIGN_OR_RETURN(int code, ForeignParameter(op, info, WireKey::kPerm, 0,
                                                kMaxForeignDegree));
    ASSIGN_OR_RETURN(std::vector<int> perm, DecodePerm(code, in.rank()));
    for (int d = 0; d < in.rank(); ++d) {
      out.sizes[d] = in.sizes[perm[d]];
      out.joints[d] = in.joints[perm[d]];
    }
  } else if (info.kind == K::kEnlarge) {
    for (int j = 0; j < 2; ++j) {
      const int key = j == 0 ? WireKey::kKernelH : WireKey::kKernelW;
      ASSIGN_OR_RETURN(int kernel,
                       ForeignParameter(op, info, key, 1, kMaxForeignKernel));
      out.sizes[j + 2] = Size::Number(kernel);
      out.joints[j + 2] = nullptr;
    }
  } else {
    ASSIGN_OR_RETURN(int dim,
                     ForeignParameter(op, info, WireKey::kParallelDim, 0, 2));
    out.sizes[dim] = Fresh(SizeSymbol::Kind::kOpaque);
    out.joints[dim] = nullptr;
  }
  return out;
}

absl::StatusOr<std::vector<ForeignShape>> Finder::SizesOf(const WireOp& op,
                                                          const ForeignOp& info,
                                                          bool target) {
  using Shapes = std::vector<ForeignShape>;
  if (op.inputs.empty()) {
    for (int key : {WireKey::kKernelH, WireKey::kKernelW}) {
      if (info.kind == K::kEye || info.kind == K::kOnes) break;
      RETURN_IF_ERROR(
          ForeignParameter(op, info, key, 1, kMaxForeignKernel).status());
    }
    return Shapes{ConstantShape(op, info.kind, target)};
  }
  ForeignShape out = ShapeOf(op.inputs[0], target);
  switch (info.kind) {
    case K::kSplit:
      return SplitShapes(op, info, target);
    case K::kConcat: {
      ASSIGN_OR_RETURN(out, ConcatShape(op, info, target));
      break;
    }
    case K::kConv:
    case K::kMaxPool:
    case K::kAvgPool: {
      ASSIGN_OR_RETURN(out, WindowShape(op, info, target));
      break;
    }
    case K::kBinary: {
      const ForeignShape& other = ShapeOf(op.inputs[1], target);
      Same(out, other);
      for (int d = 0; d < out.rank(); ++d) {
        if (out.joints[d] == nullptr) out.joints[d] = other.joints[d];
      }
      break;
    }
    case K::kMatmul:
    case K::kLinear:
      out = ProductShape(op, info, target);
      break;
    case K::kTranspose:
    case K::kEnlarge:
    case K::kReplicate:
    case K::kReduce: {
      ASSIGN_OR_RETURN(out, MovedShape(op, info, std::move(out)));
      break;
    }
    default:
      break;
  }
  return Shapes{out};
}

absl::Status Finder::FindSizes(bool target) {
  const auto& ops = target ? rule_.target : rule_.source;
  ForeignSideShapes& side = target ? out_.target : out_.source;
  for (size_t k = 0; k < ops.size(); ++k) {
    for (const WireTensor& t : ops[k].inputs) {
      if (t.op < 0) continue;
      if (t.output >= static_cast<int>(side.outputs[t.op].size())) {
        return Invalid(side.info[t.op]->foreign, " has no output ", t.output);
      }
    }
    ASSIGN_OR_RETURN(std::vector<ForeignShape> shapes,
                     SizesOf(ops[k], *side.info[k], target));
    side.outputs.push_back(std::move(shapes));
  }
  return absl::OkStatus();
}

// A constant filter whose sizes nothing tells keeps the channels of what it
// meets: that is what it is for.
void Finder::GuessFilters() {
  for (size_t k = 0; k < rule_.target.size(); ++k) {
    if (out_.target.info[k]->kind != K::kConv) continue;
    const WireOp& op = rule_.target[k];
    const Size channels = ShapeOf(op.inputs[0], true).sizes[1];
    const ForeignShape& w = ShapeOf(op.inputs[1], true);
    for (int d : {1, 0}) {
      if (!out_.equations.Reduce(w.sizes[d]).Expressible()) {
        out_.equations.Add(w.sizes[d], channels);
      }
    }
  }
}

// Our convolution takes any kernel, so that the size has to be demanded, unless
// operators before this one make it sure.
absl::Status Finder::DemandKernel(const Size& size, int kernel) {
  const Size known = out_.equations.Reduce(size);
  if (known == Size::Number(kernel)) return absl::OkStatus();
  // A size that is still open, of a constant, becomes what it has to be.
  const bool open = absl::c_any_of(known.terms, [](const auto& term) {
    return term.first.kind == SizeSymbol::Kind::kConstant;
  });
  if (known.number() || !(open || known.Expressible())) {
    return Invalid("CONV2D says that a kernel has size ", kernel,
                   ", and its filter does not");
  }
  if (!open) out_.where.push_back(Equals(known.Syntax(), kernel));
  out_.equations.Add(known, Size::Number(kernel));
  return absl::OkStatus();
}

absl::StatusOr<ForeignShapes> Finder::Run() {
  RETURN_IF_ERROR(CheckOps(rule_.source, out_.source));
  RETURN_IF_ERROR(CheckOps(rule_.target, out_.target));
  RETURN_IF_ERROR(CheckInputs());
  RETURN_IF_ERROR(FindRanks());
  RankConditions();
  for (size_t i = 0; i < out_.inputs.size(); ++i) {
    ForeignShape& shape = input_shapes_[out_.inputs[i]];
    for (int d = 0; d < ranks_.rank(static_cast<int>(i)); ++d) {
      shape.sizes.push_back(
          Size::Of({SizeSymbol::Kind::kDimension, names_(out_.inputs[i]), d}));
    }
    shape.joints.resize(shape.sizes.size());
  }
  RETURN_IF_ERROR(FindSizes(false));
  RETURN_IF_ERROR(FindSizes(true));
  for (const WireOutput& o : rule_.outputs) {
    for (bool target : {false, true}) {
      const WireTensor& t = target ? o.target : o.source;
      const ForeignSideShapes& side = target ? out_.target : out_.source;
      if (t.op >= 0 &&
          t.output >= static_cast<int>(side.outputs[t.op].size())) {
        return Invalid(side.info[t.op]->foreign, " has no output ", t.output);
      }
    }
    Same(ShapeOf(o.source, false), ShapeOf(o.target, true));
  }
  GuessFilters();
  return std::move(out_);
}

}  // namespace

absl::StatusOr<int> ForeignPad(const WireOp& op, const ForeignOp& info, int j) {
  ASSIGN_OR_RETURN(int valid, ForeignParameter(op, info, WireKey::kPad, 0, 1));
  if (valid == 1) return 0;
  ASSIGN_OR_RETURN(
      int kernel,
      ForeignParameter(op, info, j == 0 ? WireKey::kKernelH : WireKey::kKernelW,
                       1, kMaxForeignKernel));
  ASSIGN_OR_RETURN(
      int stride,
      ForeignParameter(op, info, j == 0 ? WireKey::kStrideH : WireKey::kStrideW,
                       1, kMaxForeignKernel));
  if (kernel % 2 == 0 || stride != 1) {
    return Invalid(info.foreign, ": SAME with kernel ", kernel, " and stride ",
                   stride, " pads by an amount that depends on sizes");
  }
  return (kernel - 1) / 2;
}

absl::StatusOr<ForeignShapes> FindShapes(const WireRule& rule,
                                         ForeignDialect dialect,
                                         const ForeignNames& names) {
  return Finder(rule, dialect, names).Run();
}

}  // namespace isomer::ir

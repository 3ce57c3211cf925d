// Operators become calls, depth first from the outputs. What is used more than
// once, or has to be named to speak of its sizes, is bound by a let.
#include "graph/foreign_read.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/foreign_normalize.h"
#include "graph/foreign_syntax.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

using K = ForeignOp::Kind;
using V = ValueSyntax;

class SideReader {
 public:
  SideReader(const WireRule& rule, bool target, const ForeignShapes& shapes,
             const ForeignNames& names)
      : ops_(target ? rule.target : rule.source),
        side_(target ? shapes.target : shapes.source),
        target_(target),
        shapes_(shapes),
        names_(names),
        uses_(ops_.size(), 0),
        done_(ops_.size()) {}

  absl::StatusOr<SideSyntax> Run(const std::vector<WireTensor>& outputs);

 private:
  void CountUses(WireTensor t);
  absl::StatusOr<ExprSyntax> Expr(WireTensor t);
  absl::StatusOr<ExprSyntax> Plain(int k);
  absl::StatusOr<ExprSyntax> Window(int k, std::vector<ExprSyntax> args);
  absl::StatusOr<std::optional<V>> Group(const WireOp& op) const;
  absl::StatusOr<ExprSyntax> Part(WireTensor t, ExprSyntax x);
  absl::StatusOr<ExprSyntax> Enlarge(int k, ExprSyntax w);
  absl::StatusOr<ExprSyntax> Constant(int k);
  absl::StatusOr<ExprSyntax> Parallel(int k, ExprSyntax x);
  ExprSyntax Linear(ExprSyntax x, ExprSyntax w) const;
  absl::StatusOr<V> SizeValue(const Size& size) const;

  const ForeignShape& Shape(WireTensor t) const {
    return side_.outputs[t.op][t.output];
  }
  absl::StatusOr<Size> OperandSize(WireTensor t, int d) const {
    if (t.op >= 0) return Shape(t).sizes[d];
    return Size::Of({SizeSymbol::Kind::kDimension, names_(-t.op), d});
  }

  const std::vector<WireOp>& ops_;
  const ForeignSideShapes& side_;
  const bool target_;
  const ForeignShapes& shapes_;
  const ForeignNames& names_;
  std::vector<int> uses_;
  std::vector<std::optional<ExprSyntax>> done_;
  std::vector<BinderSyntax> lets_;
};

// Operands of SPLIT and REDUCE are named: their sizes are spoken of, and a
// split reads its operand once for each part.
void SideReader::CountUses(WireTensor t) {
  if (t.op < 0 || ++uses_[t.op] > 1) return;
  const K kind = side_.info[t.op]->kind;
  for (const WireTensor& in : ops_[t.op].inputs) {
    CountUses(in);
    if ((kind == K::kSplit || kind == K::kReduce) && in.op >= 0) ++uses_[in.op];
  }
}

absl::StatusOr<V> SideReader::SizeValue(const Size& size) const {
  if (size.Expressible()) return size.Syntax();
  const Size reduced = shapes_.equations.Reduce(size);
  if (reduced.Expressible()) return reduced.Syntax();
  return Invalid("nothing tells the size of a constant or part in the ",
                 target_ ? "target" : "source");
}

absl::StatusOr<ExprSyntax> SideReader::Expr(WireTensor t) {
  if (t.op < 0) return VariableSyntax(names_(-t.op));
  if (side_.info[t.op]->kind == K::kSplit) {
    ASSIGN_OR_RETURN(ExprSyntax x, Expr(ops_[t.op].inputs[0]));
    return Part(t, std::move(x));
  }
  if (done_[t.op]) return *done_[t.op];
  ASSIGN_OR_RETURN(ExprSyntax e, Plain(t.op));
  if (uses_[t.op] > 1) {
    const std::string name = absl::StrCat("t", lets_.size());
    lets_.push_back({.name = name, .value = std::move(e)});
    e = VariableSyntax(name);
  }
  done_[t.op] = e;
  return e;
}

absl::StatusOr<ExprSyntax> SideReader::Plain(int k) {
  const WireOp& op = ops_[k];
  const ForeignOp& info = *side_.info[k];
  std::vector<ExprSyntax> args;
  for (const WireTensor& t : op.inputs) {
    ASSIGN_OR_RETURN(ExprSyntax e, Expr(t));
    args.push_back(std::move(e));
  }
  switch (info.kind) {
    case K::kUnary:
    case K::kBinary:
      return CallSyntax(std::string(info.name), std::move(args));
    case K::kMatmul:
      return CallSyntax("matmul", std::move(args));
    case K::kScale:
      return CallSyntax("mul",
                        {args[0], CallSyntax("broadcast", {args[1]},
                                             {{"dims", ListSyntax({})}})});
    case K::kConcat:
      return CallSyntax("concat", std::move(args),
                        {{"axis", IntSyntax(*op.Find(WireKey::kAxis))}});
    case K::kTranspose: {
      ASSIGN_OR_RETURN(
          std::vector<int> perm,
          DecodePerm(*op.Find(WireKey::kPerm), *op.Find(WireKey::kNumDim)));
      return CallSyntax("transpose", std::move(args),
                        {{"perm", IntsSyntax(perm)}});
    }
    case K::kConv:
    case K::kMaxPool:
    case K::kAvgPool:
      return Window(k, std::move(args));
    case K::kEnlarge:
      return Enlarge(k, std::move(args[0]));
    case K::kLinear:
      return Linear(std::move(args[0]), std::move(args[1]));
    case K::kPartition:
    case K::kCombine:
    case K::kReplicate:
    case K::kReduce:
      return Parallel(k, std::move(args[0]));
    default:
      return Constant(k);
  }
}

// The group of a convolution in a target; nothing where it is 1.
absl::StatusOr<std::optional<V>> SideReader::Group(const WireOp& op) const {
  if (!target_) return std::optional<V>();
  ASSIGN_OR_RETURN(Size x, OperandSize(op.inputs[0], 1));
  ASSIGN_OR_RETURN(Size w, OperandSize(op.inputs[1], 1));
  if (shapes_.equations.Equal(x, w)) return std::optional<V>();
  ASSIGN_OR_RETURN(V channels, SizeValue(x));
  if (w == Size::Number(1)) return std::optional<V>(std::move(channels));
  ASSIGN_OR_RETURN(V per_filter, SizeValue(w));
  return std::optional<V>(
      BinarySyntax(V::Kind::kDiv, std::move(channels), std::move(per_filter)));
}

absl::StatusOr<ExprSyntax> SideReader::Window(int k,
                                              std::vector<ExprSyntax> args) {
  const WireOp& op = ops_[k];
  const ForeignOp& info = *side_.info[k];
  const int sh = *op.Find(WireKey::kStrideH), sw = *op.Find(WireKey::kStrideW);
  ASSIGN_OR_RETURN(int ph, ForeignPad(op, info, 0));
  ASSIGN_OR_RETURN(int pw, ForeignPad(op, info, 1));
  std::vector<AttrSyntax> attrs;
  if (info.kind != K::kConv) {
    attrs.push_back({"kernel", IntsSyntax({*op.Find(WireKey::kKernelH),
                                           *op.Find(WireKey::kKernelW)})});
  }
  if (sh != 1 || sw != 1) attrs.push_back({"stride", IntsSyntax({sh, sw})});
  // All four, so that there are two spatial dimensions and no more.
  attrs.push_back({"pad", IntsSyntax({ph, pw, ph, pw})});
  if (info.kind == K::kAvgPool) {
    attrs.push_back({"count_include_pad", IntSyntax(1)});
  }
  if (info.kind == K::kConv) {
    ASSIGN_OR_RETURN(std::optional<V> group, Group(op));
    if (group) attrs.push_back({"group", *std::move(group)});
    return CallSyntax("conv2d", std::move(args), std::move(attrs));
  }
  return CallSyntax(info.kind == K::kAvgPool ? "avg_pool" : "max_pool",
                    std::move(args), std::move(attrs));
}

// One part of a split: up to where the concat joined, or from there on.
absl::StatusOr<ExprSyntax> SideReader::Part(WireTensor t, ExprSyntax x) {
  const WireOp& op = ops_[t.op];
  const int axis = *op.Find(WireKey::kAxis);
  ASSIGN_OR_RETURN(V at, SizeValue(side_.outputs[t.op][0].sizes[axis]));
  V from = IntSyntax(0), to = at;
  if (t.output == 1) {
    from = at;
    to = {.kind = V::Kind::kEnd};
  }
  return CallSyntax("slice", {std::move(x)},
                    {{"axis", IntSyntax(axis)},
                     {"from", std::move(from)},
                     {"to", std::move(to)}});
}

absl::StatusOr<ExprSyntax> SideReader::Enlarge(int k, ExprSyntax w) {
  const WireOp& op = ops_[k];
  std::vector<V> more = {IntSyntax(0), IntSyntax(0)};
  for (int j = 0; j < 2; ++j) {
    const int kernel = *op.Find(j == 0 ? WireKey::kKernelH : WireKey::kKernelW);
    ASSIGN_OR_RETURN(Size size, OperandSize(op.inputs[0], j + 2));
    const Size rest = Size::Number(kernel) - shapes_.equations.Reduce(size);
    if (auto n = rest.number()) {
      if (*n < 0 || *n % 2 != 0) {
        return Invalid("ENLARGE: a kernel cannot grow by ", *n,
                       " with its middle in the middle");
      }
      more.push_back(IntSyntax(*n / 2));
      continue;
    }
    ASSIGN_OR_RETURN(V value, SizeValue(rest));
    more.push_back(BinarySyntax(V::Kind::kDiv, std::move(value), IntSyntax(2)));
  }
  return CallSyntax("pad", {std::move(w)},
                    {{"begin", ListSyntax(more)}, {"end", ListSyntax(more)}});
}

// Constants with explicit sizes. A filter of 1/area is a quotient, because no
// floating-point number is a ninth.
absl::StatusOr<ExprSyntax> SideReader::Constant(int k) {
  const K kind = side_.info[k]->kind;
  std::vector<V> sizes;
  for (const Size& s : side_.outputs[k][0].sizes) {
    ASSIGN_OR_RETURN(V value, SizeValue(s));
    sizes.push_back(std::move(value));
  }
  auto filled = [&](int64_t value) {
    return CallSyntax(
        "fill", {},
        {{"value", IntSyntax(value)}, {"shape", ListSyntax(sizes)}});
  };
  if (kind == K::kOnes) return filled(1);
  ExprSyntax eye =
      CallSyntax("eye", {}, {{"shape", ListSyntax({sizes[0], sizes[1]})}});
  if (kind == K::kEye) return eye;
  const int h = *ops_[k].Find(WireKey::kKernelH);
  const int w = *ops_[k].Find(WireKey::kKernelW);
  if (kind == K::kPoolFilter) {
    return CallSyntax("div", {filled(1), filled(int64_t{h} * w)});
  }
  if (h % 2 == 0 || w % 2 == 0) {
    return Invalid("CONSTANT_ICONV: a kernel of ", h, " by ", w,
                   " has no middle");
  }
  ExprSyntax filter = CallSyntax(
      "reshape", {std::move(eye)},
      {{"shape",
        ListSyntax({sizes[0], sizes[1], IntSyntax(1), IntSyntax(1)})}});
  const V around = IntsSyntax({0, 0, (h - 1) / 2, (w - 1) / 2});
  return CallSyntax("pad", {std::move(filter)},
                    {{"begin", around}, {"end", around}});
}

absl::StatusOr<ExprSyntax> SideReader::Parallel(int k, ExprSyntax x) {
  const WireOp& op = ops_[k];
  const ForeignOp& info = *side_.info[k];
  ASSIGN_OR_RETURN(int dim,
                   ForeignParameter(op, info, WireKey::kParallelDim, 0, 2));
  ASSIGN_OR_RETURN(int degree,
                   ForeignParameter(op, info, WireKey::kParallelDegree, 1,
                                    kMaxForeignDegree));
  if (info.kind == K::kReplicate) {
    std::vector<int> repeats = {1, 1, 1};
    repeats[dim] = degree;
    return CallSyntax("tile", {std::move(x)},
                      {{"repeats", IntsSyntax(repeats)}});
  }
  if (info.kind != K::kReduce) return CallSyntax("identity", {std::move(x)});
  std::vector<V> shape;
  for (int d = 0; d < 3; ++d) {
    V size = DimSyntax(x.name, d);
    if (d == dim) {
      shape.push_back(IntSyntax(degree));
      size = BinarySyntax(V::Kind::kDiv, std::move(size), IntSyntax(degree));
    }
    shape.push_back(std::move(size));
  }
  return CallSyntax("reduce_sum",
                    {CallSyntax("reshape", {std::move(x)},
                                {{"shape", ListSyntax(std::move(shape))}})},
                    {{"axes", IntsSyntax({dim})}});
}

ExprSyntax SideReader::Linear(ExprSyntax x, ExprSyntax w) const {
  auto first = [](ExprSyntax e) {
    return CallSyntax(
        "slice", {std::move(e)},
        {{"axis", IntSyntax(0)}, {"from", IntSyntax(0)}, {"to", IntSyntax(1)}});
  };
  return CallSyntax("matmul", {first(std::move(x)),
                               CallSyntax("transpose", {first(std::move(w))},
                                          {{"perm", IntsSyntax({0, 2, 1})}})});
}

absl::StatusOr<SideSyntax> SideReader::Run(
    const std::vector<WireTensor>& outputs) {
  for (const WireTensor& t : outputs) CountUses(t);
  SideSyntax out;
  for (const WireTensor& t : outputs) {
    ASSIGN_OR_RETURN(ExprSyntax e, Expr(t));
    out.outputs.push_back(std::move(e));
  }
  out.binders = std::move(lets_);
  return out;
}

}  // namespace

std::string ForeignInputName(ForeignDialect dialect, int id) {
  static constexpr absl::string_view kTaso[] = {
      "x1", "x2", "x3", "w1", "w2", "w3",  "i1",  "i2",  "i3",  "w4",
      "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "s0"};
  if (dialect == ForeignDialect::kTaso && id >= 1 && id <= 20) {
    return std::string(kTaso[id - 1]);
  }
  return absl::StrCat("v", id);
}

absl::StatusOr<RuleSyntax> TranslateRule(const WireRule& wire,
                                         ForeignDialect dialect,
                                         const ForeignNames& names) {
  ASSIGN_OR_RETURN(WireRule rule, NormalizeWire(wire, dialect));
  ASSIGN_OR_RETURN(ForeignShapes shapes, FindShapes(rule, dialect, names));
  std::vector<WireTensor> source, target;
  for (const WireOutput& o : rule.outputs) {
    source.push_back(o.source);
    target.push_back(o.target);
  }
  RuleSyntax out;
  ASSIGN_OR_RETURN(out.source,
                   SideReader(rule, false, shapes, names).Run(source));
  ASSIGN_OR_RETURN(out.target,
                   SideReader(rule, true, shapes, names).Run(target));
  out.where = std::move(shapes.where);
  return out;
}

}  // namespace isomer::ir

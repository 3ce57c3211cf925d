// Writing recognises what reading builds and turns it back into operators. It
// need not be clever: what was written is read back at once, and a rule that
// does not come back the same is not expressible.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/foreign_ops.h"
#include "graph/foreign_read.h"
#include "graph/foreign_rules.h"
#include "graph/foreign_wire.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

using K = ForeignOp::Kind;
using V = ValueSyntax;
using E = ExprSyntax;

constexpr int kTasoNames = 20;  // inputs that have a name of their own
constexpr int64_t kMaxNodes = 10000;

const V* FindAttr(const E& e, absl::string_view name) {
  for (const AttrSyntax& a : e.attrs) {
    if (a.name == name) return &a.value;
  }
  return nullptr;
}

std::optional<int> AsInt(const V* v) {
  if (v == nullptr || v->kind != V::Kind::kInteger || v->integer < -1000000 ||
      v->integer > 1000000) {
    return std::nullopt;
  }
  return static_cast<int>(v->integer);
}

// A list of plain numbers.
std::optional<std::vector<int>> AsInts(const V* v) {
  if (v == nullptr || v->kind != V::Kind::kList) return std::nullopt;
  std::vector<int> out;
  for (const V& item : v->args) {
    const auto n = AsInt(&item);
    if (!n) return std::nullopt;
    out.push_back(*n);
  }
  return out;
}

bool IsCall(const E& e, absl::string_view op, size_t args) {
  return e.kind == E::Kind::kCall && e.name == op && e.args.size() == args;
}

// An expression with what lets bind put in, and how many nodes it has.
struct Opened {
  E expr;
  int64_t nodes = 1;
};

absl::StatusOr<Opened> Open(const E& e,
                            const std::map<std::string, Opened>& lets) {
  if (e.kind == E::Kind::kVariable) {
    auto it = lets.find(e.name);
    return it == lets.end() ? Opened{e} : it->second;
  }
  Opened out{e};
  for (E& a : out.expr.args) {
    ASSIGN_OR_RETURN(Opened arg, Open(a, lets));
    a = std::move(arg.expr);
    out.nodes += arg.nodes;
  }
  if (out.nodes > kMaxNodes) {
    return Invalid("without its lets it has more than ", kMaxNodes, " nodes");
  }
  return out;
}

absl::StatusOr<std::vector<E>> OpenSide(const SideSyntax& side) {
  std::map<std::string, Opened> lets;
  for (const BinderSyntax& b : side.binders) {
    if (b.choose) return Invalid("the format has no choose");
    ASSIGN_OR_RETURN(lets[b.name], Open(b.value, lets));
  }
  std::vector<E> out;
  for (const E& e : side.outputs) {
    ASSIGN_OR_RETURN(Opened opened, Open(e, lets));
    out.push_back(std::move(opened.expr));
  }
  return out;
}

// The ids of inputs, shared by both sides.
class Inputs {
 public:
  int Id(const std::string& name) {
    auto [it, added] = ids_.try_emplace(name, 0);
    if (!added) return it->second;
    for (int id = 1; id <= kTasoNames; ++id) {
      if (ForeignInputName(ForeignDialect::kTaso, id) == name) {
        return it->second = id;
      }
    }
    return it->second = next_++;
  }
  std::string Name(int id) const {
    for (const auto& [name, other] : ids_) {
      if (other == id) return name;
    }
    return ForeignInputName(ForeignDialect::kTaso, id);
  }

 private:
  std::map<std::string, int> ids_;
  int next_ = kTasoNames + 1;
};

class SideWriter {
 public:
  SideWriter(const RuleSyntax& rule, int concat_rank, Inputs& inputs)
      : rule_(rule), concat_rank_(concat_rank), inputs_(inputs) {}

  absl::StatusOr<WireTensor> Tensor(const E& e);
  std::vector<WireOp> TakeOps() { return std::move(ops_); }

 private:
  absl::StatusOr<WireTensor> Call(const E& e);
  absl::StatusOr<WireTensor> Window(const E& e, K kind);
  absl::StatusOr<WireTensor> Pad(const E& e);
  absl::StatusOr<WireTensor> Slice(const E& e);
  absl::StatusOr<WireTensor> Add(K kind, const std::vector<E>& args,
                                 std::vector<WireParameter> parameters = {});
  absl::StatusOr<WireTensor> Add(const ForeignOp& info,
                                 const std::vector<E>& args,
                                 std::vector<WireParameter> parameters);
  std::optional<int> KernelOf(const E& w, int d) const;
  static absl::Status No(const E& e) {
    return Invalid("the format has no words for ", PrintExpr(e));
  }

  const RuleSyntax& rule_;
  const int concat_rank_;
  Inputs& inputs_;
  std::vector<WireOp> ops_;
  std::map<std::string, WireTensor> done_;
};

absl::StatusOr<WireTensor> SideWriter::Tensor(const E& e) {
  if (e.kind == E::Kind::kVariable && e.output == 0) {
    return WireTensor{-inputs_.Id(e.name), 0};
  }
  if (e.kind != E::Kind::kCall || e.output != 0) return No(e);
  const std::string text = PrintExpr(e);
  if (auto it = done_.find(text); it != done_.end()) return it->second;
  ASSIGN_OR_RETURN(WireTensor t, Call(e));
  done_[text] = t;
  return t;
}

absl::StatusOr<WireTensor> SideWriter::Add(
    const ForeignOp& info, const std::vector<E>& args,
    std::vector<WireParameter> parameters) {
  WireOp op{.type = info.number, .parameters = std::move(parameters)};
  for (const E& a : args) {
    ASSIGN_OR_RETURN(WireTensor t, Tensor(a));
    op.inputs.push_back(t);
  }
  ops_.push_back(std::move(op));
  return WireTensor{static_cast<int>(ops_.size()) - 1, 0};
}

absl::StatusOr<WireTensor> SideWriter::Add(
    K kind, const std::vector<E>& args, std::vector<WireParameter> parameters) {
  return Add(*FindForeignOp(kind), args, std::move(parameters));
}

// The size of a filter's kernel, where a condition tells it.
std::optional<int> SideWriter::KernelOf(const E& w, int d) const {
  if (w.kind == E::Kind::kCall) {
    if (w.args.empty() || w.name == "pad") return std::nullopt;
    return KernelOf(w.args[0], d);
  }
  for (const ConditionSyntax& c : rule_.where) {
    if (c.kind != ConditionSyntax::Kind::kEq || c.left.kind != V::Kind::kDim ||
        c.left.name != w.name || AsInt(&c.left.args[0]) != d) {
      continue;
    }
    return AsInt(&c.right);
  }
  return std::nullopt;
}

absl::StatusOr<WireTensor> SideWriter::Window(const E& e, K kind) {
  const auto pad = AsInts(FindAttr(e, "pad"));
  if (!pad || pad->size() != 4 || (*pad)[0] != (*pad)[2] ||
      (*pad)[1] != (*pad)[3]) {
    return No(e);
  }
  std::vector<int> stride = {1, 1}, kernel;
  if (FindAttr(e, "stride") != nullptr) {
    const auto given = AsInts(FindAttr(e, "stride"));
    if (!given || given->size() != 2) return No(e);
    stride = *given;
  }
  if (kind == K::kConv) {
    for (int j = 0; j < 2; ++j) {
      kernel.push_back(KernelOf(e.args[1], j + 2).value_or(2 * (*pad)[j] + 1));
    }
  } else {
    const auto given = AsInts(FindAttr(e, "kernel"));
    if (!given || given->size() != 2) return No(e);
    kernel = *given;
  }
  bool same = true;
  for (int j = 0; j < 2; ++j) {
    same = same && stride[j] == 1 && kernel[j] == 2 * (*pad)[j] + 1;
  }
  const ForeignOp& info = *FindForeignOp(kind);
  std::vector<WireParameter> parameters;
  if (kind != K::kConv) parameters.push_back({WireKey::kPoolType, info.number});
  for (const WireParameter& p : {WireParameter{WireKey::kKernelH, kernel[0]},
                                 {WireKey::kKernelW, kernel[1]},
                                 {WireKey::kStrideH, stride[0]},
                                 {WireKey::kStrideW, stride[1]},
                                 {WireKey::kPad, same ? 0 : 1},
                                 {WireKey::kActivation, 0}}) {
    parameters.push_back(p);
  }
  return Add(info, e.args, std::move(parameters));
}

// The identity filter, or zeros around a kernel.
absl::StatusOr<WireTensor> SideWriter::Pad(const E& e) {
  const V* begin = FindAttr(e, "begin");
  if (begin == nullptr || begin->args.size() != 4) return No(e);
  const bool identity =
      IsCall(e.args[0], "reshape", 1) && IsCall(e.args[0].args[0], "eye", 0);
  std::vector<WireParameter> kernel;
  for (int j = 0; j < 2; ++j) {
    const V& more = begin->args[j + 2];
    const auto inside =
        identity ? std::optional<int>(1) : KernelOf(e.args[0], j + 2);
    std::optional<int> size;
    if (const auto n = AsInt(&more); n && inside) {
      size = *inside + 2 * *n;
    } else if (more.kind == V::Kind::kDiv && !more.args[0].args.empty()) {
      size = AsInt(&more.args[0].args[0]);  // (size - dim(w, d)) / 2
    }
    if (!size) return No(e);
    kernel.push_back({j == 0 ? WireKey::kKernelH : WireKey::kKernelW, *size});
  }
  if (identity) return Add(K::kIdentityFilter, {}, std::move(kernel));
  return Add(K::kEnlarge, e.args, std::move(kernel));
}

absl::StatusOr<WireTensor> SideWriter::Slice(const E& e) {
  const auto axis = AsInt(FindAttr(e, "axis"));
  const V* from = FindAttr(e, "from");
  if (!axis || from == nullptr) return No(e);
  const std::string split =
      absl::StrCat("split ", *axis, " ", PrintExpr(e.args[0]));
  auto it = done_.find(split);
  if (it == done_.end()) {
    ASSIGN_OR_RETURN(WireTensor t,
                     Add(K::kSplit, e.args,
                         {{WireKey::kNumOutputs, 2}, {WireKey::kAxis, *axis}}));
    it = done_.emplace(split, t).first;
  }
  return WireTensor{it->second.op, AsInt(from) == 0 ? 0 : 1};
}

absl::StatusOr<WireTensor> SideWriter::Call(const E& e) {
  if (IsCall(e, "mul", 2) && IsCall(e.args[1], "broadcast", 1)) {
    return Add(K::kScale, {e.args[0], e.args[1].args[0]});
  }
  if (IsCall(e, "div", 2) && IsCall(e.args[0], "fill", 0)) {
    const V* shape = FindAttr(e.args[0], "shape");
    if (shape == nullptr || shape->args.size() != 4) return No(e);
    const auto h = AsInt(&shape->args[2]), w = AsInt(&shape->args[3]);
    if (!h || !w) return No(e);
    return Add(K::kPoolFilter, {},
               {{WireKey::kKernelH, *h}, {WireKey::kKernelW, *w}});
  }
  if (IsCall(e, "fill", 0)) return Add(K::kOnes, {});
  if (IsCall(e, "eye", 0)) return Add(K::kEye, {});
  if (IsCall(e, "conv2d", 2)) return Window(e, K::kConv);
  if (IsCall(e, "max_pool", 1)) return Window(e, K::kMaxPool);
  if (IsCall(e, "avg_pool", 1)) return Window(e, K::kAvgPool);
  if (IsCall(e, "pad", 1)) return Pad(e);
  if (IsCall(e, "slice", 1)) return Slice(e);
  if (IsCall(e, "matmul", 2)) {
    return Add(K::kMatmul, e.args, {{WireKey::kActivation, 0}});
  }
  if (const auto perm = AsInts(FindAttr(e, "perm"));
      IsCall(e, "transpose", 1) && perm &&
      perm->size() <= static_cast<size_t>(kMaxForeignRank)) {
    const int rank = static_cast<int>(perm->size());
    return Add(K::kTranspose, e.args,
               {{WireKey::kNumDim, rank},
                {WireKey::kPerm, EncodePerm(*perm)},
                {WireKey::kOutShuffle, 1}});
  }
  if (const auto axis = AsInt(FindAttr(e, "axis"));
      e.name == "concat" && axis) {
    return Add(K::kConcat, e.args,
               {{WireKey::kNumInputs, static_cast<int>(e.args.size())},
                {WireKey::kAxis, *axis},
                {WireKey::kNumDim, concat_rank_}});
  }
  const ForeignOp* info = FindForeignOp(e.name);
  if (info == nullptr || !e.attrs.empty()) return No(e);
  return Add(*info, e.args, {});
}

// What has to come back: outputs without lets, and the conditions as a set.
absl::StatusOr<std::string> Essence(const RuleSyntax& rule) {
  std::string out;
  for (const SideSyntax* side : {&rule.source, &rule.target}) {
    ASSIGN_OR_RETURN(std::vector<E> outputs, OpenSide(*side));
    for (const E& e : outputs) absl::StrAppend(&out, PrintExpr(e), "; ");
    absl::StrAppend(&out, "=> ");
  }
  std::set<std::string> where;
  for (const ConditionSyntax& c : rule.where) where.insert(PrintCondition(c));
  for (const std::string& c : where) absl::StrAppend(&out, c, "; ");
  return out;
}

absl::StatusOr<WireRule> WriteAs(const RuleSyntax& rule, int concat_rank) {
  Inputs inputs;
  WireRule out;
  std::vector<WireTensor> ends[2];
  for (bool target : {false, true}) {
    SideWriter writer(rule, concat_rank, inputs);
    ASSIGN_OR_RETURN(std::vector<E> outputs,
                     OpenSide(target ? rule.target : rule.source));
    for (const E& e : outputs) {
      ASSIGN_OR_RETURN(WireTensor t, writer.Tensor(e));
      ends[target].push_back(t);
    }
    (target ? out.target : out.source) = writer.TakeOps();
  }
  for (size_t i = 0; i < std::min(ends[0].size(), ends[1].size()); ++i) {
    out.outputs.push_back({ends[0][i], ends[1][i]});
  }
  ASSIGN_OR_RETURN(RuleSyntax back,
                   TranslateRule(out, ForeignDialect::kTaso,
                                 [&](int id) { return inputs.Name(id); }));
  ASSIGN_OR_RETURN(std::string is, Essence(back));
  ASSIGN_OR_RETURN(std::string should_be, Essence(rule));
  if (is != should_be) return Invalid("it would be read as ", PrintRule(back));
  return out;
}

// The format tells the rank with each concat, our language with conditions or
// not at all; so ranks are tried.
absl::StatusOr<WireRule> WriteRule(const RuleSyntax& rule) {
  absl::Status first;
  for (int rank : {2, 4, 3, 1, 5}) {
    auto out = WriteAs(rule, rank);
    if (out.ok()) return out;
    if (first.ok()) first = out.status();
  }
  return first;
}

}  // namespace

absl::StatusOr<std::string> WriteForeignRules(
    absl::Span<const RuleSyntax> rules,
    std::vector<std::string>* not_expressible) {
  std::vector<WireRule> out;
  for (const RuleSyntax& rule : rules) {
    RuleSyntax reversed = rule;
    std::swap(reversed.source, reversed.target);
    for (const RuleSyntax* direction : {&rule, &std::as_const(reversed)}) {
      if (direction == &reversed && !rule.both_ways) break;
      auto wire = WriteRule(*direction);
      if (wire.ok()) {
        out.push_back(*std::move(wire));
      } else {
        not_expressible->push_back(
            absl::StrCat(rule.name, direction == &reversed ? "'" : "", ": ",
                         wire.status().message()));
      }
    }
  }
  if (out.empty()) {
    return Invalid("substitution file: none of ", rules.size(),
                   " rules can be written");
  }
  return SerializeWire(out);
}

}  // namespace isomer::ir

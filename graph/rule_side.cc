// Typing goes depth first, so that a rank that does not fit is found as soon
// as the operands of one operator are known. What takes its type from its
// surroundings is tried with what is expected of the operator itself, then
// with each operand beside it.
#include "graph/rule_side.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "ops/status.h"

namespace isomer::ir {

int ShapeAttr(const OpDef& op) {
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const AttrSpec& s = op.attrs[i];
    if (s.name == "shape" && s.kind == AttrKind::kInts && s.required) return i;
  }
  return -1;
}

int DTypeAttrOf(const OpDef& op) {
  if (!op.inputs.names.empty()) return -1;
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    if (op.attrs[i].kind == AttrKind::kDType) return i;
  }
  return -1;
}

template <class D>
absl::StatusOr<std::vector<D>> ComplementOf(const AttrT<D>& axes, int rank) {
  std::vector<D> list;
  if (const D* one = std::get_if<D>(&axes)) list.push_back(*one);
  if (auto* many = std::get_if<std::vector<D>>(&axes)) list = *many;
  std::vector<bool> named(rank, false);
  for (const D& d : list) {
    const auto axis = KnownSize(d);
    if (!axis || *axis < -rank || *axis >= rank) {
      return Invalid("axes holds ", DimText(d), ", which is not in [-", rank,
                     ", ", rank, ")");
    }
    auto seen = named[*axis < 0 ? *axis + rank : *axis];
    if (seen) return Invalid("axes names dimension ", *axis, " twice");
    seen = true;
  }
  std::vector<D> out;
  for (int i = 0; i < rank; ++i) {
    if (!named[i]) out.push_back(D(i));
  }
  return out;
}

template absl::StatusOr<std::vector<int64_t>> ComplementOf(const Attr&, int);
template absl::StatusOr<std::vector<DimExpr>> ComplementOf(const SymAttr&, int);

namespace {

template <class D>
class Typer {
 public:
  Typer(const RuleSide& side, absl::Span<const TypeT<D>* const> tensors,
        absl::Span<const std::optional<AttrT<D>>> attrs, SideTyping<D>& typing,
        int last)
      : side_(side),
        tensors_(tensors),
        attrs_(attrs),
        typing_(typing),
        last_(last) {}

  // True once the node that was to be the last is typed.
  bool ended() const { return ended_; }

  // Types node k and what it needs.
  absl::Status Type(int k, const TypeT<D>* expected) {
    if (!typing_.nodes[k].types.empty()) return absl::OkStatus();
    const RuleNode& n = side_.nodes[k];
    switch (n.kind) {
      case RuleNode::Kind::kVariable:
        if (tensors_[n.variable] == nullptr) {
          typing_.missing = MissingVariable{true, n.variable};
          return absl::UnavailableError("a tensor has no type yet");
        }
        return Done(k, {{*tensors_[n.variable]}});
      case RuleNode::Kind::kLiteral:
        if (expected == nullptr) {
          return ErrorAt(n.at,
                         "the type of a literal comes from the operand beside "
                         "it or the output it stands for; here is neither");
        }
        RETURN_IF_ERROR(Value(n.literal).status());
        return Done(k, {{*expected}});
      case RuleNode::Kind::kCall:
        return TypeCall(k, expected);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Done(int k, TypedNode<D> typed) {
    typing_.nodes[k] = std::move(typed);
    trail_.push_back(k);
    if (k != last_) return absl::OkStatus();
    ended_ = true;
    return absl::UnavailableError("nothing more is asked for");
  }

  const TypeT<D>* TypeOf(RuleOperand o) const {
    const auto& types = typing_.nodes[o.node].types;
    return o.output < static_cast<int>(types.size()) ? &types[o.output]
                                                     : nullptr;
  }

  // Evaluates a value, after typing the tensors whose sizes it reads.
  absl::StatusOr<AttrT<D>> Value(const ValueExpr& v) {
    absl::Status status;
    Visit(v, [&](const ValueExpr& part) {
      if (!status.ok()) return;
      if (part.tensor.node >= 0) status = Type(part.tensor.node, nullptr);
      if (part.variable >= 0 && !attrs_[part.variable]) {
        typing_.missing = MissingVariable{false, part.variable};
        status = absl::UnavailableError("a variable has no value yet");
      }
    });
    RETURN_IF_ERROR(status);
    auto value =
        EvalValue<D>(v, {attrs_, [this](RuleOperand o) { return TypeOf(o); },
                         &typing_.demands});
    if (value.ok() || absl::IsUnavailable(value.status())) return value;
    return ErrorAt(v.at, value.status().message());
  }

  // The attributes of node k, those left open taken from `expected`.
  absl::StatusOr<AttrsT<D>> AttrsOf(const RuleNode& n,
                                    const TypeT<D>* expected) {
    AttrsT<D> out;
    std::optional<std::vector<D>> shape;
    for (const RuleAttr& a : n.attrs) {
      if (a.complement) continue;
      ASSIGN_OR_RETURN(AttrT<D> value, Value(a.value));
      out.Set(n.op->attrs[a.spec].name, std::move(value));
    }
    for (int spec : {ShapeAttr(*n.op), DTypeAttrOf(*n.op)}) {
      if (spec < 0 || out.Find(n.op->attrs[spec].name) != nullptr) continue;
      const AttrSpec& s = n.op->attrs[spec];
      if (expected == nullptr) {
        if (!s.required) continue;
        return ErrorAt(n.at, absl::StrCat(n.op->name, ": '", s.name,
                                          "' is left out, and no operand "
                                          "beside it tells it"));
      }
      out.Set(s.name, s.kind == AttrKind::kDType ? AttrT<D>(expected->dtype)
                                                 : AttrT<D>(expected->shape));
    }
    for (const RuleAttr& a : n.attrs) {
      if (!a.complement) continue;
      ASSIGN_OR_RETURN(AttrT<D> axes, Value(a.value));
      auto* s = std::get_if<std::vector<D>>(
          out.Find(n.op->attrs[ShapeAttr(*n.op)].name));
      if (s == nullptr) return ErrorAt(n.at, "shape must be a list");
      auto others = ComplementOf<D>(axes, static_cast<int>(s->size()));
      if (!others.ok()) return ErrorAt(n.at, others.status().message());
      out.Set(n.op->attrs[a.spec].name, *std::move(others));
    }
    return out;
  }

  absl::StatusOr<Inferred<D>> InferredType(const OpDef& op,
                                           absl::Span<const TypeT<D>> types,
                                           const AttrsT<D>& attrs) {
    if constexpr (std::is_same_v<D, DimExpr>) {
      return InferOp(op, types, attrs, typing_.errors);
    } else {
      return InferOp(op, types, attrs);
    }
  }

  absl::Status Infer(int k, const TypeT<D>* expected) {
    const RuleNode& n = side_.nodes[k];
    const size_t demands = typing_.demands.size();
    auto given = AttrsOf(n, expected);
    if (!given.ok()) {
      typing_.demands.resize(demands);
      return given.status();
    }
    std::vector<TypeT<D>> types;
    types.reserve(n.inputs.size());
    for (RuleOperand o : n.inputs) types.push_back(*TypeOf(o));
    auto inferred = InferredType(*n.op, types, *given);
    if (!inferred.ok()) {
      return typing_.errors == Errors::kBare
                 ? inferred.status()
                 : ErrorAt(n.at, inferred.status().message());
    }
    typing_.demands.insert(typing_.demands.end(), inferred->obligations.begin(),
                           inferred->obligations.end());
    return Done(k, {std::move(inferred->outputs), std::move(inferred->attrs)});
  }

  // Types the operands that need context as `context`, then node k.
  absl::Status Try(int k, const TypeT<D>* context, const TypeT<D>* expected) {
    for (RuleOperand o : side_.nodes[k].inputs) {
      RETURN_IF_ERROR(Type(o.node, context));
    }
    return Infer(k, expected);
  }

  absl::Status TypeCall(int k, const TypeT<D>* expected) {
    const RuleNode& n = side_.nodes[k];
    std::vector<const TypeT<D>*> contexts;
    if (expected != nullptr) contexts.push_back(expected);
    bool open = false;
    for (RuleOperand o : n.inputs) {
      if (side_.nodes[o.node].needs_context &&
          typing_.nodes[o.node].types.empty()) {
        open = true;
        continue;
      }
      RETURN_IF_ERROR(Type(o.node, nullptr));
      const TypeT<D>* t = TypeOf(o);
      if (absl::c_none_of(contexts, [&](auto* c) { return *c == *t; })) {
        contexts.push_back(t);
      }
    }
    if (!open) return Infer(k, expected);
    if (contexts.empty()) return Try(k, nullptr, expected);
    absl::Status first;
    for (const TypeT<D>* context : contexts) {
      const size_t trail = trail_.size(), demands = typing_.demands.size();
      absl::Status status = Try(k, context, expected);
      if (status.ok()) return status;
      for (; trail_.size() > trail; trail_.pop_back()) {
        typing_.nodes[trail_.back()] = {};
      }
      typing_.demands.resize(demands);
      if (absl::IsUnavailable(status)) return status;
      if (first.ok()) first = status;
    }
    return first;
  }

  const RuleSide& side_;
  absl::Span<const TypeT<D>* const> tensors_;
  absl::Span<const std::optional<AttrT<D>>> attrs_;
  SideTyping<D>& typing_;
  const int last_;
  bool ended_ = false;
  std::vector<int> trail_;  // nodes in the order in which they were typed
};

}  // namespace

template <class D>
absl::Status TypeSide(const RuleSide& side,
                      absl::Span<const TypeT<D>* const> tensors,
                      absl::Span<const std::optional<AttrT<D>>> attrs,
                      absl::Span<const TypeT<D>> expected,
                      SideTyping<D>& typing, int last) {
  typing.missing.reset();
  typing.nodes.resize(side.nodes.size());
  if (last >= 0 && !typing.nodes[last].types.empty()) return absl::OkStatus();
  Typer<D> typer(side, tensors, attrs, typing, last);
  for (size_t i = 0; i < side.outputs.size(); ++i) {
    absl::Status s = typer.Type(side.outputs[i].node,
                                i < expected.size() ? &expected[i] : nullptr);
    if (typer.ended()) return absl::OkStatus();
    RETURN_IF_ERROR(s);
  }
  return absl::OkStatus();
}

template absl::Status TypeSide<int64_t>(const RuleSide&,
                                        absl::Span<const TensorType* const>,
                                        absl::Span<const std::optional<Attr>>,
                                        absl::Span<const TensorType>,
                                        SideTyping<int64_t>&, int);
template absl::Status TypeSide<DimExpr>(
    const RuleSide&, absl::Span<const SymType* const>,
    absl::Span<const std::optional<SymAttr>>, absl::Span<const SymType>,
    SideTyping<DimExpr>&, int);

}  // namespace isomer::ir

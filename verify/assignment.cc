// Facts are checked first, since they are cheap and most draws break one; then
// inference over numbers has the last word.
#include "verify/assignment.h"

#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/at_sizes.h"
#include "ops/status.h"

namespace isomer::verify {

namespace {

const TensorType* TypeOf(const ir::SideTyping<int64_t>& typing,
                         ir::RuleOperand o) {
  const auto& types = typing.nodes[o.node].types;
  return types.empty() ? nullptr : &types[o.output];
}

absl::Status CheckConditions(const ir::Rule& rule, const Assignment& a) {
  auto type = [&](ir::RuleOperand o) { return TypeOf(a.source, o); };
  for (const ir::RuleCondition& c : rule.where()) {
    if (c.kind >= ir::RuleCondition::Kind::kConst) continue;
    ASSIGN_OR_RETURN(bool holds, ir::Holds(c, {a.attrs, type, nullptr}));
    if (!holds) return absl::NotFoundError("a condition does not hold");
  }
  return absl::OkStatus();
}

// Sizes of zero are not what rules speak of.
bool HasEmpty(const ir::SideTyping<int64_t>& typing) {
  for (const auto& n : typing.nodes) {
    for (const TensorType& t : n.types) {
      if (absl::c_linear_search(t.shape, 0)) return true;
    }
  }
  return false;
}

int64_t WorkOfSide(const ir::RuleSide& side,
                   const ir::SideTyping<int64_t>& typing) {
  int64_t work = 0;
  for (size_t k = 0; k < side.nodes.size(); ++k) {
    const ir::RuleNode& n = side.nodes[k];
    const auto& typed = typing.nodes[k];
    for (const TensorType& t : typed.types) work += NumElements(t);
    if (n.kind != ir::RuleNode::Kind::kCall || typed.types.empty() ||
        n.op->flops == nullptr) {
      continue;
    }
    std::vector<TensorType> inputs;
    for (ir::RuleOperand o : n.inputs) inputs.push_back(*TypeOf(typing, o));
    work += n.op->flops(inputs, typed.types, typed.attrs);
  }
  return work;
}

}  // namespace

absl::StatusOr<Assignment> Assign(const ir::Rule& rule, int case_index,
                                  std::vector<TensorType> tensors,
                                  std::vector<std::optional<Attr>> attrs) {
  Assignment out{case_index, std::move(tensors), std::move(attrs), {}, {}};
  std::vector<const TensorType*> pointers;
  for (const TensorType& t : out.tensors) pointers.push_back(&t);
  RETURN_IF_ERROR(ir::TypeSide<int64_t>(rule.source(), pointers, out.attrs, {},
                                        out.source));
  std::vector<TensorType> expected;
  for (ir::RuleOperand o : rule.source().outputs) {
    expected.push_back(*TypeOf(out.source, o));
  }
  RETURN_IF_ERROR(ir::TypeSide<int64_t>(rule.target(), pointers, out.attrs,
                                        expected, out.target));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (*TypeOf(out.target, rule.target().outputs[i]) != expected[i]) {
      return absl::NotFoundError("the sides differ in type");
    }
  }
  if (HasEmpty(out.source) || HasEmpty(out.target)) {
    return absl::NotFoundError("a tensor is empty");
  }
  RETURN_IF_ERROR(CheckConditions(rule, out));
  return out;
}

int64_t WorkOf(const ir::Rule& rule, const Assignment& assignment) {
  return WorkOfSide(rule.source(), assignment.source) +
         WorkOfSide(rule.target(), assignment.target);
}

CaseSizes::CaseSizes(const ir::Rule& rule, int case_index)
    : rule_(rule), case_index_(case_index) {
  const ir::RuleCase& c = rule.cases()[case_index];
  std::set<std::string> names;
  auto note = [&](const DimExpr& d) { names.merge(d.Symbols()); };
  for (const SymType& t : c.tensors) absl::c_for_each(t.shape, note);
  for (const SymAttr& a : c.attrs) {
    if (auto* d = std::get_if<DimExpr>(&a)) note(*d);
    if (auto* v = std::get_if<std::vector<DimExpr>>(&a)) {
      absl::c_for_each(*v, note);
    }
    has_reals_ |= std::holds_alternative<double>(a);
  }
  for (const auto* list : {&c.facts, &c.obligations}) {
    for (const Obligation& o : *list) {
      note(o.expr);
      constraints_.push_back(o);
    }
  }
  for (const auto* side : {&c.source, &c.target}) {
    for (const ir::TypedNode<DimExpr>& n : *side) {
      for (const SymType& t : n.types) {
        for (const DimExpr& d : t.shape) {
          if (d.constant().value_or(0) >= 1) continue;
          const Obligation positive{Obligation::kNonNegative, d - 1};
          if (!absl::c_linear_search(constraints_, positive)) {
            constraints_.push_back(positive);
          }
        }
      }
    }
  }
  symbols_.assign(names.begin(), names.end());
  for (const std::string& s : symbols_) {
    is_size_.push_back(
        absl::c_linear_search(rule.tensors(), s.substr(0, s.find('.'))));
  }
}

absl::StatusOr<Assignment> CaseSizes::At(absl::Span<const int64_t> values,
                                         std::optional<double> real) const {
  const ir::RuleCase& c = rule_.cases()[case_index_];
  ir::Sizes sizes;
  for (size_t i = 0; i < symbols_.size(); ++i) sizes[symbols_[i]] = values[i];
  for (const Obligation& o : constraints_) {
    if (!ir::HoldsAtSizes(o, sizes)) {
      return absl::NotFoundError("a fact does not hold");
    }
  }
  std::vector<TensorType> tensors;
  for (const SymType& t : c.tensors) {
    ASSIGN_OR_RETURN(TensorType type, ir::AtSizes(t, sizes));
    tensors.push_back(std::move(type));
  }
  std::vector<std::optional<Attr>> attrs;
  for (const SymAttr& a : c.attrs) {
    ASSIGN_OR_RETURN(Attr value, ir::AtSizes(a, sizes));
    if (real && std::holds_alternative<double>(value)) value = *real;
    attrs.push_back(std::move(value));
  }
  return Assign(rule_, case_index_, std::move(tensors), std::move(attrs));
}

}  // namespace isomer::verify

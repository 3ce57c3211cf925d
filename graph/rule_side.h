// One side of a rule with its names bound: a small graph whose leaves are
// variables and literals; and its typing, over numbers when the side is built
// into a graph, over DimExpr when the rule is checked for all sizes.
//
// A node may leave open what its surroundings say: a literal takes its type,
// and an operator without its required `shape` (broadcast, fill) takes its
// shape, from the operand beside it, or from the output it is paired with.
#ifndef ISOMER_GRAPH_RULE_SIDE_H_
#define ISOMER_GRAPH_RULE_SIDE_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/rule_value.h"
#include "ops/op_def.h"

namespace isomer::ir {

struct RuleAttr {
  int spec = 0;  // which attribute of the operator's schema
  ValueExpr value = {};
  // The value lists the dimensions of `shape` that the attribute does not.
  bool complement = false;
};

struct RuleNode {
  enum class Kind { kVariable, kLiteral, kCall };
  Kind kind = Kind::kVariable;
  int variable = -1;          // kVariable: which tensor variable
  ValueExpr literal = {};     // kLiteral
  const OpDef* op = nullptr;  // kCall, with what follows
  std::vector<RuleOperand> inputs = {};
  std::vector<RuleAttr> attrs = {};  // those that are given
  bool needs_context = false;        // see above
  Position at = {};
};

// Operands come before their users.
struct RuleSide {
  std::vector<RuleNode> nodes;
  std::vector<RuleOperand> outputs;
};

// The attributes of a schema by which a node takes its surroundings' type:
// the index of the required list `shape`, or of the element type `dtype` of an
// operator without operands; -1 where there is none.
int ShapeAttr(const OpDef& op);
int DTypeAttrOf(const OpDef& op);

// The dimensions 0 .. rank-1 that `axes` does not name (negative ones count
// from the end); an error if one is out of range or named twice.
template <class D>
absl::StatusOr<std::vector<D>> ComplementOf(const AttrT<D>& axes, int rank);

template <class D>
struct TypedNode {
  std::vector<TypeT<D>> types;  // of the outputs; none: not typed
  AttrsT<D> attrs = {};         // kCall: complete and canonical
};

// Which variable a typing could not go on without.
struct MissingVariable {
  bool tensor = false;
  int variable = -1;
};

template <class D>
struct SideTyping {
  std::vector<TypedNode<D>> nodes;
  std::vector<Obligation> demands;         // over expressions only
  std::optional<MissingVariable> missing;  // set when Unavailable is returned
  Errors errors = Errors::kExplained;      // over expressions only
};

// Types every node that the outputs need and that has no type yet: a typing
// that a variable was missing for goes on from where it was. `tensors` and
// `attrs` hold what is known of the variables (null, nothing: not known);
// `expected` are the types of the outputs if they are known. It ends once node
// `last` is typed, if there is one. Errors start with line and column.
template <class D>
absl::Status TypeSide(const RuleSide& side,
                      absl::Span<const TypeT<D>* const> tensors,
                      absl::Span<const std::optional<AttrT<D>>> attrs,
                      absl::Span<const TypeT<D>> expected,
                      SideTyping<D>& typing, int last = -1);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_SIDE_H_

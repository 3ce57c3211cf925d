// Attribute values and conditions of a rule after names are bound, and their
// evaluation: over numbers when a rule meets a graph, over DimExpr when it is
// checked for all sizes.
#ifndef ISOMER_GRAPH_RULE_VALUE_H_
#define ISOMER_GRAPH_RULE_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/rule_syntax.h"
#include "ops/attr.h"
#include "ops/infer.h"
#include "ops/tensor_type.h"

namespace isomer::ir {

// One output of a node of a rule's side.
struct RuleOperand {
  int node = -1;
  int output = 0;
  friend bool operator==(const RuleOperand&, const RuleOperand&) = default;
};

// An attribute value. The kinds are those of ValueSyntax, except that a name
// is a variable (`variable` >= 0) or a word, `end` has become the dimension it
// stands for, and the name in dim and rank has become a node.
struct ValueExpr {
  using Kind = ValueSyntax::Kind;
  Kind kind = Kind::kInteger;
  int64_t integer = 0;
  double real = 0;
  std::string word = {};
  int variable = -1;
  RuleOperand tensor = {};
  std::vector<ValueExpr> args = {};
  Position at = {};
};

// Equality whatever the places.
bool operator==(const ValueExpr& a, const ValueExpr& b);

// The number that a size is, if it is one.
inline std::optional<int64_t> KnownSize(int64_t v) { return v; }
inline std::optional<int64_t> KnownSize(const DimExpr& v) {
  return v.constant();
}

// Calls f on `v` and all its parts.
void Visit(const ValueExpr& v, absl::FunctionRef<void(const ValueExpr&)> f);

// What evaluation reads. An attribute variable without a value, or a tensor
// without a type, makes it stop with the status Unavailable.
template <class D>
struct ValueContext {
  absl::Span<const std::optional<AttrT<D>>> attrs;
  absl::FunctionRef<const TypeT<D>*(RuleOperand)> type;
  // Receives what exact division over expressions demands; may be null.
  std::vector<Obligation>* demands = nullptr;
};

// The value; arithmetic on lists goes element by element, a scalar meets all
// elements. Sizes that leave 64 bits and inexact divisions are errors.
template <class D>
absl::StatusOr<AttrT<D>> EvalValue(const ValueExpr& v,
                                   const ValueContext<D>& context);

// The value of a literal operand: a number where it is known (over expressions
// it may hold symbols, and then there is none).
absl::StatusOr<double> EvalLiteral(const ValueExpr& v,
                                   const ValueContext<int64_t>& context);

// A bound condition; const, positive and finite speak of `tensor`.
struct RuleCondition {
  using Kind = ConditionSyntax::Kind;
  Kind kind = Kind::kEq;
  ValueExpr left = {}, right = {};
  RuleOperand tensor = {};
  Position at = {};
};

// Decides a comparison over numbers. Lists compare element by element.
absl::StatusOr<bool> Holds(const RuleCondition& c,
                           const ValueContext<int64_t>& context);

// What a comparison says about sizes: facts for proofs (!= says nothing that
// an Obligation can hold). An error if it cannot hold.
absl::Status AddFacts(const RuleCondition& c,
                      const ValueContext<DimExpr>& context,
                      std::vector<Obligation>& facts);

// Finds the values of the one variable without a value that make `v` equal to
// `target`. FailedPrecondition if there are none; Unavailable if more than one
// variable has no value.
absl::StatusOr<AttrT<int64_t>> SolveValue(const ValueExpr& v, int variable,
                                          AttrKind kind, const Attr& target,
                                          const ValueContext<int64_t>& context);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_VALUE_H_

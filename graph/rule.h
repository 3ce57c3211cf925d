// A checked rule. It exists only if its text parses, every name is bound, and
// both sides type with the same output types for some ranks of its variables.
//
// Checking goes through ranks: with every tensor variable of a rank from 0 to
// 5, every axis a number and every list of a length, both sides are typed over
// symbolic sizes (dimension 0 of x is the symbol x.0). A case in which that
// fails is dropped; a rule without a case is refused. Each case keeps its
// typing, which is what proofs start from.
#ifndef ISOMER_GRAPH_RULE_H_
#define ISOMER_GRAPH_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/rule_side.h"
#include "graph/rule_syntax.h"
#include "graph/rule_value.h"
#include "ops/registry.h"

namespace isomer::ir {

// An attribute variable.
struct RuleVariable {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  bool axis = false;  // names dimensions somewhere: typing needs its value
  // The attribute where it was met first; null for one that `choose` brings.
  const AttrSpec* spec = nullptr;
  // For `choose`: the bounds, both included. For all others not set.
  std::optional<ValueExpr> low = {}, high = {};
  Position at = {};

  bool chosen() const { return low.has_value(); }
};

// One choice of ranks, axes, list lengths and words under which both sides
// type. Equations between sizes are solved where a size can be eliminated.
struct RuleCase {
  std::vector<SymType> tensors;                    // by tensor variable
  std::vector<SymAttr> attrs;                      // by attribute variable
  std::vector<TypedNode<DimExpr>> source, target;  // by node
  // What the source's typing and the conditions give, and what is left to show
  // for the target and for equal output types.
  std::vector<Obligation> facts, obligations;
};

// Exact: values move, none is computed. Reassociating: equal over the reals.
enum class Numerics { kExact, kReassociating };

// A permutation of variables and outputs that maps the rule to itself, so that
// a match and its image are one: new position by old one.
struct Symmetry {
  std::vector<int> outputs, tensors, attrs;
};

// Bounds on checking a rule. A search that runs out keeps the cases it found,
// lower ranks first; matches lie within these.
struct RuleLimits {
  int steps = 20000;
  // No more cases than these are looked for: with one, whether there is a rule
  // at all is found out.
  size_t cases = SIZE_MAX;
};

class Rule {
 public:
  // Checks a rule read from left to right, or, if `reversed`, from right to
  // left. Errors start with line and column.
  static absl::StatusOr<Rule> Create(const RuleSyntax& syntax,
                                     bool reversed = false,
                                     const Registry& registry = Ops(),
                                     const RuleLimits& limits = {});

  // The name; a rule read from right to left has a ' at the end.
  const std::string& name() const { return name_; }
  // The rule as it is written, with source and target in this direction.
  const RuleSyntax& syntax() const { return syntax_; }

  const RuleSide& source() const { return source_; }
  const RuleSide& target() const { return target_; }
  const std::vector<std::string>& tensors() const { return tensors_; }
  const std::vector<RuleVariable>& attrs() const { return attrs_; }
  // Conditions speak of nodes of the source.
  const std::vector<RuleCondition>& where() const { return where_; }
  const std::vector<RuleCase>& cases() const { return cases_; }
  // True if tensors of these ranks with these attributes (nothing: not chosen
  // yet) are an instance of a case. What proofs say about the rule, they say
  // about its cases.
  bool Covers(absl::Span<const int> ranks,
              absl::Span<const std::optional<Attr>> attrs) const;
  // True if the steps did not do for all cases that there may be.
  bool cut_short() const { return cut_short_; }
  Numerics numerics() const { return numerics_; }
  // The symmetries other than the identity.
  const std::vector<Symmetry>& symmetries() const { return symmetries_; }

 private:
  Rule() = default;

  std::string name_;
  RuleSyntax syntax_;
  RuleSide source_, target_;
  std::vector<std::string> tensors_;
  std::vector<RuleVariable> attrs_;
  std::vector<RuleCondition> where_;
  std::vector<RuleCase> cases_;
  bool cut_short_ = false;
  Numerics numerics_ = Numerics::kReassociating;
  std::vector<Symmetry> symmetries_;
};

// The rules of a file in order; `<=>` gives two. A fold names its pair rule.
struct RuleSet {
  std::vector<Rule> rules;
  std::vector<std::string> folds;

  // The rule of that name, or null.
  const Rule* Find(absl::string_view name) const;
};

// Reads and checks a file of rules. An error names the rule it is in.
absl::StatusOr<RuleSet> ReadRules(absl::string_view text,
                                  const Registry& registry = Ops());
absl::StatusOr<RuleSet> CheckRules(const RuleFileSyntax& file,
                                   const Registry& registry = Ops(),
                                   const RuleLimits& limits = {});

// Reads and checks a rule without a name, as operators state them; `<=>` gives
// both directions.
absl::StatusOr<std::vector<Rule>> ReadRuleBody(
    absl::string_view text, const Registry& registry = Ops());

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_RULE_H_

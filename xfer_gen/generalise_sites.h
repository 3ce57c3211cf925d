// Where a rule has attributes that may become variables: sites, in groups that
// get one variable. Attributes of one name and value make a group, and so do
// all axes of one value; attributes left at their default count too.
#ifndef ISOMER_XFER_GEN_GENERALISE_SITES_H_
#define ISOMER_XFER_GEN_GENERALISE_SITES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/rule.h"
#include "graph/rule_syntax.h"
#include "xfer_gen/generalise_conditions.h"

namespace isomer::gen {

struct AttrSite {
  int call = 0;      // in the order of Calls()
  std::string attr;  // as the rule writes it
  int rank = -1;     // of what its axes are counted on; -1 if unknown
  bool given = true;
};

struct AttrGroup {
  std::string variable;  // a name that the rule does not use
  bool axis = false;
  ir::ValueSyntax value;
  std::vector<AttrSite> sites;
};

// Where the rule was seen: the type of a call's first operand, or of its result
// if it has none, and how many axes it counts. Those are the operand's, but the
// result's where one operand is repeated along new ones.
struct CallType {
  TensorType operand;
  int axes = 0;
};

// By call of a numbered rule, in the order of Calls() and from 1. A shape that
// is left out is a variable of the source that nothing gives here; read from
// right to left, that side is the target, and takes it from what is around it.
using CallTypes = std::map<int, CallType>;
CallTypes TypesOfCalls(const ir::RuleSyntax& rule, const SeenTensors& seen);

// The calls of a rule: the source's, then the target's, each side's `let`s
// first, operands after the call they belong to.
std::vector<ir::ExprSyntax*> Calls(ir::RuleSyntax& rule);

// The groups of a rule, in a fixed order.
std::vector<AttrGroup> GroupsOf(const ir::RuleSyntax& rule,
                                const CallTypes& types);

enum class AttrForm {
  kAsIs,
  kVariable,
  kFromEnd,  // an axis counted from the end
};

// The rule with each group in its form. What an axis becomes, it also becomes
// in the sizes that other attributes of its calls speak of.
ir::RuleSyntax WithForms(ir::RuleSyntax rule,
                         absl::Span<const AttrGroup> groups,
                         absl::Span<const AttrForm> forms);

// The rule with its calls numbered by position, so that the nodes of the
// checked rule tell which call they come from.
ir::RuleSyntax Numbered(ir::RuleSyntax rule);

// The rule with its tensor variables called x, y, z, ... in the order in which
// the source names them.
ir::RuleSyntax Renamed(ir::RuleSyntax rule);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_SITES_H_

// Numbers in a candidate that are sizes in disguise: where slices begin and
// end, the shapes of constants, a group for every channel. A number stands for
// the size of a leaf, for half of it, for the sum of two, or for the end of
// what is sliced.
#ifndef ISOMER_XFER_GEN_GENERALISE_SIZES_H_
#define ISOMER_XFER_GEN_GENERALISE_SIZES_H_

#include <string>
#include <vector>

#include "graph/rule_syntax.h"
#include "xfer_gen/generalise_conditions.h"
#include "xfer_gen/generalise_sites.h"

namespace isomer::gen {

// Where one number stands, and what it may stand for, the likely ones first.
struct SizeGroup {
  struct Use {
    int call = 0;  // in the order of Calls()
    std::string attr;
    int item = -1;  // of a list; -1: the attribute itself
  };
  std::vector<Use> uses;
  std::vector<ir::ValueSyntax> options;
};

// The numbers of a rule that may be sizes, in a fixed order.
std::vector<SizeGroup> SizesOf(const ir::RuleSyntax& rule,
                               const CallTypes& types, const SeenTensors& seen);

// Whether an attribute of that name says sizes: a shape, or where a slice
// begins or ends.
bool SaysSizes(const std::string& attr);

// True if a shape or a slice of the rule has a number that is, or is taken to
// be, a size that was seen: such a rule is about the sizes it was found at.
bool NamesSizes(const ir::RuleSyntax& rule, const SeenTensors& seen);

// The rule with the number of a group written as that size.
ir::RuleSyntax WithSize(ir::RuleSyntax rule, const SizeGroup& group,
                        const ir::ValueSyntax& size);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_SIZES_H_

// Numbers in a candidate that are sizes in disguise: where slices begin and
// end, the shapes of constants. A number stands for the size of a leaf, for the
// sum of two, or for the end of what is sliced.
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

// The rule with the number of a group written as that size.
ir::RuleSyntax WithSize(ir::RuleSyntax rule, const SizeGroup& group,
                        const ir::ValueSyntax& size);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_SIZES_H_

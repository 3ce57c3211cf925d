// Whether a rule about two siblings holds for any number of them.
#ifndef ISOMER_XFER_GEN_GENERALISE_FOLD_H_
#define ISOMER_XFER_GEN_GENERALISE_FOLD_H_

#include "graph/rule_syntax.h"

namespace isomer::gen {

// True if the rule, applied to two of three siblings and then to the result
// and the third, makes one of the three: it is worth a `fold`.
bool Folds(const ir::RuleSyntax& rule);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_GENERALISE_FOLD_H_

// Whether two graphs compute the same, as far as running them tells.
#ifndef ISOMER_RUNTIME_EQUAL_H_
#define ISOMER_RUNTIME_EQUAL_H_

#include "graph/graph.h"

namespace isomer::runtime {

// True if both run and their outputs agree up to the rounding of doubles, on
// random inputs.
bool EqualInDouble(const ir::Graph& a, const ir::Graph& b);

}  // namespace isomer::runtime

#endif  // ISOMER_RUNTIME_EQUAL_H_

// Making a counterexample small: first the sizes, then the values.
#ifndef ISOMER_VERIFY_SHRINK_H_
#define ISOMER_VERIFY_SHRINK_H_

#include <vector>

#include "graph/expand.h"
#include "verify/counterexample.h"
#include "verify/size_sampler.h"
#include "verify/witness.h"

namespace isomer::verify {

// Values at which the sides differ, and how.
struct Witness {
  std::vector<Tensor> values;
  Disagreement difference;
};

// The smallest counterexample that a bounded number of steps from the given
// one finds.
Counterexample Shrink(const ir::Rule& rule, Sized sized, Witness witness,
                      ir::Expansions& expansions);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_SHRINK_H_

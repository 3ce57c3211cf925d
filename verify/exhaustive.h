// Truth on all small shapes: what tests hold the prover's verdicts against.
#ifndef ISOMER_VERIFY_EXHAUSTIVE_H_
#define ISOMER_VERIFY_EXHAUSTIVE_H_

#include <cstdint>

#include "graph/rule.h"

namespace isomer::verify {

struct SmallShapes {
  int64_t most = 3;            // sizes are 1 to this, attributes 0 to this
  int64_t assignments = 4000;  // at most; beyond that, evenly spread ones
  int64_t work = 200'000;      // of one assignment
};

enum class Truth { kHolds, kFails, kEmpty };

// Tries every assignment of small sizes and attributes in every case. Empty if
// there is none.
Truth CheckSmallShapes(const ir::Rule& rule, const SmallShapes& limits = {});

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_EXHAUSTIVE_H_

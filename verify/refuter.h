// Looks for a counterexample to a rule: sizes, attributes and values that
// satisfy its conditions and on which its sides differ.
#ifndef ISOMER_VERIFY_REFUTER_H_
#define ISOMER_VERIFY_REFUTER_H_

#include <cstdint>
#include <optional>

#include "graph/rule.h"
#include "verify/counterexample.h"

namespace isomer::verify {

struct RefuteOptions {
  int assignments = 64;  // of sizes and attributes, over all cases
  uint64_t seed = 1;
  // Assignments that take more scalar operations than this are left out.
  int64_t work = 20'000;
};

struct Refutation {
  std::optional<Counterexample> found;
  int assignments = 0;  // tried
  // The sides differ in the field, but no real or integer witness was found.
  bool suspicious = false;
};

// Tries assignments until one breaks the rule, then makes it as small as it
// can.
Refutation Refute(const ir::Rule& rule, const RefuteOptions& options);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_REFUTER_H_

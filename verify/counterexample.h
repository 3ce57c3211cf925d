// What refutes a rule: sizes, attributes and values at which its sides differ.
#ifndef ISOMER_VERIFY_COUNTEREXAMPLE_H_
#define ISOMER_VERIFY_COUNTEREXAMPLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/rule.h"
#include "ops/tensor.h"

namespace isomer::verify {

// A rule at one assignment, with what both sides gave there. Everything needed
// to run it again is in it.
struct Counterexample {
  int case_index = 0;
  std::vector<TensorType> tensors;         // by tensor variable
  std::vector<std::optional<Attr>> attrs;  // by attribute variable
  std::vector<Tensor> values;              // by tensor variable, double or i64
  int output = 0;                          // the one that differs
  Tensor source, target;                   // that output
};

// The outputs of both sides at a counterexample's values, as graphs that the
// evaluator runs: in double under kReal, as models run under kRun.
struct ExampleRun {
  std::vector<Tensor> source, target;
};
absl::StatusOr<ExampleRun> RunExample(const ir::Rule& rule,
                                      const Counterexample& example,
                                      Interp interp);

// Runs a counterexample again, in double and in float; an error says why it
// does not hold.
absl::Status Replay(const ir::Rule& rule, const Counterexample& example);

// A counterexample as a worked example: shapes, values, both results.
std::string ToText(const ir::Rule& rule, const Counterexample& example);

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_COUNTEREXAMPLE_H_

// A substitution file as plain structs whose references are sound: every
// operand exists, and no operator depends on itself.
#ifndef ISOMER_GRAPH_FOREIGN_WIRE_H_
#define ISOMER_GRAPH_FOREIGN_WIRE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace isomer::ir {

// Output `output` of operator `op`; op < 0: input -op of the rule.
struct WireTensor {
  int op = 0;
  int output = 0;
};

struct WireParameter {
  int key = 0;
  int value = 0;
};

struct WireOp {
  int type = 0;
  std::vector<WireTensor> inputs = {};
  std::vector<WireParameter> parameters = {};

  // The value of a parameter, or null.
  const int* Find(int key) const {
    for (const WireParameter& p : parameters) {
      if (p.key == key) return &p.value;
    }
    return nullptr;
  }
};

struct WireOutput {
  WireTensor source, target;
};

// Operators come before their users.
struct WireRule {
  std::vector<WireOp> source, target;
  std::vector<WireOutput> outputs;
};

// Numbers of the parameters.
struct WireKey {
  static constexpr int kPoolType = 0, kNumInputs = 1, kNumOutputs = 2,
                       kKernelH = 4, kKernelW = 5, kStrideH = 6, kStrideW = 7,
                       kPad = 8, kActivation = 9, kNumDim = 10, kAxis = 11,
                       kPerm = 12, kOutShuffle = 13;
  // Unity's.
  static constexpr int kParallelDim = 15, kParallelDegree = 16;
};

// Reads a file; errors name the rule.
absl::StatusOr<std::vector<WireRule>> ParseWire(absl::string_view bytes);

std::string SerializeWire(absl::Span<const WireRule> rules);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_FOREIGN_WIRE_H_

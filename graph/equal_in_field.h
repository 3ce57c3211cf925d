// Comparing whole graphs over the 61-bit field, on random inputs and random
// weights: unequal graphs agree with a probability that is computed. Scalars,
// integers and filled tensors keep their values, because rules look at them.
#ifndef ISOMER_GRAPH_EQUAL_IN_FIELD_H_
#define ISOMER_GRAPH_EQUAL_IN_FIELD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "graph/evaluate.h"
#include "graph/graph.h"

namespace isomer::ir {

struct FieldAgreement {
  int64_t elements = 0;    // compared
  double error_bound = 0;  // how likely unequal graphs agree by chance
};

// What a constant is called where it stands as an input.
std::string WeightName(const Constant& c);

// The graph with constants as inputs, all but those that `keep` keeps.
absl::StatusOr<Graph> OpenWeights(
    const Graph& graph, const std::function<bool(const Constant&)>& keep);

// Compares two graphs with the same inputs and weights; `seed` picks them. An
// error says which output differs.
absl::StatusOr<FieldAgreement> EqualInField(const Graph& a, const Graph& b,
                                            uint64_t seed, const RunNode& run);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_EQUAL_IN_FIELD_H_

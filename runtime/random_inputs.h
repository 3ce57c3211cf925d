// Seeded random inputs for a graph, so that two models can be compared.
#ifndef ISOMER_RUNTIME_RANDOM_INPUTS_H_
#define ISOMER_RUNTIME_RANDOM_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace isomer::runtime {

// One tensor per input. Floats are standard normal; integers stay below the
// smallest dimension of the tensors they are used with, so that they are legal
// indices; booleans are coin tosses. Values depend on the seed and the input's
// name alone. An input without a type is an error.
absl::StatusOr<std::map<std::string, Tensor>> RandomInputs(
    const ir::Graph& graph, uint64_t seed);

}  // namespace isomer::runtime

#endif  // ISOMER_RUNTIME_RANDOM_INPUTS_H_

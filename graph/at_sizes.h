// What is symbolic in a case of a rule, at numbers for its symbols.
#ifndef ISOMER_GRAPH_AT_SIZES_H_
#define ISOMER_GRAPH_AT_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ops/attr.h"
#include "ops/infer.h"
#include "ops/tensor_type.h"

namespace isomer::ir {

using Sizes = std::map<std::string, int64_t>;

// Not found: an expression has no value there, which the error names.
absl::StatusOr<TensorType> AtSizes(const SymType& type, const Sizes& sizes);
absl::StatusOr<Attr> AtSizes(const SymAttr& attr, const Sizes& sizes);

// True if the condition has a value and holds.
bool HoldsAtSizes(const Obligation& o, const Sizes& sizes);

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_AT_SIZES_H_

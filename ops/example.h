// One call of an operator as text, the form of an operator's worked examples
// and of the typed calls that its test tries:
//
//   concat([1 2], [3], axis=0) = [1 2 3]       several outputs: a; b
//   conv2d(f32[2,4,5,5], f32[6,2,3,3], group=2)
//
// Attribute values are 3, [1 2], 0.5, [0.5 1] or a word.
#ifndef ISOMER_OPS_EXAMPLE_H_
#define ISOMER_OPS_EXAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/attr.h"
#include "ops/tensor.h"
#include "ops/tensor_type.h"

namespace isomer {

// A call on tensors and what it gives.
struct Example {
  std::string op;
  std::vector<Tensor> inputs;
  Attrs attrs;
  std::vector<Tensor> outputs;
};

// A call on types.
struct TypedCall {
  std::string op;
  std::vector<TensorType> inputs;
  Attrs attrs;
};

// Reads a call on tensor literals (ParseTensor) with its outputs. Errors name
// the column.
absl::StatusOr<Example> ParseExample(absl::string_view text);

// Reads a call on types (ParseType). Errors name the column.
absl::StatusOr<TypedCall> ParseTypedCall(absl::string_view text);

// Prints a typed call so that it reads back.
std::string TypedCallText(const TypedCall& call);

}  // namespace isomer

#endif  // ISOMER_OPS_EXAMPLE_H_

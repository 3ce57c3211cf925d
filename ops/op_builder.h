// A graph under construction, as code of an operator sees it that adds others.
#ifndef ISOMER_OPS_OP_BUILDER_H_
#define ISOMER_OPS_OP_BUILDER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ops/attr.h"
#include "ops/tensor_type.h"
#include "ops/value.h"

namespace isomer {

class OpBuilder {
 public:
  virtual ~OpBuilder() = default;
  virtual const TensorType& type(Value v) const = 0;
  // Adds a node and returns its first output.
  virtual absl::StatusOr<Value> Add(absl::string_view op,
                                    std::vector<Value> inputs,
                                    Attrs attrs = {}) = 0;

  // `v` reshaped, unless it has that shape already.
  absl::StatusOr<Value> Reshape(Value v, std::vector<int64_t> shape) {
    if (type(v).shape == shape) return v;
    return Add("reshape", {v}, {{"shape", std::move(shape)}});
  }
};

}  // namespace isomer

#endif  // ISOMER_OPS_OP_BUILDER_H_

// The data of a constant: shared, never copied by a graph copy, and usually
// lying in the mapped model file.
#ifndef ISOMER_GRAPH_CONSTANT_H_
#define ISOMER_GRAPH_CONSTANT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "ops/onnx_node.h"
#include "ops/tensor.h"
#include "ops/tensor_type.h"

namespace isomer::ir {

class Constant {
 public:
  // Constants up to this size are told apart by content. A larger one is told
  // apart by its name in the model, so that importing does not read weights.
  static constexpr size_t kHashedBytes = 4096;

  // A constant of little-endian elements; the size must fit the type.
  static absl::StatusOr<std::shared_ptr<const Constant>> FromBytes(
      TensorType type, SharedBytes bytes, std::string name = "");
  static std::shared_ptr<const Constant> FromTensor(const Tensor& tensor,
                                                    std::string name = "");

  const TensorType& type() const { return type_; }
  const SharedBytes& bytes() const { return bytes_; }
  // What the model calls it; "" for one that was made here.
  const std::string& name() const { return name_; }
  // Equal constants have equal digests, on any machine.
  uint64_t digest() const { return digest_; }
  bool SameAs(const Constant& other) const;

  // The elements under an interpretation.
  Tensor ToTensor(Interp interp = Interp::kRun) const;
  // The value that all elements have, if they have one.
  std::optional<double> Splat() const;

 private:
  Constant(TensorType type, SharedBytes bytes, std::string name);

  bool ByContent() const { return name_.empty() || small_; }

  TensorType type_;
  SharedBytes bytes_;
  std::string name_;
  bool small_;
  uint64_t digest_;
};

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_CONSTANT_H_

// An ONNX node without protobuf: what an operator's ONNX mapping reads and
// writes. Tensor data is shared, never copied: it usually lies in the mapped
// model file. What has no meaning to Isomer (graphs, sparse tensors, types)
// stays as its wire bytes.
#ifndef ISOMER_OPS_ONNX_NODE_H_
#define ISOMER_OPS_ONNX_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace isomer {

// Bytes together with what keeps them alive (a mapped file or a string).
struct SharedBytes {
  std::shared_ptr<const void> owner;
  absl::string_view view;

  // Bytes that live in a string of their own.
  static SharedBytes Own(std::string bytes) {
    auto s = std::make_shared<const std::string>(std::move(bytes));
    absl::string_view view = *s;
    return {std::move(s), view};
  }
  // Part of these bytes, with the same owner; `part` must lie inside `view`.
  SharedBytes Part(absl::string_view part) const { return {owner, part}; }
  bool empty() const { return view.empty(); }
};

// A tensor as ONNX gives it: little-endian elements, or strings.
struct OnnxTensorRef {
  std::string name;
  int32_t dtype = 0;  // TensorProto.DataType
  std::vector<int64_t> dims;
  SharedBytes bytes;
  std::vector<std::string> strings;  // the elements when dtype is STRING
};

// An attribute that Isomer does not look into: graphs, lists of tensors, sparse
// tensors, types, and references to a function's attributes.
struct OnnxOpaqueAttr {
  int32_t type = 0;  // AttributeProto.AttributeType
  SharedBytes wire;  // the whole AttributeProto
};

struct OnnxAttr {
  using Value = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                             std::vector<float>, std::vector<std::string>,
                             OnnxTensorRef, OnnxOpaqueAttr>;
  std::string name;
  Value value;
};

struct OnnxNode {
  std::string name;
  std::string op_type;
  std::string domain;               // "" and "ai.onnx" are both ONNX's own
  std::vector<std::string> inputs;  // "" is an omitted optional input
  std::vector<std::string> outputs;
  std::vector<OnnxAttr> attrs;
  std::string overload;  // chooses between local functions of one name

  // The attribute's value as a T, or null if it is absent or of another type.
  template <class T>
  const T* Get(absl::string_view attr) const {
    for (const OnnxAttr& a : attrs) {
      if (a.name == attr) return std::get_if<T>(&a.value);
    }
    return nullptr;
  }
  template <class T>
  T GetOr(absl::string_view attr, T otherwise) const {
    const T* value = Get<T>(attr);
    return value != nullptr ? *value : otherwise;
  }

  bool Has(absl::string_view attr) const {
    for (const OnnxAttr& a : attrs) {
      if (a.name == attr) return true;
    }
    return false;
  }
  int64_t Int(absl::string_view attr, int64_t otherwise = 0) const {
    return GetOr<int64_t>(attr, otherwise);
  }
  float Float(absl::string_view attr, float otherwise = 0) const {
    return GetOr<float>(attr, otherwise);
  }
  std::string String(absl::string_view attr, std::string otherwise = "") const {
    return GetOr<std::string>(attr, std::move(otherwise));
  }
  std::vector<int64_t> Ints(absl::string_view attr) const {
    return GetOr<std::vector<int64_t>>(attr, {});
  }
  std::vector<float> Floats(absl::string_view attr) const {
    return GetOr<std::vector<float>>(attr, {});
  }
  std::vector<std::string> Strings(absl::string_view attr) const {
    return GetOr<std::vector<std::string>>(attr, {});
  }
  // The tensor attribute, or null.
  const OnnxTensorRef* Tensor(absl::string_view attr) const {
    return Get<OnnxTensorRef>(attr);
  }

  // Whether input `i` is there (present and not the omitted "").
  bool HasInput(size_t i) const {
    return i < inputs.size() && !inputs[i].empty();
  }
  // Whether the operator is one of ONNX's own.
  bool IsOnnxDomain() const { return domain.empty() || domain == "ai.onnx"; }
};

}  // namespace isomer

#endif  // ISOMER_OPS_ONNX_NODE_H_

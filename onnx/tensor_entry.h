// A tensor of a model file: its type, and where its elements are. They stay
// where they are until someone asks for them; raw, external and packed float
// data is then given in place, other encodings are decoded.
#ifndef ISOMER_ONNX_TENSOR_ENTRY_H_
#define ISOMER_ONNX_TENSOR_ENTRY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "onnx/external_data.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

// Makes the bytes from `offset` on of data that is generated when needed. The
// offset is a multiple of 4096, so it is the start of an element.
using Fill = std::function<void(int64_t offset, absl::Span<char> out)>;

struct TensorEntry {
  enum class Place {
    kBytes,      // `data` is the elements themselves
    kTyped,      // `data` is the TensorProto; its integer fields hold them
    kStrings,    // `data` is the TensorProto; string_data holds them
    kGenerated,  // `fill` makes them
  };

  std::string name;
  int32_t dtype = 0;  // TensorProto.DataType
  std::vector<int64_t> dims;
  Place place = Place::kBytes;
  SharedBytes data;
  std::optional<ExternalRef> external;  // kBytes from a file beside the model
  Fill fill;
  SharedBytes raw;  // the whole field in its file; empty: written anew
  int order = -1;   // place among its kind in the file; -1: new
};

// A new tensor; `bytes` are little-endian elements that match dtype and dims.
TensorEntry NewTensor(std::string name, int32_t dtype,
                      std::vector<int64_t> dims, SharedBytes bytes);

// The type as text: FLOAT[2,3].
std::string TypeText(int32_t dtype, absl::Span<const int64_t> dims);

// Bits of one element; 0 for strings and types that this version of ONNX does
// not have.
int ElementBits(int32_t dtype);

// The number of elements, or an error for a negative or overflowing shape.
absl::StatusOr<int64_t> ElementCount(absl::Span<const int64_t> dims);

// The bytes that so many elements take as raw data; nullopt where ElementBits
// is 0. A size beyond 63 bits is an error.
absl::StatusOr<std::optional<int64_t>> DataSize(int32_t dtype,
                                                absl::Span<const int64_t> dims);

// Reads a TensorProto (`message` without tag and length). The data is checked
// against the shape, and external files are mapped. `origin` is the start of
// the file, for messages.
absl::StatusOr<TensorEntry> ReadTensor(const SharedBytes& message,
                                       const char* origin,
                                       ExternalFiles* external);

// The elements as little-endian bytes, as raw_data would hold them; an error
// for strings.
absl::StatusOr<SharedBytes> TensorBytes(const TensorEntry& tensor);

// The elements of a string tensor.
absl::StatusOr<std::vector<std::string>> TensorStrings(
    const TensorEntry& tensor);

// The tensor with its data at hand.
absl::StatusOr<OnnxTensorRef> TensorRef(const TensorEntry& tensor);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_TENSOR_ENTRY_H_

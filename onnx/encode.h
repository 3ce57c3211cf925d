// New and changed entries as wire bytes. Each result is a whole field of its
// GraphProto, ready to be written.
#ifndef ISOMER_ONNX_ENCODE_H_
#define ISOMER_ONNX_ENCODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/graph_entry.h"
#include "onnx/rope.h"

namespace isomer::onnx {

// A node as a field of a graph.
std::string EncodeNode(const OnnxNode& node);

// The elements of a tensor as they are written: in place, decoded or generated.
absl::StatusOr<Rope> TensorData(const TensorEntry& tensor);

// An initializer with its data as raw_data; strings are an error.
absl::StatusOr<Rope> EncodeInitializer(const TensorEntry& tensor);

// An initializer whose data lies in a file beside the model. The other fields
// of an initializer that came from a file are kept.
absl::StatusOr<std::string> EncodeExternal(const TensorEntry& tensor,
                                           const ExternalRef& ref);

// A value as the field `number` of a graph (input, output or value_info).
std::string EncodeValue(const ValueEntry& value, int number);

// The node with other inputs and outputs, everything else as it was in the
// file, including what this version of ONNX does not know.
NodeEntry Rewired(const NodeEntry& entry, std::vector<std::string> inputs,
                  std::vector<std::string> outputs);

// The value with other dimensions, everything else as it was. An error if it is
// not a dense tensor.
absl::StatusOr<ValueEntry> WithDims(const ValueEntry& value,
                                    std::vector<Dim> dims);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_ENCODE_H_

// For tests: models from a few lines of text, and models as text. A line is
// one of
//   ir 8                       opset 17
//   in x FLOAT[N,4]            out y          info h FLOAT[?,4]
//   init w FLOAT[2,2]          zeros as raw_data
//   y = Relu(x)                a node; names inside may be empty
//   y = If(c) { t = Neg(x) }   a node whose attribute "body" is a graph of
//                              these nodes, with the last value as output
#ifndef ISOMER_ONNX_MODEL_TESTING_H_
#define ISOMER_ONNX_MODEL_TESTING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "onnx/model.h"
#include "onnx_ml.pb.h"

namespace isomer::onnx {

// The model that `text` describes. Lines it cannot read fail the test.
onnx_pb::ModelProto ProtoFromText(absl::string_view text);

// Its bytes.
std::string BytesFromText(absl::string_view text);

// A graph as such lines, each with a mark: '=' for entries kept from the file,
// '+' for new ones.
std::string TextOf(const GraphEntry& graph);

// Reads bytes as a model without a folder; "ok" or the error.
std::string ReadResult(const std::string& bytes);

// A folder of its own for the running test, empty.
std::string TestFolder();

// The contents of a file, and a file with the given contents.
std::string FileBytes(const std::string& path);
void WriteBytes(const std::string& path, absl::string_view bytes);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_MODEL_TESTING_H_

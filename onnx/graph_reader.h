// Reads the messages of a graph from the wire: nodes with their attributes and
// subgraphs, values, tensors. Payloads stay in the file.
#ifndef ISOMER_ONNX_GRAPH_READER_H_
#define ISOMER_ONNX_GRAPH_READER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "onnx/external_data.h"
#include "onnx/graph_entry.h"
#include "onnx/wire.h"

namespace isomer::onnx {

// What reading needs beside the message: the file it is part of, the files
// beside it, and how deeply the message is nested in graphs.
struct Source {
  SharedBytes file;
  ExternalFiles* external = nullptr;
  int depth = 0;

  const char* origin() const { return file.view.data(); }
};

// Reads a NodeProto, the `position`-th of its graph. Subgraphs are checked, and
// their captured names collected.
absl::StatusOr<NodeEntry> ReadNode(absl::string_view message, int64_t position,
                                   const Source& source);

// Reads a GraphProto; names are checked only within its subgraphs.
absl::StatusOr<GraphEntry> ReadGraph(absl::string_view message,
                                     const Source& source);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_GRAPH_READER_H_

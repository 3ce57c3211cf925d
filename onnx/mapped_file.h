// A file mapped read-only into memory. Whoever holds bytes of it also holds the
// mapping, so tensor data can stay where it is for as long as it is needed.
// The mapping survives renames over the file; a file that another program
// truncates meanwhile is outside what can be guarded against.
#ifndef ISOMER_ONNX_MAPPED_FILE_H_
#define ISOMER_ONNX_MAPPED_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

// Maps a regular file and gives its bytes. Errors name the file.
absl::StatusOr<SharedBytes> MapFile(const std::string& path);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_MAPPED_FILE_H_

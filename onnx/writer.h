// Writes a model. Entries that came from a file and were not edited are copied
// byte for byte, straight from the mapping; a model that nobody edited gives
// the same file again.
//
// External data: kept tensors go on to refer to the files they came with. If
// the model is written to another folder, those files are copied beside it
// under the same relative names; a different file that is already there is
// never replaced, but an error. When the model would exceed 2 GB, initializers
// move to a data file of its own, OUT.data.
#ifndef ISOMER_ONNX_WRITER_H_
#define ISOMER_ONNX_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/model.h"

namespace isomer::onnx {

struct WriteOptions {
  // Above this size of the model file, initializers become external data.
  int64_t max_model_bytes = kMaxModelBytes;
};

// Writes a model to `path`. All files appear complete or not at all.
absl::Status WriteModel(const Model& model, const std::string& path,
                        const WriteOptions& options = {});

// The bytes of the model file; references to external data stay as they are.
absl::StatusOr<std::string> SerializeModel(const Model& model);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_WRITER_H_

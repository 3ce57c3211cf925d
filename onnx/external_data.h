// External data: the files beside a model that hold tensors too large for it.
// A location is a relative path; a file is used only if it truly lies inside
// the model's folder, so a model cannot make a program read other files.
#ifndef ISOMER_ONNX_EXTERNAL_DATA_H_
#define ISOMER_ONNX_EXTERNAL_DATA_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

// Where a tensor's data lies outside the model file.
struct ExternalRef {
  std::string location;  // relative to the model's folder
  int64_t offset = 0;
  int64_t length = 0;
};

// The folder of a model's path: "." for a bare name.
std::string FolderOf(const std::string& path);

// The files beside one model, each mapped once.
class ExternalFiles {
 public:
  // `model_path` may be empty: then there is no folder, and no file is found.
  explicit ExternalFiles(const std::string& model_path);

  // Maps the file at `location`. Refuses absolute paths, "..", and links that
  // lead out of the folder.
  absl::StatusOr<SharedBytes> Open(const std::string& location);

 private:
  std::string folder_;
  std::map<std::string, SharedBytes> open_;
};

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_EXTERNAL_DATA_H_

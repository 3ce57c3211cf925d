// A file that appears complete or not at all: it is written under another name
// beside its place and renamed when it is done.
#ifndef ISOMER_ONNX_OUTPUT_FILE_H_
#define ISOMER_ONNX_OUTPUT_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::onnx {

class OutputFile {
 public:
  // Opens a temporary file beside `path`. What is at `path` now, if anything,
  // must be a regular file.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(
      const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Removes the temporary file, unless it has been renamed.
  ~OutputFile();

  absl::Status Write(absl::string_view bytes);
  // Closes the file, so that all errors of writing are known.
  absl::Status Finish();
  // Renames the finished file to its place.
  absl::Status Commit();

 private:
  OutputFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

  std::string path_;
  std::string temporary_;  // "" once renamed
  int fd_;                 // -1 once closed
};

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_OUTPUT_FILE_H_

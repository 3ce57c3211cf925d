// Reading and writing of whole files.
#include "tools/files.h"

#include <memory>

#include "onnx/mapped_file.h"
#include "onnx/output_file.h"
#include "ops/status.h"

namespace isomer::cli {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  ASSIGN_OR_RETURN(SharedBytes bytes, onnx::MapFile(path));
  return std::string(bytes.view);
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<onnx::OutputFile> file,
                   onnx::OutputFile::Create(path));
  RETURN_IF_ERROR(file->Write(bytes));
  RETURN_IF_ERROR(file->Finish());
  return file->Commit();
}

}  // namespace isomer::cli

// The textual checks give good messages; the check that counts compares the
// resolved path with the resolved folder, after every link was followed.
#include "onnx/external_data.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_split.h"
#include "onnx/mapped_file.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

namespace fs = std::filesystem;

absl::Status CheckLocation(const std::string& location) {
  if (location.empty()) return Invalid("external data has no location");
  if (location.find('\0') != std::string::npos) {
    return Invalid("external data location holds a zero byte");
  }
  if (location[0] == '/') {
    return Invalid("external data '", location,
                   "' is an absolute path; it must lie in the model's folder");
  }
  for (absl::string_view part : absl::StrSplit(location, '/')) {
    if (part == "..") {
      return Invalid("external data '", location,
                     "' leads out of the model's folder");
    }
  }
  return absl::OkStatus();
}

bool IsInside(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != ".." &&
         *relative.begin() != ".";
}

}  // namespace

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

ExternalFiles::ExternalFiles(const std::string& model_path)
    : folder_(model_path.empty() ? "" : FolderOf(model_path)) {}

absl::StatusOr<SharedBytes> ExternalFiles::Open(const std::string& location) {
  if (const auto it = open_.find(location); it != open_.end()) {
    return it->second;
  }
  RETURN_IF_ERROR(CheckLocation(location));
  if (folder_.empty()) {
    return Invalid("external data '", location,
                   "' cannot be found: the model has no folder");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error) return Invalid("folder '", folder_, "': ", error.message());
  const fs::path file = fs::canonical(folder / location, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("external data '", location, "': ", error.message()));
  }
  if (!IsInside(file, folder)) {
    return Invalid("external data '", location,
                   "' is a link that leads out of the model's folder");
  }
  ASSIGN_OR_RETURN(SharedBytes bytes, MapFile(file.string()));
  return open_[location] = bytes;
}

}  // namespace isomer::onnx

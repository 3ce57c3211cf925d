// Whole files as strings.
#ifndef ISOMER_TOOLS_FILES_H_
#define ISOMER_TOOLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace isomer::cli {

// Reads a file.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes a file, which appears complete or not at all.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_FILES_H_

// Just enough JSON to report results: values are built and printed.
#ifndef ISOMER_TOOLS_JSON_H_
#define ISOMER_TOOLS_JSON_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace isomer::cli {

class Json {
 public:
  static Json Object();
  static Json Array();
  Json(absl::string_view text);  // NOLINT: values convert
  Json(const char* text) : Json(absl::string_view(text)) {}         // NOLINT
  Json(const std::string& text) : Json(absl::string_view(text)) {}  // NOLINT
  Json(bool value) : text_(value ? "true" : "false") {}             // NOLINT
  Json(int value) : Json(static_cast<int64_t>(value)) {}            // NOLINT
  Json(int64_t value);                                              // NOLINT
  Json(double value);  // NOLINT: null if it is not finite

  // Adds a member to an object, or an item to an array.
  Json& Set(absl::string_view key, Json value);
  Json& Add(Json value);

  // The text, with two blanks of indentation a level.
  std::string ToString(int indent = 0) const;

 private:
  enum class Kind { kScalar, kObject, kArray };
  Json() = default;

  Kind kind_ = Kind::kScalar;
  std::string text_;
  std::vector<std::pair<std::string, Json>> items_;
};

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_JSON_H_

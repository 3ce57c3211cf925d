// Printing of JSON.
#include "tools/json.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/attr.h"

namespace isomer::cli {

namespace {

std::string Quoted(absl::string_view s) {
  std::string out = "\"";
  for (unsigned char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      absl::StrAppend(&out, "\\u", absl::Hex(c, absl::kZeroPad4));
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

}  // namespace

Json Json::Object() {
  Json j;
  j.kind_ = Kind::kObject;
  return j;
}

Json Json::Array() {
  Json j;
  j.kind_ = Kind::kArray;
  return j;
}

Json::Json(absl::string_view text) : text_(Quoted(text)) {}
Json::Json(int64_t value) : text_(absl::StrCat(value)) {}
Json::Json(double value)
    : text_(std::isfinite(value) ? DoubleText(value) : "null") {}

Json& Json::Set(absl::string_view key, Json value) {
  items_.emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::Add(Json value) { return Set("", std::move(value)); }

std::string Json::ToString(int indent) const {
  if (kind_ == Kind::kScalar) return text_;
  const bool object = kind_ == Kind::kObject;
  if (items_.empty()) return object ? "{}" : "[]";
  const std::string pad(indent + 2, ' ');
  std::string out = object ? "{\n" : "[\n";
  for (size_t i = 0; i < items_.size(); ++i) {
    absl::StrAppend(&out, pad, object ? Quoted(items_[i].first) + ": " : "",
                    items_[i].second.ToString(indent + 2),
                    i + 1 < items_.size() ? ",\n" : "\n");
  }
  return absl::StrCat(out, std::string(indent, ' '), object ? "}" : "]");
}

}  // namespace isomer::cli

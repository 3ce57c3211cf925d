#include "api/rule_files.h"

#include "absl/strings/match.h"
#include "onnx/mapped_file.h"
#include "ops/status.h"

namespace isomer {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  ASSIGN_OR_RETURN(SharedBytes bytes, onnx::MapFile(path));
  return std::string(bytes.view);
}

absl::StatusOr<cost::Target> FindTarget(const std::string& name) {
  if (!absl::StrContains(name, '/') && !absl::StrContains(name, '.')) {
    return cost::Target::Named(name);
  }
  ASSIGN_OR_RETURN(std::string text, ReadText(name));
  absl::StatusOr<cost::Target> target = cost::Target::Parse(text);
  if (!target.ok()) return Prefixed(absl::StrCat(name, ": "), target.status());
  return target;
}

absl::StatusOr<search::RuleBook> BookOf(const std::string& path,
                                        std::vector<std::string>& refused) {
  if (path.empty()) return search::RuleBook::BuiltIn(refused);
  ASSIGN_OR_RETURN(std::string text, ReadText(path));
  absl::StatusOr<search::RuleBook> book =
      search::RuleBook::FromText(text, refused);
  if (!book.ok()) return Prefixed(absl::StrCat(path, ":"), book.status());
  return book;
}

}  // namespace isomer

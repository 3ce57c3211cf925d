#include "api/rule_files.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

namespace {

absl::StatusOr<search::RuleBook> BookOfOne(const std::string& path,
                                           std::vector<std::string>& refused) {
  if (path == "builtin") return search::RuleBook::BuiltIn(refused);
  ASSIGN_OR_RETURN(std::string text, ReadText(path));
  absl::StatusOr<search::RuleBook> book =
      search::RuleBook::FromText(text, refused);
  if (!book.ok()) return Prefixed(absl::StrCat(path, ":"), book.status());
  return book;
}

}  // namespace

absl::StatusOr<search::RuleBook> BookOf(const std::string& paths,
                                        std::vector<std::string>& refused) {
  if (paths.empty()) return search::RuleBook::BuiltIn(refused);
  search::RuleBook all;
  for (absl::string_view path : absl::StrSplit(paths, ',')) {
    std::vector<std::string> more;
    ASSIGN_OR_RETURN(const search::RuleBook book,
                     BookOfOne(std::string(path), more));
    refused.insert(refused.end(), more.begin(), more.end());
    const bool first = all.size() == 0;
    for (const search::BookRule& rule : book.rules()) {
      // Each book has the definitions of operators.
      if (first || !rule.definition) all.Add(rule);
    }
  }
  return all;
}

}  // namespace isomer

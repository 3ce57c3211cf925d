// Targets and rules by name or file, as the options of a call name them.
#ifndef ISOMER_API_RULE_FILES_H_
#define ISOMER_API_RULE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost_model/target.h"
#include "search/rule_book.h"

namespace isomer {

// Reads a whole file.
absl::StatusOr<std::string> ReadText(const std::string& path);

// The target of that name, or that of a file.
absl::StatusOr<cost::Target> FindTarget(const std::string& name);

// The book of the rules in files, with commas between their paths; "builtin"
// and
// "" stand for the rules that come with Isomer. Rules that may not be used are
// named in `refused`.
absl::StatusOr<search::RuleBook> BookOf(const std::string& paths,
                                        std::vector<std::string>& refused);

}  // namespace isomer

#endif  // ISOMER_API_RULE_FILES_H_

// Command lines: positional arguments and flags that a verb declares. A flag
// that is not declared, lacks its value or does not parse is an error that
// names it.
#ifndef ISOMER_TOOLS_ARGS_H_
#define ISOMER_TOOLS_ARGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace isomer::cli {

struct Flag {
  std::string name;   // without the dashes
  std::string value;  // how help calls its value; "" for a switch
  std::string help;
};

class Args {
 public:
  // Parses what follows the verb. `positionals` are the names of the arguments
  // that must be given, in order; the last may end in "..." (one or more) or
  // stand in brackets (none or one).
  static absl::StatusOr<Args> Parse(absl::Span<const std::string> words,
                                    absl::Span<const Flag> flags,
                                    absl::Span<const std::string> positionals);

  const std::vector<std::string>& positionals() const { return positionals_; }
  bool Has(absl::string_view flag) const;
  // All values of a flag that may be repeated.
  std::vector<std::string> All(absl::string_view flag) const;
  std::string String(absl::string_view flag, std::string otherwise = "") const;
  absl::StatusOr<int64_t> Int(absl::string_view flag, int64_t otherwise,
                              int64_t low, int64_t high) const;
  absl::StatusOr<double> Real(absl::string_view flag, double otherwise) const;
  // "10s", "500ms", "1h30m"; not negative, and not zero if that has no meaning.
  enum class Zero { kAllowed, kRefused };
  absl::StatusOr<absl::Duration> Time(absl::string_view flag,
                                      absl::Duration otherwise,
                                      Zero zero = Zero::kAllowed) const;

 private:
  std::vector<std::string> positionals_;
  std::map<std::string, std::vector<std::string>, std::less<>> flags_;
};

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_ARGS_H_

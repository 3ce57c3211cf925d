// Verdicts that were reached before, kept in a file that only grows: a line per
// verdict, written at once, so that a run that is killed loses none.
#ifndef ISOMER_TOOLS_VERDICT_CACHE_H_
#define ISOMER_TOOLS_VERDICT_CACHE_H_

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/rule_report.h"

namespace isomer::cli {

// Safe to use from several threads.
class VerdictCache {
 public:
  // Reads the file if it is there and opens it to append. Lines that are cut
  // short are skipped.
  static absl::StatusOr<std::unique_ptr<VerdictCache>> Open(
      const std::string& path);
  ~VerdictCache() { std::fclose(file_); }

  // The verdict under this hash; what is unknown counts only if it was tried
  // for as long as now.
  std::optional<RuleReport> Find(const std::string& hash,
                                 absl::Duration timeout) const;
  void Add(const RuleReport& report, absl::Duration timeout);

 private:
  struct Entry {
    RuleReport report;
    absl::Duration timeout;
  };
  explicit VerdictCache(std::FILE* file) : file_(file) {}

  mutable std::mutex mutex_;
  std::FILE* file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace isomer::cli

#endif  // ISOMER_TOOLS_VERDICT_CACHE_H_

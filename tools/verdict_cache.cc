// Fields are separated by tabs and written as C escapes, so that a text of
// several lines is one field of one line. The last field is a full stop: a line
// without it was not written to its end.
#include "tools/verdict_cache.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ops/status.h"

namespace isomer::cli {

namespace {

using verify::Outcome;

std::string LineOf(const RuleReport& r, absl::Duration timeout) {
  std::vector<std::string> facts;
  for (const std::string& f : r.facts) facts.push_back(absl::CEscape(f));
  return absl::StrJoin(
      std::vector<std::string>{
          r.hash, std::string(verify::OutcomeName(r.outcome)),
          absl::StrCat(absl::ToInt64Milliseconds(timeout)),
          absl::StrCat(absl::ToInt64Microseconds(r.time)),
          absl::StrCat(r.cases), absl::StrCat(r.solver_calls),
          absl::StrCat(r.assignments), absl::CEscape(r.reason),
          absl::CEscape(r.counterexample), absl::StrJoin(facts, ";"), "."},
      "\t");
}

std::optional<Outcome> ParseOutcome(absl::string_view name) {
  for (Outcome o : {Outcome::kProved, Outcome::kRefuted, Outcome::kUnknown}) {
    if (name == verify::OutcomeName(o)) return o;
  }
  return std::nullopt;
}

// Reads a line; the timeout is in `timeout`.
std::optional<RuleReport> ParseLine(const std::string& line,
                                    absl::Duration& timeout) {
  const std::vector<std::string> f = absl::StrSplit(line, '\t');
  if (f.size() != 11 || f[10] != ".") return std::nullopt;
  RuleReport r;
  const std::optional<Outcome> outcome = ParseOutcome(f[1]);
  int64_t timeout_ms = 0, time_us = 0;
  if (!outcome || !absl::SimpleAtoi(f[2], &timeout_ms) ||
      !absl::SimpleAtoi(f[3], &time_us) || !absl::SimpleAtoi(f[4], &r.cases) ||
      !absl::SimpleAtoi(f[5], &r.solver_calls) ||
      !absl::SimpleAtoi(f[6], &r.assignments) ||
      !absl::CUnescape(f[7], &r.reason) ||
      !absl::CUnescape(f[8], &r.counterexample)) {
    return std::nullopt;
  }
  for (absl::string_view fact : absl::StrSplit(f[9], ';', absl::SkipEmpty())) {
    std::string text;
    if (!absl::CUnescape(fact, &text)) return std::nullopt;
    r.facts.push_back(std::move(text));
  }
  r.hash = f[0];
  r.outcome = *outcome;
  r.time = absl::Microseconds(time_us);
  r.cached = true;
  timeout = absl::Milliseconds(timeout_ms);
  return r;
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerdictCache>> VerdictCache::Open(
    const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) {
    return Invalid("cannot open the cache '", path, "': ", strerror(errno));
  }
  std::unique_ptr<VerdictCache> cache(new VerdictCache(file));
  std::ifstream in(path, std::ios::binary);
  std::string line;
  bool whole = true;
  while (std::getline(in, line)) {
    whole = !in.eof();
    absl::Duration timeout;
    if (auto r = ParseLine(line, timeout)) {
      const std::string hash = r->hash;
      cache->entries_[hash] = {*std::move(r), timeout};
    }
  }
  // A line that was cut short must not swallow the next one.
  if (!whole) std::fputc('\n', file);
  return cache;
}

std::optional<RuleReport> VerdictCache::Find(const std::string& hash,
                                             absl::Duration timeout) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = entries_.find(hash);
  if (it == entries_.end()) return std::nullopt;
  const Entry& e = it->second;
  if (e.report.outcome == Outcome::kUnknown && e.timeout < timeout) {
    return std::nullopt;
  }
  return e.report;
}

void VerdictCache::Add(const RuleReport& report, absl::Duration timeout) {
  const std::string line = absl::StrCat(LineOf(report, timeout), "\n");
  std::lock_guard<std::mutex> lock(mutex_);
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

}  // namespace isomer::cli

// Reading, writing and merging profiles.
#include "cost_model/profile.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cost_model/builtin_targets.h"
#include "ops/status.h"

namespace isomer::cost {

namespace {

constexpr double kMaxMicroseconds = 1e9;  // a quarter of an hour

bool IsDate(absl::string_view s) {
  if (s.size() != 10) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? s[i] != '-' : !absl::ascii_isdigit(s[i])) return false;
  }
  return true;
}

absl::Status CheckSignature(absl::string_view s) {
  if (s.empty() || s != absl::StripAsciiWhitespace(s) ||
      s.find_first_of("|#\n") != absl::string_view::npos) {
    return Invalid("'", s, "' is no signature: it is empty, or has '|', '#' ",
                   "or a newline in it, or blanks around it");
  }
  return absl::OkStatus();
}

absl::Status CheckMeasurement(const Measurement& m) {
  if (m.time_ps <= 0) return Invalid("the time must be more than zero");
  if (!IsDate(m.date)) {
    return Invalid("'", m.date, "' is not a day like 2026-11-15");
  }
  if (m.by.empty() || m.by.find_first_of(" \t\n|#") != std::string::npos) {
    return Invalid("'", m.by, "' is not one word for who measured");
  }
  if (m.what.find_first_of("\n|#") != std::string::npos) {
    return Invalid("'", m.what, "' has '|', '#' or a newline in it");
  }
  return absl::OkStatus();
}

// "3.72 2026-11-15 who with what"
absl::StatusOr<Measurement> ParseMeasurement(absl::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::MaxSplits(' ', 3));
  if (words.size() != 4) {
    return Invalid("after '|' come a time, a day, who, and with what");
  }
  double us = 0;
  if (!absl::SimpleAtod(words[0], &us) || !(us > 0 && us < kMaxMicroseconds)) {
    return Invalid("'", words[0], "' is not a time in microseconds");
  }
  return Measurement{std::llround(us * 1e6), words[1], words[2], words[3]};
}

}  // namespace

absl::StatusOr<Profile> Profile::Parse(absl::string_view text) {
  Profile p;
  int number = 0;
  std::string last;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    auto fail = [number](const absl::Status& s) {
      return Prefixed(absl::StrCat("line ", number, ": "), s);
    };
    const absl::string_view line =
        absl::StripAsciiWhitespace(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    if (p.target_.empty()) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      if (words.size() != 2 || words[0] != "profile") {
        return fail(Invalid("a profile starts with 'profile TARGET'"));
      }
      p.target_ = words[1];
      continue;
    }
    const size_t bar = line.find(" | ");
    if (bar == absl::string_view::npos) {
      return fail(Invalid("there is no ' | ' after the signature"));
    }
    const absl::string_view signature = line.substr(0, bar);
    if (!last.empty() && signature <= last) {
      return fail(Invalid("'", signature, "' comes after '", last,
                          "'; signatures are sorted, each once"));
    }
    last = std::string(signature);
    auto m = ParseMeasurement(line.substr(bar + 3));
    if (!m.ok()) return fail(m.status());
    if (absl::Status s = p.Add(last, *std::move(m)); !s.ok()) return fail(s);
  }
  if (p.target_.empty()) return Invalid("it has no line 'profile TARGET'");
  return p;
}

absl::StatusOr<Profile> Profile::Builtin(absl::string_view target) {
  for (const BuiltinTarget& t : BuiltinTargets()) {
    if (t.name != target) continue;
    const absl::string_view text = absl::StripAsciiWhitespace(t.profile);
    if (!text.empty()) return Parse(text);
  }
  return Profile(target);
}

std::string Profile::ToText() const {
  std::string text = absl::StrCat("profile ", target_, "\n");
  for (const auto& [signature, m] : entries_) {
    absl::StrAppendFormat(&text, "%s | %.6g %s %s %s\n", signature,
                          static_cast<double>(m.time_ps) * 1e-6, m.date, m.by,
                          m.what);
  }
  return text;
}

const Measurement* Profile::Find(absl::string_view signature) const {
  const auto it = entries_.find(signature);
  return it == entries_.end() ? nullptr : &it->second;
}

absl::Status Profile::Add(absl::string_view signature, Measurement m) {
  RETURN_IF_ERROR(CheckSignature(signature));
  if (absl::Status s = CheckMeasurement(m); !s.ok()) {
    return Prefixed(absl::StrCat(signature, ": "), s);
  }
  entries_.insert_or_assign(std::string(signature), std::move(m));
  return absl::OkStatus();
}

absl::Status Profile::Merge(const Profile& other) {
  if (other.target_ != target_) {
    return Invalid("a profile of ", other.target_, " is not one of ", target_);
  }
  for (const auto& [signature, theirs] : other.entries_) {
    Measurement& ours = entries_.emplace(signature, theirs).first->second;
    if (theirs.date > ours.date ||
        (theirs.date == ours.date && theirs.time_ps < ours.time_ps)) {
      ours = theirs;
    }
  }
  return absl::OkStatus();
}

}  // namespace isomer::cost

// Parsing of command lines: --flag value, --flag=value, -- ends the flags.
#include "tools/args.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"

namespace isomer::cli {

namespace {

absl::Status CheckPositionals(const std::vector<std::string>& given,
                              absl::Span<const std::string> wanted) {
  const bool optional = !wanted.empty() && absl::StartsWith(wanted.back(), "[");
  const bool open = !wanted.empty() && absl::EndsWith(wanted.back(), "...");
  if (given.size() == wanted.size() || (open && given.size() > wanted.size()) ||
      (optional && given.size() + 1 == wanted.size())) {
    return absl::OkStatus();
  }
  if (given.size() < wanted.size()) {
    return Invalid("argument ", wanted[given.size()], " is missing");
  }
  return Invalid("unexpected argument '", given[wanted.size()], "'");
}

}  // namespace

absl::StatusOr<Args> Args::Parse(absl::Span<const std::string> words,
                                 absl::Span<const Flag> flags,
                                 absl::Span<const std::string> positionals) {
  Args args;
  bool only_positionals = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_positionals || !absl::StartsWith(word, "--")) {
      args.positionals_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_positionals = true;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name =
        word.substr(2, equals == std::string::npos ? equals : equals - 2);
    auto flag = std::find_if(flags.begin(), flags.end(),
                             [&](const Flag& f) { return f.name == name; });
    if (flag == flags.end()) return Invalid("there is no flag --", name);
    std::string value;
    if (flag->value.empty()) {
      if (equals != std::string::npos) {
        return Invalid("flag --", name, " takes no value");
      }
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      return Invalid("flag --", name, " needs a value: ", flag->value);
    }
    args.flags_[name].push_back(std::move(value));
  }
  RETURN_IF_ERROR(CheckPositionals(args.positionals_, positionals));
  return args;
}

bool Args::Has(absl::string_view flag) const {
  return flags_.find(flag) != flags_.end();
}

std::vector<std::string> Args::All(absl::string_view flag) const {
  auto it = flags_.find(flag);
  return it == flags_.end() ? std::vector<std::string>() : it->second;
}

std::string Args::String(absl::string_view flag, std::string otherwise) const {
  auto it = flags_.find(flag);
  return it == flags_.end() ? std::move(otherwise) : it->second.back();
}

absl::StatusOr<int64_t> Args::Int(absl::string_view flag, int64_t otherwise,
                                  int64_t low, int64_t high) const {
  if (!Has(flag)) return otherwise;
  int64_t value = 0;
  if (!absl::SimpleAtoi(String(flag), &value) || value < low || value > high) {
    return Invalid("flag --", flag, " is '", String(flag),
                   "'; expected an integer in [", low, ", ", high, "]");
  }
  return value;
}

absl::StatusOr<double> Args::Real(absl::string_view flag,
                                  double otherwise) const {
  if (!Has(flag)) return otherwise;
  double value = 0;
  if (!absl::SimpleAtod(String(flag), &value) || !(value >= 0)) {
    return Invalid("flag --", flag, " is '", String(flag),
                   "'; expected a number of 0 or more");
  }
  return value;
}

absl::StatusOr<absl::Duration> Args::Time(absl::string_view flag,
                                          absl::Duration otherwise,
                                          Zero zero) const {
  if (!Has(flag)) return otherwise;
  absl::Duration value;
  if (!absl::ParseDuration(String(flag), &value) ||
      value < absl::ZeroDuration() ||
      (value == absl::ZeroDuration() && zero == Zero::kRefused)) {
    return Invalid("flag --", flag, " is '", String(flag),
                   "'; expected a time such as 10s, 500ms or 15m");
  }
  return value;
}

}  // namespace isomer::cli

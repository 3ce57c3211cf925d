// Printing of verdicts.
#include "tools/rule_report.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "verify/z3.h"

namespace isomer::cli {

namespace {

using verify::Outcome;

constexpr std::array<Outcome, 4> kOutcomes = {
    Outcome::kProved, Outcome::kRefuted, Outcome::kUnknown,
    Outcome::kIllFormed};

int Count(absl::Span<const RuleReport> reports, Outcome outcome) {
  return static_cast<int>(
      std::count_if(reports.begin(), reports.end(),
                    [&](const RuleReport& r) { return r.outcome == outcome; }));
}

std::string Indented(const std::string& text) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty()) absl::StrAppend(&out, "    ", line, "\n");
  }
  return out;
}

Json RowJson(const RuleReport& r) {
  Json facts = Json::Array(), row = Json::Object();
  for (const std::string& f : r.facts) facts.Add(f);
  row.Set("name", r.name)
      .Set("verdict", verify::OutcomeName(r.outcome))
      .Set("scope", r.outcome == Outcome::kProved ? "all sizes" : "")
      .Set("time_ms", absl::ToDoubleMilliseconds(r.time))
      .Set("facts", std::move(facts))
      .Set("parametric", r.parametric)
      .Set("cases", r.cases)
      .Set("z3_calls", r.solver_calls)
      .Set("assignments", r.assignments)
      .Set("counterexample", r.counterexample)
      .Set("reason", r.reason)
      .Set("hash", r.hash)
      .Set("cached", r.cached);
  if (!r.degrees.empty()) row.Set("degrees", r.degrees);
  if (!r.audit.empty()) row.Set("audit", r.audit);
  if (r.follows) row.Set("follows_from_axioms", *r.follows);
  if (!r.condition.empty()) row.Set("condition", r.condition);
  return row;
}

// What one rule took, of those that were verified now: those that leave
// attributes free, or the others. "" if there are none.
std::string TimesText(absl::Span<const RuleReport> reports, bool parametric) {
  std::vector<double> times;
  for (const RuleReport& r : reports) {
    if (r.cached || r.outcome == Outcome::kIllFormed) continue;
    if (r.parametric != parametric) continue;
    times.push_back(absl::ToDoubleMilliseconds(r.time));
  }
  if (times.empty()) return "";
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * (times.size() - 1))];
  };
  return absl::StrFormat(
      "%-12s %6d, each p50 %.2f ms, p99 %.1f ms, worst %.1f ms\n",
      parametric ? "parametric" : "others", times.size(), at(0.5), at(0.99),
      times.back());
}

}  // namespace

std::string ReportText(const RuleReport& r) {
  std::string out =
      absl::StrFormat("%-10s %s", verify::OutcomeName(r.outcome), r.name);
  if (r.cached) {
    absl::StrAppend(&out, " (cached)");
  } else if (r.outcome != Outcome::kIllFormed) {
    absl::StrAppendFormat(&out, " (%.1f ms)",
                          absl::ToDoubleMilliseconds(r.time));
  }
  if (!r.degrees.empty()) absl::StrAppend(&out, "; degrees: ", r.degrees);
  if (!r.audit.empty()) absl::StrAppend(&out, "; audit: ", r.audit);
  if (!r.reason.empty()) absl::StrAppend(&out, ": ", r.reason);
  out += "\n";
  if (!r.counterexample.empty()) out += Indented(r.counterexample);
  if (!r.condition.empty()) absl::StrAppend(&out, "    ", r.condition, "\n");
  return out;
}

namespace {

// How many rules keep, change or leave open their degrees; "" where there are
// none.
std::string DegreesText(absl::Span<const RuleReport> reports) {
  std::string out;
  for (absl::string_view what : {"kept", "changed", "unknown"}) {
    const auto n = std::count_if(
        reports.begin(), reports.end(),
        [&](const RuleReport& r) { return absl::StartsWith(r.degrees, what); });
    absl::StrAppend(&out, out.empty() ? "" : ", ", n, " ", what);
  }
  const bool any =
      std::any_of(reports.begin(), reports.end(),
                  [](const RuleReport& r) { return !r.degrees.empty(); });
  return any ? absl::StrFormat("%-12s %s\n", "degrees", out) : "";
}

// The share of the proved rules that follow from axioms; "" where none was
// asked.
std::string AuditText(absl::Span<const RuleReport> reports) {
  int asked = 0, follow = 0;
  for (const RuleReport& r : reports) {
    asked += r.follows.has_value();
    follow += r.follows.value_or(false);
  }
  return asked == 0 ? ""
                    : absl::StrFormat("%-12s %6d of %d from axioms as well\n",
                                      "audit", follow, asked);
}

}  // namespace

std::string TotalsText(absl::Span<const RuleReport> reports,
                       absl::Duration wall) {
  std::string out = "\n";
  for (Outcome o : kOutcomes) {
    absl::StrAppendFormat(&out, "%-12s %6d\n", verify::OutcomeName(o),
                          Count(reports, o));
  }
  out += DegreesText(reports);
  out += AuditText(reports);
  int solver_calls = 0;
  for (const RuleReport& r : reports) solver_calls += r.solver_calls;
  absl::StrAppendFormat(&out, "%-12s %6d in %.2f s, %d calls of Z3\n", "rules",
                        reports.size(), absl::ToDoubleSeconds(wall),
                        solver_calls);
  return absl::StrCat(out, TimesText(reports, true), TimesText(reports, false));
}

Json ReportJson(absl::Span<const RuleReport> reports, absl::Duration wall,
                const std::string& definitions) {
  Json rules = Json::Array(), totals = Json::Object(), out = Json::Object();
  for (const RuleReport& r : reports) rules.Add(RowJson(r));
  for (Outcome o : kOutcomes) {
    totals.Set(verify::OutcomeName(o), Count(reports, o));
  }
  totals.Set("time_ms", absl::ToDoubleMilliseconds(wall));
  out.Set("rules", std::move(rules))
      .Set("totals", std::move(totals))
      .Set("z3_version", verify::Z3Version())
      .Set("axioms_hash", definitions);
  return out;
}

}  // namespace isomer::cli

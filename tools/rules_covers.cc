// One line, or one JSON object, a rule, in the order of the file; rules that
// the reader rejected come last, with its reason.
#include "tools/rules_covers.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"
#include "tools/json.h"
#include "tools/verb.h"
#include "verify/counterexample.h"
#include "verify/refuter.h"
#include "xfer_gen/covers.h"
#include "xfer_gen/generalise_trial.h"

namespace isomer::cli {

namespace {

struct Row {
  std::string name;
  gen::CoverReport report;
};

absl::StatusOr<gen::Theory> TheoryFrom(const Args& args) {
  const std::vector<std::string> files = args.All("by");
  if (files.empty()) {
    return Invalid("covers needs our rules: --by FILE, once or more");
  }
  gen::Theory theory;
  RETURN_IF_ERROR(theory.AddStated());
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(RuleFile file, ReadRuleFile(path));
    absl::Status s = theory.AddFile(file.rules);
    if (!s.ok()) return Prefixed(absl::StrCat(path, ": "), s);
  }
  return theory;
}

Json ToJson(const Row& row) {
  Json out = Json::Object();
  const gen::CoverReport& r = row.report;
  out.Set("name", row.name).Set("status", gen::CoverageName(r.coverage));
  if (!r.steps.empty()) {
    Json steps = Json::Array();
    for (const std::string& s : r.steps) steps.Add(s);
    out.Set("steps", std::move(steps)).Set("forward", r.forward);
  }
  if (!r.reason.empty()) {
    out.Set(r.coverage == gen::Coverage::kFalse ? "counterexample" : "reason",
            r.reason);
  }
  return out;
}

void Print(const std::vector<Row>& rows, const std::map<std::string, int>& sums,
           bool json) {
  if (json) {
    Json rules = Json::Array(), totals = Json::Object();
    for (const Row& row : rows) rules.Add(ToJson(row));
    for (const auto& [name, count] : sums) totals.Set(name, count);
    Json report = Json::Object();
    report.Set("rules", std::move(rules)).Set("totals", std::move(totals));
    absl::PrintF("%s\n", report.ToString());
    return;
  }
  for (const Row& row : rows) {
    const gen::CoverReport& r = row.report;
    absl::PrintF("%-10s  %s", gen::CoverageName(r.coverage), row.name);
    if (!r.steps.empty()) {
      absl::PrintF("  by %s", absl::StrJoin(r.steps, ", "));
    }
    absl::PrintF("%s%s\n", r.reason.empty() ? "" : "  ", r.reason);
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : sums) {
    parts.push_back(absl::StrCat(count, " ", name));
  }
  absl::PrintF("%d rules: %s\n", rows.size(), absl::StrJoin(parts, ", "));
}

}  // namespace

absl::StatusOr<int> CoverRules(const Args& args, const RuleFile& theirs) {
  ASSIGN_OR_RETURN(gen::Theory ours, TheoryFrom(args));
  gen::CoverOptions options;
  options.limits = {.steps = 6, .graphs = 6000};
  // Few rules need more, and these much more.
  gen::CoverOptions thorough;
  thorough.limits = {.steps = 10, .graphs = 100'000};
  // The refuter makes what it finds small; trials find more.
  options.refute = [](const ir::Rule& rule) -> std::optional<std::string> {
    const verify::Refutation refutation = verify::Refute(rule, {});
    if (refutation.found) return verify::ToText(rule, *refutation.found);
    return gen::FindFailure(rule);
  };
  Progress progress("covers");
  std::vector<Row> rows;
  const auto total = static_cast<int64_t>(theirs.rules.items.size());
  for (const ir::RuleItem& item : theirs.rules.items) {
    const auto* rule = std::get_if<ir::RuleSyntax>(&item);
    if (rule == nullptr) continue;
    rows.push_back({rule->name, gen::Cover(*rule, ours, options)});
    gen::CoverReport& report = rows.back().report;
    if (report.coverage == gen::Coverage::kMissing) {
      report = gen::Cover(*rule, ours, thorough);
    }
    if (!progress(static_cast<int64_t>(rows.size()), total)) {
      return absl::CancelledError("covers: stopped");
    }
  }
  for (const RejectedRule& r : theirs.rejected) {
    rows.push_back({r.name, {gen::Coverage::kIllFormed, {}, true, r.reason}});
  }
  std::map<std::string, int> sums;
  for (const Row& row : rows) {
    ++sums[std::string(gen::CoverageName(row.report.coverage))];
  }
  Print(rows, sums, args.Has("json"));
  return sums.count("missing") > 0 ? 1 : 0;
}

}  // namespace isomer::cli

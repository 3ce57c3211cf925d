// isomer rules: files of rules, shown, checked, converted and compared.
#include "absl/strings/str_format.h"
#include "graph/rule.h"
#include "ops/status.h"
#include "tools/json.h"
#include "tools/rule_files.h"
#include "tools/rules_covers.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::StatusOr<int> ShowRules(const Args& args, const RuleFile& file) {
  if (args.Has("json")) {
    Json rules = Json::Array(), rejected = Json::Array();
    for (const ir::RuleItem& item : file.rules.items) {
      const auto* rule = std::get_if<ir::RuleSyntax>(&item);
      if (rule == nullptr) continue;
      Json row = Json::Object();
      row.Set("name", rule->name).Set("text", ir::PrintRule(*rule));
      rules.Add(std::move(row));
    }
    for (const RejectedRule& r : file.rejected) {
      Json row = Json::Object();
      row.Set("name", r.name).Set("reason", r.reason);
      rejected.Add(std::move(row));
    }
    Json report = Json::Object();
    report.Set("form", file.form)
        .Set("rules", std::move(rules))
        .Set("rejected", std::move(rejected));
    absl::PrintF("%s\n", report.ToString());
    return 0;
  }
  absl::PrintF("%s", ir::PrintRuleFile(file.rules));
  for (const RejectedRule& r : file.rejected) {
    absl::PrintF("# %s rejected: %s\n", r.name, r.reason);
  }
  return 0;
}

// Checks each rule by itself, so that one bad rule does not hide the others.
absl::StatusOr<int> CheckRules(const Args& args, const RuleFile& file) {
  int good = 0, bad = 0;
  Json rules = Json::Array();
  for (const ir::RuleItem& item : file.rules.items) {
    const auto* syntax = std::get_if<ir::RuleSyntax>(&item);
    if (syntax == nullptr) continue;
    absl::Status status = ir::Rule::Create(*syntax).status();
    if (status.ok() && syntax->both_ways) {
      status = ir::Rule::Create(*syntax, /*reversed=*/true).status();
    }
    ++(status.ok() ? good : bad);
    Json row = Json::Object();
    row.Set("name", syntax->name).Set("ok", status.ok());
    if (!status.ok()) row.Set("error", status.message());
    rules.Add(std::move(row));
    if (!status.ok() && !args.Has("json")) {
      absl::PrintF("%s:%s\n", args.positionals()[1], status.message());
    }
  }
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("good", good).Set("bad", bad).Set("rules", std::move(rules));
    absl::PrintF("%s\n", report.ToString());
  } else {
    absl::PrintF("%d rules are well-formed, %d are not\n", good, bad);
  }
  return bad == 0 ? 0 : 1;
}

absl::StatusOr<int> ConvertRules(const Args& args, const RuleFile& file,
                                 const std::string& out) {
  std::vector<std::string> lost;
  ASSIGN_OR_RETURN(int written, WriteRuleFile(file, out, &lost));
  for (const RejectedRule& r : file.rejected) {
    lost.push_back(absl::StrCat(r.name, ": ", r.reason));
  }
  if (args.Has("json")) {
    Json list = Json::Array(), report = Json::Object();
    for (const std::string& line : lost) list.Add(line);
    report.Set("written", written).Set("left_out", std::move(list));
    absl::PrintF("%s\n", report.ToString());
    return 0;
  }
  for (const std::string& line : lost) absl::PrintF("left out: %s\n", line);
  absl::PrintF("%s: %d rules written, %d left out\n", out, written,
               lost.size());
  return 0;
}

absl::StatusOr<int> Rules(const Args& args) {
  const std::vector<std::string>& words = args.positionals();
  const size_t wanted = words[0] == "convert" ? 3 : 2;
  if (words[0] != "show" && words[0] != "check" && words[0] != "convert" &&
      words[0] != "covers") {
    return Invalid("'", words[0], "' is not show, check, convert or covers");
  }
  if (words.size() != wanted) {
    return Invalid(words[0], " takes ", wanted - 1, " file names, given ",
                   words.size() - 1);
  }
  ASSIGN_OR_RETURN(RuleFile file, ReadRuleFile(words[1]));
  if (words[0] == "show") return ShowRules(args, file);
  if (words[0] == "check") return CheckRules(args, file);
  if (words[0] == "covers") return CoverRules(args, file);
  return ConvertRules(args, file, words[2]);
}

}  // namespace

Verb RulesVerb() {
  return {
      "rules",
      "show, check, convert or compare files of rules",
      "  isomer rules show F          print the rules in canonical form\n"
      "  isomer rules check F         bind and type-check every rule\n"
      "  isomer rules convert F OUT   OUT ends in .rules (text), .pb "
      "(binary)\n                               or .taso.pb (TASO's "
      "format)\n"
      "  isomer rules covers F --by OURS   what OURS makes of every rule of "
      "F: same,\n                               instance, derived (with the "
      "steps), false (with\n                               a "
      "counterexample), ill_formed or missing\n\n"
      "F is any of these, or a substitution file of Unity.",
      {"show|check|convert|covers", "FILE..."},
      {{"by", "FILE", "covers: rules of ours; may be repeated"},
       {"json", "", "print the result as JSON"}},
      Rules};
}

}  // namespace isomer::cli

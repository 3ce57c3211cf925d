// isomer verify: every rule of a file proved for all sizes or refuted.
#include "verify/verify.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/rule_entries.h"
#include "tools/rule_report.h"
#include "tools/smt_process.h"
#include "tools/verb.h"
#include "tools/verdict_cache.h"
#include "tools/verify_rules.h"
#include "tools/verify_show.h"
#include "verify/trust.h"
#include "verify/trust_report.h"

namespace isomer::cli {

namespace {

absl::StatusOr<VerifyRun> RunFrom(const Args& args) {
  VerifyRun run;
  ASSIGN_OR_RETURN(run.timeout, args.Time("timeout", absl::Seconds(10),
                                          Args::Zero::kRefused));
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  ASSIGN_OR_RETURN(int64_t threads, args.Int("threads", cores, 1, 1024));
  run.threads = static_cast<int>(threads);
  run.operators = verify::OperatorDigest(Ops());
  run.infer_conditions = args.Has("infer-conditions");
  return run;
}

absl::Status WriteBack(const std::string& path, const RuleEntries& entries,
                       const std::vector<RuleReport>& reports) {
  std::vector<std::string> stamps;
  for (const RuleReport& r : reports) {
    stamps.push_back(
        r.hash.empty()
            ? ""
            : absl::StrCat(verify::OutcomeName(r.outcome), " ", r.hash));
  }
  ASSIGN_OR_RETURN(std::string bytes, WithStamps(entries, stamps));
  return WriteFile(path, bytes);
}

absl::StatusOr<int> VerifyFile(const Args& args, const std::string& path) {
  ASSIGN_OR_RETURN(RuleEntries entries, ReadRuleEntries(path));
  if (args.Has("write-back") && entries.form == "foreign") {
    return WithStamps(entries, {}).status();
  }
  ASSIGN_OR_RETURN(VerifyRun run, RunFrom(args));
  std::unique_ptr<VerdictCache> cache;
  if (args.Has("cache")) {
    ASSIGN_OR_RETURN(cache, VerdictCache::Open(args.String("cache")));
    run.cache = cache.get();
  }
  verify::AxiomSet axioms;
  if (args.Has("audit")) {
    axioms = verify::AllAxioms(Ops());
    run.audit = &axioms;
  }
  if (!args.Has("json")) {
    run.report = [](const RuleReport& r) { absl::PrintF("%s", ReportText(r)); };
  }
  const absl::Time start = absl::Now();
  std::vector<RuleReport> reports;
  {
    Progress progress("verifying");
    run.progress = [&](int64_t done, int64_t total) {
      return progress(done, total);
    };
    reports = VerifyRules(entries, run);
  }
  const absl::Duration wall = absl::Now() - start;
  if (args.Has("json")) {
    const std::string operators =
        absl::StrCat(absl::Hex(run.operators, absl::kZeroPad16));
    absl::PrintF("%s\n", ReportJson(reports, wall, operators).ToString());
  } else {
    absl::PrintF("%s", TotalsText(reports, wall));
  }
  if (reports.size() < entries.rules.size()) {
    return absl::CancelledError(absl::StrCat("stopped after ", reports.size(),
                                             " of ", entries.rules.size(),
                                             " rules"));
  }
  if (args.Has("write-back")) {
    RETURN_IF_ERROR(WriteBack(path, entries, reports));
  }
  return std::all_of(reports.begin(), reports.end(),
                     [](const RuleReport& r) {
                       return r.outcome == verify::Outcome::kProved;
                     })
             ? 0
             : 1;
}

absl::StatusOr<int> RunVerify(const Args& args) {
  const std::vector<std::string>& files = args.positionals();
  if (args.Has("axioms")) {
    SmtProcess process({});
    absl::PrintF("%s", verify::TrustReport(Ops(), [&](const std::string& q) {
                   return process.Ask(q);
                 }));
    return 0;
  }
  if (files.empty()) return Invalid("argument FILE is missing");
  for (absl::string_view flag : {"explain", "replay"}) {
    if (!args.Has(flag)) continue;
    ASSIGN_OR_RETURN(RuleEntries entries, ReadRuleEntries(files[0]));
    ASSIGN_OR_RETURN(VerifyRun run, RunFrom(args));
    return ShowRule(entries, args.String(flag), flag == "replay", run);
  }
  return VerifyFile(args, files[0]);
}

}  // namespace

Verb VerifyVerb() {
  return {
      "verify",
      "prove or refute every rule of a file",
      "  isomer verify F              a verdict for every rule of F: .rules, "
      ".pb, TASO's or Unity's\n"
      "  isomer verify --axioms       what has to be believed\n\n"
      "A rule is proved for all sizes, refuted with a counterexample, unknown "
      "with a reason,\nor ill-formed. The exit code is 0 only if all are "
      "proved.",
      {"[FILE]"},
      {{"timeout", "10s", "time for one rule"},
       {"threads", "N", "rules at a time; all cores by default"},
       {"json", "", "print the result as JSON"},
       {"explain", "RULE", "show how one rule is proved or refuted"},
       {"replay", "RULE", "run the counterexample of one rule"},
       {"cache", "FILE", "keep verdicts in FILE, and use those in it"},
       {"write-back", "", "record the verdicts in F itself"},
       {"infer-conditions", "",
        "look for conditions under which refuted rules are proved"},
       {"audit", "", "ask Z3 again, and whether the rules follow from axioms"},
       {"axioms", "", "print the trust report"}},
      RunVerify};
}

Verb AnswerSmtVerb() {
  return {
      kSmtVerb,
      "",  // not listed
      "  Answers questions of `isomer verify` on stdin.",
      {},
      {{"time-ms", "N", "per question"}, {"memory-mb", "N", "for the solver"}},
      [](const Args& args) -> absl::StatusOr<int> {
        ASSIGN_OR_RETURN(int64_t ms, args.Int("time-ms", 500, 1, 3600000));
        ASSIGN_OR_RETURN(int64_t mb, args.Int("memory-mb", 1024, 1, 1 << 20));
        return ServeSmt({absl::Milliseconds(ms), mb});
      }};
}

}  // namespace isomer::cli

// Printing of one rule's verdict in full.
#include "tools/verify_show.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ops/status.h"
#include "tools/smt_process.h"

namespace isomer::cli {

namespace {

constexpr size_t kMostCases = 8;  // shown of a rule
constexpr size_t kMostSettled = 12;

std::string CaseText(const ir::Rule& rule, const ir::RuleCase& c) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < c.tensors.size(); ++i) {
    parts.push_back(
        absl::StrCat(rule.tensors()[i], ": ", TypeText(c.tensors[i])));
  }
  for (size_t i = 0; i < c.attrs.size(); ++i) {
    parts.push_back(absl::StrCat(rule.attrs()[i].name, " = ",
                                 AttrText<DimExpr>(c.attrs[i])));
  }
  std::string out = absl::StrJoin(parts, ", ");
  for (const Obligation& o : c.facts) {
    absl::StrAppend(&out, ", ", ObligationText(o));
  }
  return out;
}

void PrintProof(const verify::Proof& proof) {
  absl::PrintF("  cases: %d, questions to Z3: %d\n", proof.cases,
               proof.solver_calls);
  for (const std::string& f : proof.facts) absl::PrintF("  uses %s\n", f);
  for (size_t i = 0; i < proof.settled.size() && i < kMostSettled; ++i) {
    absl::PrintF("  settled without Z3: %s\n",
                 ObligationText(proof.settled[i].goal));
  }
  if (proof.settled.size() > kMostSettled) {
    absl::PrintF("  ... and %d more\n", proof.settled.size() - kMostSettled);
  }
}

void PrintRun(const ir::Rule& rule, const verify::Counterexample& example) {
  for (Interp interp : {Interp::kReal, Interp::kRun}) {
    const char* name = interp == Interp::kReal ? "double" : "float";
    auto run = verify::RunExample(rule, example, interp);
    if (!run.ok()) {
      absl::PrintF("in %s: %s\n", name, run.status().message());
      continue;
    }
    absl::PrintF("in %s the source gives %s\n", name,
                 TensorText(run->source[example.output]));
    absl::PrintF("in %s the target gives %s\n", name,
                 TensorText(run->target[example.output]));
  }
}

// Shows one direction; returns whether it is what was asked for: proved, or
// for a replay, refuted again.
bool ShowDirection(const ir::Rule& rule, bool replay,
                   const verify::VerifyOptions& options) {
  const verify::Verdict v = verify::Verify(rule, options);
  absl::PrintF("%s: %s", rule.name(), verify::OutcomeName(v.outcome));
  if (!v.reason.empty()) absl::PrintF(": %s", v.reason);
  absl::PrintF(" (%.1f ms, %d assignments tried)\n",
               absl::ToDoubleMilliseconds(v.time), v.assignments);
  if (v.counterexample) {
    absl::PrintF("%s", verify::ToText(rule, *v.counterexample));
    if (!replay) return false;
    PrintRun(rule, *v.counterexample);
    const absl::Status again = verify::Replay(rule, *v.counterexample);
    absl::PrintF("%s\n",
                 again.ok() ? "the counterexample holds" : again.message());
    return again.ok();
  }
  if (replay) {
    absl::PrintF("there is no counterexample to run\n");
    return false;
  }
  for (size_t i = 0; i < rule.cases().size() && i < kMostCases; ++i) {
    absl::PrintF("  case %d: %s\n", i, CaseText(rule, rule.cases()[i]));
  }
  if (rule.cases().size() > kMostCases) {
    absl::PrintF("  ... and %d more cases\n", rule.cases().size() - kMostCases);
  }
  PrintProof(v.proof);
  return v.outcome == verify::Outcome::kProved;
}

}  // namespace

absl::StatusOr<int> ShowRule(const RuleEntries& entries,
                             const std::string& name, bool replay,
                             const VerifyRun& run) {
  for (const RuleEntry& entry : entries.rules) {
    if (entry.name != name) continue;
    if (!entry.rule) return Invalid(name, " is ill-formed: ", entry.ill_formed);
    absl::PrintF("%s\n\n", ir::PrintRule(*entry.rule));
    SmtProcess process({});
    verify::VerifyOptions options;
    options.prove.time = run.timeout;
    options.prove.record = !replay;
    options.prove.solver = [&](const std::string& question) {
      return process.Ask(question);
    };
    bool all = true, any = false;
    for (bool reversed : {false, true}) {
      if (reversed && !entry.rule->both_ways) continue;
      ASSIGN_OR_RETURN(ir::Rule rule, ir::Rule::Create(*entry.rule, reversed));
      const bool good = ShowDirection(rule, replay, options);
      all = all && good;
      any = any || good;
    }
    return (replay ? any : all) ? 0 : 1;
  }
  return Invalid("there is no rule '", name, "' in the file");
}

}  // namespace isomer::cli

// The report is made from the registry and the prover, so it cannot go stale.
#include "verify/trust_report.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/rule.h"
#include "verify/scalar_facts.h"
#include "verify/trust.h"
#include "verify/verify.h"
#include "verify/z3.h"

namespace isomer::verify {

namespace {

// Words in lines of at most 76 columns.
std::string Wrapped(const std::vector<std::string>& words) {
  std::string out, line = " ";
  for (const std::string& w : words) {
    if (line.size() + w.size() > 75) {
      absl::StrAppend(&out, line, "\n");
      line = " ";
    }
    absl::StrAppend(&line, " ", w);
  }
  return absl::StrCat(out, line, "\n");
}

struct Stated {
  std::string text;            // lines of verdicts
  std::set<std::string> used;  // of the scalar facts
  int proved = 0, all = 0;
};

void Judge(const OpDef& op, const std::string& text, const Registry& registry,
           const SmtSolver& solver, Stated& out) {
  auto rules = ir::ReadRuleBody(text, registry);
  if (!rules.ok()) return;
  for (const ir::Rule& rule : *rules) {
    VerifyOptions options;
    options.prove.solver = solver;
    const Verdict v = Verify(rule, options);
    ++out.all;
    if (v.outcome == Outcome::kProved) ++out.proved;
    out.used.insert(v.proof.facts.begin(), v.proof.facts.end());
    if (v.outcome == Outcome::kProved) continue;
    absl::StrAppendFormat(&out.text, "  %-9s %s: %s\n", OutcomeName(v.outcome),
                          op.name, text);
  }
}

}  // namespace

std::string TrustReport(const Registry& registry, const SmtSolver& solver) {
  std::vector<std::string> indexed, kernels;
  std::string expansions;
  int composites = 0;
  Stated stated;
  for (const OpDef* op : registry.all()) {
    if (op->element) {
      indexed.push_back(op->name);
    } else if (op->expansion.empty()) {
      kernels.push_back(op->name);
    } else {
      ++composites;
      absl::StrAppend(&expansions, "  ", op->expansion, "\n");
    }
    for (const std::string& axiom : op->axioms) {
      Judge(*op, axiom, registry, solver, stated);
    }
  }
  std::string out = absl::StrCat(
      "Believed: the index semantics of ", indexed.size(),
      " operators. Each is the element\nfunction that also runs the operator, "
      "and is compared with evaluation on small\nshapes by the operator "
      "test.\n",
      Wrapped(indexed), "\nBelieved: the expansions of ", composites,
      " composite operators, which are their definition.\n", expansions,
      "\nNot looked into: ", kernels.size(),
      " operators have a kernel and no index semantics.\n", Wrapped(kernels));
  absl::StrAppend(&out,
                  "\nBelieved: these facts about scalar functions. Those with "
                  "a * are used by proofs of\nthe rules below.\n");
  for (const std::string& fact : AllScalarFacts()) {
    absl::StrAppend(&out, stated.used.count(fact) ? " * " : "   ", fact, "\n");
  }
  absl::StrAppend(&out, "\nBelieved: ",
                  Z3Version().empty() ? "no solver; this build has none"
                                      : absl::StrCat("Z3 ", Z3Version(),
                                                     " where it says unsat"),
                  ".\n\nNot believed but proved: ", stated.proved, " of ",
                  stated.all, " rules that operators state about themselves.\n",
                  stated.text, "\nHash of all this: ",
                  absl::Hex(OperatorDigest(registry), absl::kZeroPad16), "\n");
  return out;
}

}  // namespace isomer::verify

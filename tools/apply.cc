// isomer apply: named rules at their matches, for people who want to see one
// rewrite.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "runtime/equal.h"
#include "runtime/fast.h"
#include "tools/json.h"
#include "tools/rule_files.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

absl::StatusOr<std::vector<const ir::Rule*>> Chosen(const Args& args,
                                                    const ir::RuleSet& set) {
  std::vector<const ir::Rule*> rules;
  for (const std::string& name : args.All("rule")) {
    const ir::Rule* rule = set.Find(name);
    if (rule == nullptr) {
      return Invalid("there is no rule '", name, "' in ", args.String("rules"));
    }
    rules.push_back(rule);
  }
  if (!rules.empty()) return rules;
  for (const ir::Rule& rule : set.rules) rules.push_back(&rule);
  return rules;
}

// Applies `rule` at its first applicable match, again and again, up to `most`
// times. Returns how often.
absl::StatusOr<int64_t> ApplyAll(const ir::Rule& rule, int64_t most,
                                 ir::Graph& graph, Progress& progress) {
  int64_t done = 0;
  bool changed = true;
  while (changed && done < most) {
    changed = false;
    for (const ir::Match& match : ir::FindMatches(graph, rule)) {
      if (!progress(done, most)) return absl::CancelledError("interrupted");
      for (const ir::Match& choice : ir::Choices(graph, rule, match)) {
        absl::StatusOr<ir::Graph> next = ir::Apply(graph, rule, choice);
        if (absl::IsFailedPrecondition(next.status())) continue;
        RETURN_IF_ERROR(next.status());
        graph = *std::move(next);
        changed = true;
        break;
      }
      if (changed) break;
    }
    done += changed;
  }
  return done;
}

absl::StatusOr<int> ApplyRules(const Args& args) {
  if (!args.Has("rules")) return Invalid("flag --rules is missing");
  ASSIGN_OR_RETURN(RuleFile file, ReadRuleFile(args.String("rules")));
  auto set = ir::CheckRules(file.rules);
  if (!set.ok()) {
    return Prefixed(absl::StrCat(args.String("rules"), ":"), set.status());
  }
  ASSIGN_OR_RETURN(std::vector<const ir::Rule*> rules, Chosen(args, *set));
  ASSIGN_OR_RETURN(int64_t most, args.Int("max", 100, 0, 1000000));
  ASSIGN_OR_RETURN(onnx::ImportOptions options, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(onnx::ImportedModel model,
                   onnx::ImportFile(args.positionals()[0], options));
  ir::Graph graph = model.graph;
  Json counts = Json::Object();
  {
    Progress progress("rewriting");
    for (const ir::Rule* rule : rules) {
      ASSIGN_OR_RETURN(int64_t done, ApplyAll(*rule, most, graph, progress));
      counts.Set(rule->name(), done);
      if (!args.Has("json")) {
        absl::PrintF("%s: applied %d times\n", rule->name(), done);
      }
    }
  }
  ASSIGN_OR_RETURN(onnx::ExportedModel out,
                   onnx::ExportModel(model, graph,
                                     {.run = runtime::FastKernels(),
                                      .equal = runtime::EqualInDouble}));
  RETURN_IF_ERROR(onnx::WriteModel(out.model, args.positionals()[1]));
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("applied", std::move(counts))
        .Set("kept", out.kept)
        .Set("made", out.made)
        .Set("folded", out.folded);
    absl::PrintF("%s\n", report.ToString());
    return 0;
  }
  absl::PrintF("%s: %d nodes kept, %d new, %d constants folded\n",
               args.positionals()[1], out.kept, out.made, out.folded);
  PrintFixedDims(out.fixed_dims);
  return 0;
}

}  // namespace

Verb ApplyVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"rules", "F", "the file of rules"});
  flags.push_back({"rule", "NAME", "a rule of it (default: all, in order)"});
  flags.push_back({"max", "N", "how often at most, each (default 100)"});
  flags.push_back({"json", "", "print the counts as JSON"});
  return {"apply",
          "apply rules of a file to a model, to see what they do",
          "Applies each rule wherever it matches, one match after the other, "
          "and writes the\nresult. The rules are taken at their word: this is "
          "for looking at a rewrite; compare\nwith `isomer diff MODEL OUT`.\n\n"
          "  isomer apply --rules rules/chosen.rules --rule "
          "merge_matmuls IN.onnx OUT.onnx",
          {"MODEL", "OUT"},
          flags,
          ApplyRules};
}

}  // namespace isomer::cli

// isomer optimize: a model in, an equal and faster model out.
#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "api/certificate.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/json.h"
#include "tools/on_device.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

using Counts = std::map<std::string, int64_t>;

absl::StatusOr<int64_t> Bytes(const std::string& flag,
                              const std::string& text) {
  double number = 0;
  char unit = 0;
  const int parts = std::sscanf(text.c_str(), "%lf%c", &number, &unit);
  const std::string units = " KMGT";
  const size_t power = parts == 2 ? units.find(unit) : 0;
  if (parts < 1 || power == std::string::npos || !(number > 0)) {
    return Invalid("flag --", flag, " is '", text,
                   "'; expected a size such as 500M or 80G");
  }
  double scale = 1;
  for (size_t i = 0; i < power; ++i) scale *= 1000;
  if (number * scale > 9e18) {
    return Invalid("flag --", flag, " is '", text, "'; that is too large");
  }
  return static_cast<int64_t>(number * scale);
}

absl::StatusOr<OptimizeOptions> OptionsFrom(const Args& args) {
  OptimizeOptions o;
  o.target = args.String("target", o.target);
  o.profile = args.String("profile");
  o.rules = args.String("rules");
  o.baseline = args.String("baseline");
  ASSIGN_OR_RETURN(o.alpha, args.Real("alpha", o.alpha));
  if (args.Has("expansions")) {
    o.time_limit = absl::InfiniteDuration();
    ASSIGN_OR_RETURN(o.expansions, args.Int("expansions", 0, 0, INT64_MAX));
  }
  ASSIGN_OR_RETURN(o.time_limit, args.Time("budget", o.time_limit));
  for (const auto& [flag, limit] :
       {std::pair("memory-limit", &o.memory_limit),
        std::pair("weight-limit", &o.weight_limit)}) {
    if (!args.Has(flag)) continue;
    ASSIGN_OR_RETURN(*limit, Bytes(flag, args.String(flag)));
  }
  const std::string numerics = args.String("numerics", "reassociate");
  if (numerics != "exact" && numerics != "reassociate") {
    return Invalid("flag --numerics is '", numerics,
                   "'; expected exact or reassociate");
  }
  o.exact = numerics == "exact";
  ASSIGN_OR_RETURN(int64_t threads, args.Int("threads", 0, 0, 1024));
  o.threads = static_cast<int>(threads);
  return o;
}

void PrintOperators(const Counts& before, const Counts& after) {
  Counts all = before;
  all.insert(after.begin(), after.end());
  absl::PrintF("%-28s %8s %8s\n", "operator", "before", "after");
  int64_t total_before = 0, total_after = 0;
  for (const auto& [name, unused] : all) {
    auto count = [&name = name](const Counts& c) {
      const auto it = c.find(name);
      return it == c.end() ? 0 : it->second;
    };
    absl::PrintF("%-28s %8d %8d%s\n", name, count(before), count(after),
                 count(before) == count(after) ? "" : "  *");
    total_before += count(before);
    total_after += count(after);
  }
  absl::PrintF("%-28s %8d %8d\n\n", "all", total_before, total_after);
}

void PrintEstimates(const OptimizeResult& r) {
  auto row = [](const char* what, const char* unit, double a, double b,
                int digits) {
    absl::PrintF("%-28s %8.*f %8.*f  %s\n", what, digits, a, digits, b, unit);
  };
  row("estimated time", "us", r.before.time_us, r.after.time_us, 1);
  row("kernels", "", static_cast<double>(r.before.kernels),
      static_cast<double>(r.after.kernels), 0);
  row("peak memory", "MB", static_cast<double>(r.before.peak_bytes) / 1e6,
      static_cast<double>(r.after.peak_bytes) / 1e6, 1);
  row("weights", "MB", static_cast<double>(r.before.weight_bytes) / 1e6,
      static_cast<double>(r.after.weight_bytes) / 1e6, 1);
  absl::PrintF("on %s: %.2fx faster; %.0f%% of the time is measured\n\n",
               r.target,
               r.after.time_us > 0 ? r.before.time_us / r.after.time_us : 1,
               100 * r.after.measured_share);
}

void PrintRules(const OptimizeResult& r) {
  if (!r.rules.empty()) {
    absl::PrintF("%-32s %6s %10s\n", "rule", "times", "gain (us)");
  }
  for (const RuleApplied& a : r.rules) {
    absl::PrintF("%-32s %6d %10.1f\n", a.rule, a.times, a.gain_us);
  }
  for (const std::string& line : r.refused) {
    absl::PrintF("not used: %s\n", line);
  }
  if (!r.rules.empty() || !r.refused.empty()) absl::PrintF("\n");
}

Json ReportOf(const OptimizeResult& r, const Counts& before,
              const Counts& after, const std::vector<std::string>& fixed,
              const CheckResult* check) {
  auto estimate = [](const Estimate& e) {
    Json j = Json::Object();
    j.Set("time_us", e.time_us)
        .Set("measured_share", e.measured_share)
        .Set("kernels", e.kernels)
        .Set("peak_bytes", e.peak_bytes)
        .Set("weight_bytes", e.weight_bytes);
    return j;
  };
  auto counts = [](const Counts& c) {
    Json j = Json::Object();
    for (const auto& [name, n] : c) j.Set(name, n);
    return j;
  };
  Json rules = Json::Array();
  for (const RuleApplied& a : r.rules) {
    Json row = Json::Object();
    row.Set("rule", a.rule).Set("times", a.times).Set("gain_us", a.gain_us);
    rules.Add(std::move(row));
  }
  Json dims = Json::Array();
  for (const std::string& dim : fixed) dims.Add(dim);
  Json out = Json::Object();
  out.Set("target", r.target)
      .Set("improved", r.improved)
      .Set("before", estimate(r.before))
      .Set("after", estimate(r.after))
      .Set("operators_before", counts(before))
      .Set("operators_after", counts(after))
      .Set("rules", std::move(rules))
      .Set("fixed_dims", std::move(dims))
      .Set("expansions", r.expansions)
      .Set("candidates", r.candidates)
      .Set("parts", r.parts)
      .Set("repeated_parts", r.repeated_parts)
      .Set("seconds", absl::ToDoubleSeconds(r.elapsed))
      .Set("stopped_because", r.stopped_because);
  if (check != nullptr) {
    Json list = Json::Array();
    for (const CheckedOutput& o : check->outputs) {
      Json row = Json::Object();
      row.Set("name", o.name)
          .Set("original_error", o.original_error)
          .Set("error", o.error)
          .Set("allowed", o.allowed);
      list.Add(std::move(row));
    }
    out.Set("check", std::move(list)).Set("check_passed", check->passed);
  }
  return out;
}

// Both graphs side by side, for Graphviz. Constants are left out.
std::string DotOf(const Graph& before, const Graph& after) {
  std::string out =
      "digraph models {\n  node [shape=box, style=rounded, "
      "fontname=Helvetica];\n";
  for (const Graph* graph : {&before, &after}) {
    const ir::Graph& g = GraphAccess::Ir(*graph);
    const char side = graph == &before ? 'a' : 'b';
    absl::StrAppendFormat(&out, "  subgraph cluster_%c {\n    label=\"%s\";\n",
                          side, graph == &before ? "before" : "after");
    std::string edges;
    for (NodeId id : g.Order()) {
      const ir::Node& n = g.node(id);
      if (n.kind != ir::Node::Kind::kInput && g.IsConstant({id, 0})) continue;
      const std::string label = n.name != nullptr     ? *n.name
                                : n.opaque != nullptr ? n.opaque->op
                                                      : n.op->name;
      absl::StrAppendFormat(&out, "    %c%d [label=\"%s\"];\n", side, id.value,
                            absl::CEscape(label));
      for (Value v : n.inputs) {
        if (g.IsConstant(v)) continue;
        absl::StrAppendFormat(&edges, "    %c%d -> %c%d;\n", side, v.node.value,
                              side, id.value);
      }
    }
    absl::StrAppend(&out, edges, "  }\n");
  }
  return out + "}\n";
}

// Runs the search with a progress line; Ctrl-C ends it with the best so far.
absl::StatusOr<OptimizeResult> Search(const Graph& graph,
                                      OptimizeOptions options) {
  Progress progress("estimated microseconds");
  options.progress = [&](const OptimizeProgress& p) {
    return progress(static_cast<int64_t>(p.best_us),
                    static_cast<int64_t>(p.before_us));
  };
  return graph.optimize(options);
}

// Searches with estimated and with measured costs, times what was found and the
// model itself on the device, and takes the fastest.
absl::StatusOr<OptimizeResult> SearchOn(const std::string& device_name,
                                        const Graph& graph,
                                        const OptimizeOptions& options) {
  ASSIGN_OR_RETURN(const auto device, cuda::Device::Open(device_name));
  ASSIGN_OR_RETURN(
      const std::vector<Candidate> found,
      Candidates(graph, options,
                 options.profile.empty() ? "builtin" : options.profile));
  ASSIGN_OR_RETURN(FastestResult best, FastestOn(device, graph, found));
  absl::PrintF("on %s: %.2f us, %.2fx faster; measured\n", device->name(),
               best.us, best.original_us / best.us);
  return std::move(best.result);
}

// `interruptible` is false once Ctrl-C was pressed: what was found is still to
// be checked and written.
absl::StatusOr<CheckResult> RunCheck(const Graph& a, const Graph& b,
                                     int64_t times, bool interruptible) {
  if (!interruptible) return Check(a, b, static_cast<int>(times));
  Progress progress("checking");
  return Check(a, b, static_cast<int>(times), [&](int64_t done, int64_t total) {
    return progress(done, total);
  });
}

void PrintCheck(const CheckResult& check) {
  for (const CheckedOutput& o : check.outputs) {
    if (check.passed && check.outputs.size() > 8) break;
    absl::PrintF(
        "check %s: error %.2g, the original's own %.2g, allowed %.2g"
        "%s\n",
        o.name, o.error, o.original_error, o.allowed,
        o.error <= o.allowed ? "" : ": DIFFERS");
  }
  if (check.passed && check.outputs.size() > 8) {
    absl::PrintF("check: all %d outputs are equal up to rounding\n",
                 check.outputs.size());
  }
}

absl::StatusOr<int> Optimize(const Args& args) {
  const std::string &in = args.positionals()[0], &out = args.positionals()[1];
  ASSIGN_OR_RETURN(OptimizeOptions options, OptionsFrom(args));
  ASSIGN_OR_RETURN(int64_t times, args.Int("check", 1, 0, 1000));
  ASSIGN_OR_RETURN(onnx::ImportOptions how, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(Graph graph, Graph::FromOnnx(in, {how.shapes, how.dims}));
  ASSIGN_OR_RETURN(OptimizeResult r,
                   args.Has("device")
                       ? SearchOn(args.String("device"), graph, options)
                       : Search(graph, options));
  ASSIGN_OR_RETURN(Counts before, graph.OnnxOperators());
  ASSIGN_OR_RETURN(Counts after, r.graph.OnnxOperators());
  PrintOperators(before, after);
  PrintEstimates(r);
  PrintRules(r);
  absl::PrintF(
      "%d expansions, %d candidates, %d parts searched and %d "
      "repeated in %.2f s; stopped because %s\n",
      r.expansions, r.candidates, r.parts, r.repeated_parts,
      absl::ToDoubleSeconds(r.elapsed), r.stopped_because);
  std::string certificate;
  if (args.Has("certify")) {
    ASSIGN_OR_RETURN(Certified certified, Certify(in, r));
    certificate = std::move(certified.text);
    r.graph = std::move(certified.graph);
  }
  CheckResult check;
  const bool checked = r.improved && times > 0;
  if (checked) {
    ASSIGN_OR_RETURN(check, RunCheck(graph, r.graph, times, !r.interrupted));
    PrintCheck(check);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> fixed, r.graph.FixedDims());
  PrintFixedDims(fixed);
  if (args.Has("report")) {
    const Json report =
        ReportOf(r, before, after, fixed, checked ? &check : nullptr);
    RETURN_IF_ERROR(WriteFile(args.String("report"), report.ToString() + "\n"));
  }
  if (checked && !check.passed) {
    absl::FPrintF(stderr,
                  "isomer optimize: the check failed; %s is not "
                  "written\n",
                  out);
    return 1;
  }
  if (args.Has("dot")) {
    RETURN_IF_ERROR(WriteFile(args.String("dot"), DotOf(graph, r.graph)));
  }
  RETURN_IF_ERROR(r.graph.ToOnnx(out));
  if (args.Has("certify")) {
    RETURN_IF_ERROR(WriteFile(args.String("certify"), certificate));
  }
  if (r.improved) {
    absl::PrintF("%s is written\n", out);
  } else {
    absl::PrintF("nothing helps: %s is the original, byte for byte\n", out);
  }
  return 0;
}

}  // namespace

Verb OptimizeVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"target", "NAME",
                   "what it is to run on: h200 (default), "
                   "a100, cpu, cpu-onnxruntime, or a file"});
  flags.push_back({"profile", "F",
                   "measured kernel times of the target; builtin: those that "
                   "come with Isomer"});
  flags.push_back({"device", "NAME",
                   "a GPU (cuda:0) to time the best candidates on, whole"});
  flags.push_back({"alpha", "X",
                   "search on from graphs that cost up to X "
                   "times the best (default 1.05)"});
  flags.push_back({"budget", "T", "how long to search (default 10s)"});
  flags.push_back({"expansions", "N",
                   "limit by count instead: the result does "
                   "not depend on the machine"});
  flags.push_back({"memory-limit", "SIZE",
                   "peak memory of the result on the target: 500M, 80G"});
  flags.push_back({"weight-limit", "SIZE",
                   "memory of the result's weights: some rewrites make them "
                   "larger"});
  flags.push_back({"rules", "F[,F]",
                   "proved rules to use instead of the built-in ones; "
                   "builtin,F: besides them"});
  flags.push_back({"baseline", "taso",
                   "search as TASO does, to compare with: one rewrite at "
                   "a time, 100 graphs"});
  flags.push_back({"numerics", "exact|reassociate",
                   "exact: only rules that recompute no value"});
  flags.push_back({"threads", "N", "default: one for each core"});
  flags.push_back({"check", "N",
                   "compare both models on N random inputs "
                   "(default 1; 0: do not)"});
  flags.push_back({"certify", "F",
                   "write a certificate, to be checked with "
                   "isomer certify"});
  flags.push_back({"report", "F", "write what was found as JSON"});
  flags.push_back({"dot", "F", "write both graphs as a drawing for Graphviz"});
  return {"optimize",
          "make a model faster",
          "Searches for an equal graph that is estimated to be faster on the "
          "target, compares\nboth numerically, and writes the result. Ctrl-C "
          "ends the search with the best so\nfar. Exit code 1, and no file, "
          "when the comparison fails.\n\n"
          "  isomer optimize --budget 10s IN.onnx OUT.onnx",
          {"MODEL", "OUT"},
          flags,
          Optimize};
}

}  // namespace isomer::cli

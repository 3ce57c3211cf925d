// isomer bench: a model measured on a GPU, as it is and optimised.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cost_model/cost.h"
#include "cost_model/profile.h"
#include "cuda/executor.h"
#include "ops/status.h"
#include "runtime/random_inputs.h"
#include "tools/files.h"
#include "tools/json.h"
#include "tools/measured.h"
#include "tools/npz.h"
#include "tools/on_device.h"
#include "tools/spread.h"
#include "tools/trace.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

constexpr char kNoDevice[] = "none";

// What a form of the model takes: as measured, or as predicted.
double TimeOf(const Measured& m) { return m.us > 0 ? m.us : m.predicted_us; }

std::string Short(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

void PrintSteps(const Measured& m, const cost::Target& target) {
  std::vector<cuda::StepTime> steps = m.steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) {
                     return a.us * a.launches > b.us * b.launches;
                   });
  double total = 0;
  for (const cuda::StepTime& s : steps) total += s.us * s.launches;
  absl::PrintF("%8s %5s %6s %6s %-10s %-24s %s\n", "us", "times", "share",
               "roof", "family", "variant", "kernel");
  for (const cuda::StepTime& s : steps) {
    const double roof =
        std::max(s.flops / (target.peak(DType::kF16) * 1e6),
                 static_cast<double>(s.bytes) / (target.dram_gbps() * 1e3));
    absl::PrintF("%8.2f %5d %5.1f%% %5.1f%% %-10s %-24s %s\n", s.us, s.launches,
                 100 * s.us * s.launches / total, 100 * roof / s.us, s.family,
                 s.variant, Short(s.signature, 300));
  }
  absl::PrintF("%8.2f us, the sum of kernels by themselves\n", total);
}

void PrintRow(const char* what, const char* unit, int digits,
              const std::vector<Measured>& all,
              const std::function<double(const Measured&)>& value) {
  absl::PrintF("%-24s", what);
  for (const Measured& m : all) absl::PrintF(" %11.*f", digits, value(m));
  absl::PrintF("  %s\n", unit);
}

void PrintTable(const std::vector<Measured>& all) {
  absl::PrintF("%-24s %11s", "", "original");
  if (all.size() > 1) absl::PrintF(" %11s", "optimised");
  absl::PrintF("\n");
  const bool measured = all[0].us > 0;
  if (measured) {
    PrintRow("measured", "us", 2, all, [](const Measured& m) { return m.us; });
    PrintRow("clock then", "MHz", 0, all,
             [](const Measured& m) { return m.mhz; });
  }
  PrintRow("predicted", "us", 2, all,
           [](const Measured& m) { return m.predicted_us; });
  PrintRow("planned", "us", 2, all,
           [](const Measured& m) { return m.planned_us; });
  PrintRow("floor", "us", 2, all, [](const Measured& m) { return m.floor_us; });
  PrintRow("kernels", "", 0, all,
           [](const Measured& m) { return double(m.kernels); });
  PrintRow("streams", "", 0, all,
           [](const Measured& m) { return double(m.streams); });
  PrintRow("weights", "MB", 1, all,
           [](const Measured& m) { return m.weight_bytes / 1e6; });
  PrintRow("activations", "MB", 1, all,
           [](const Measured& m) { return m.arena_bytes / 1e6; });
  if (measured) {
    PrintRow("compiling and timing", "s", 1, all,
             [](const Measured& m) { return m.compile_seconds; });
  }
  if (all[0].error) {
    absl::PrintF("%-24s", "error against the CPU");
    for (const Measured& m : all) absl::PrintF(" %11.2e", *m.error);
    absl::PrintF("\n");
  }
}

absl::StatusOr<cost::Profile> ProfileOf(const Args& args,
                                        const cost::Target& target) {
  const std::string name = args.String("profile", "builtin");
  if (name == "builtin") return cost::Profile::Builtin(target.name());
  ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
  absl::StatusOr<cost::Profile> profile = cost::Profile::Parse(text);
  if (!profile.ok()) return Prefixed(name + ": ", profile.status());
  return profile;
}

// Flags that ask for something that only a run gives.
constexpr const char* kOfRuns[] = {"check", "original-out", "out", "kernels",
                                   "trace"};

// An error if one of the flags is there; `needs` says what it needs.
absl::Status Without(const Args& args, absl::Span<const char* const> flags,
                     absl::string_view needs) {
  for (const char* flag : flags) {
    if (args.Has(flag)) return Invalid("flag --", flag, " needs ", needs);
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasureRequest> RequestOf(const Args& args) {
  MeasureRequest request;
  const std::string device = args.String("device", "cuda:0");
  if (device == kNoDevice) {
    const std::string needs = absl::StrCat("a GPU, and --device is ", device);
    RETURN_IF_ERROR(Without(args, kOfRuns, needs));
    RETURN_IF_ERROR(Without(args, {"tf32", "compile-only"}, needs));
  } else {
    const auto opened = cuda::Device::Open(device);
    if (!opened.ok()) {
      return absl::Status(opened.status().code(),
                          absl::StrCat(opened.status().message(),
                                       "; --device none predicts without one"));
    }
    request.device = *opened;
    ASSIGN_OR_RETURN(request.clock, cuda::Clock::Create(request.device));
  }
  request.tune = !args.Has("no-tune");
  request.tf32 = args.Has("tf32");
  request.compile_only = args.Has("compile-only");
  if (request.compile_only && !args.Has("cache")) {
    return Invalid("flag --compile-only needs --cache, a folder for kernels");
  }
  if (request.compile_only) {
    RETURN_IF_ERROR(
        Without(args, kOfRuns, "a run, and --compile-only has none"));
  }
  ASSIGN_OR_RETURN(request.cache, CacheFrom(args));
  request.check = args.Has("check");
  request.outputs = args.Has("out") || args.Has("original-out");
  request.trace = args.Has("trace");
  request.steps = args.Has("kernels");
  ASSIGN_OR_RETURN(int64_t times, args.Int("times", 100, 1, 1000000));
  request.times = static_cast<int>(times);
  return request;
}

// The original, and the fastest of what is found.
struct Best {
  std::vector<Measured> all;
  Json candidates = Json::Array();
  double search_seconds = 0;
  bool agree = true;  // all that were measured, with the CPU
};

absl::StatusOr<std::vector<Candidate>> Search(const Args& args,
                                              const Graph& graph) {
  if (args.Has("original-only")) return std::vector<Candidate>();
  OptimizeOptions how;
  how.target = args.String("target", "h200");
  ASSIGN_OR_RETURN(how.time_limit, args.Time("budget", absl::Seconds(10)));
  return Candidates(graph, how, args.String("profile", "builtin"));
}

absl::StatusOr<Best> MeasureBest(const Args& args, const Graph& graph,
                                 const MeasureRequest& request) {
  Best out;
  std::vector<const ir::Graph*> graphs = {&GraphAccess::Ir(graph)};
  std::vector<std::string> costs = {""};  // that each was searched with
  ASSIGN_OR_RETURN(const std::vector<Candidate> found, Search(args, graph));
  for (const Candidate& c : found) {
    out.search_seconds += absl::ToDoubleSeconds(c.result.elapsed);
    if (!c.result.improved) continue;
    graphs.push_back(&GraphAccess::Ir(c.result.graph));
    costs.push_back(c.costs);
  }
  ASSIGN_OR_RETURN(std::vector<Measured> all, MeasureAll(graphs, request));
  size_t best = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Measured& m = all[i];
    if (!m.agrees) {
      absl::FPrintF(stderr,
                    "isomer bench: %s: results are %.2e off those of the CPU, "
                    "more than their type allows\n",
                    i == 0 ? "the model as it is"
                           : absl::StrCat("what was found with ", costs[i]),
                    *m.error);
      out.agree = false;
    }
    if (TimeOf(m) < TimeOf(all[best])) best = i;
    if (i == 0) continue;
    Json item = Json::Object();
    item.Set("searched_with", costs[i])
        .Set(m.us > 0 ? "us" : "predicted_us", TimeOf(m));
    out.candidates.Add(std::move(item));
  }
  out.all.push_back(all[0]);
  if (!args.Has("original-only")) out.all.push_back(std::move(all[best]));
  return out;
}

// Graphs between the original and the best that the cost model finds. What
// those two have chosen need not be timed again.
absl::StatusOr<std::vector<Measured>> MeasureSpread(
    const Args& args, const Graph& graph, const std::vector<Measured>& ends,
    MeasureRequest request) {
  for (const Measured& m : ends) {
    request.choices.insert(m.choices.begin(), m.choices.end());
  }
  ASSIGN_OR_RETURN(const int64_t count, args.Int("candidates", 0, 2, 1000));
  request.check = request.outputs = false;
  request.pass_on = true;
  ASSIGN_OR_RETURN(const std::vector<Graph> graphs,
                   SpreadOf(graph, *request.cost, static_cast<int>(count)));
  std::vector<const ir::Graph*> all;
  for (const Graph& g : graphs) all.push_back(&GraphAccess::Ir(g));
  return MeasureAll(all, std::move(request));
}

// What went in and came out, for others to compare.
absl::Status WriteResults(const Args& args, const ir::Graph& graph,
                          const std::vector<Measured>& all) {
  if (args.Has("inputs-out")) {
    ASSIGN_OR_RETURN(const auto inputs, runtime::RandomInputs(graph, 0));
    const std::vector<std::pair<std::string, Tensor>> named(inputs.begin(),
                                                            inputs.end());
    RETURN_IF_ERROR(WriteFile(args.String("inputs-out"), NpzBytes(named)));
  }
  auto write = [&](const std::string& flag, const Measured& m) {
    if (!args.Has(flag)) return absl::OkStatus();
    std::vector<std::pair<std::string, Tensor>> named;
    for (size_t i = 0; i < m.outputs.size(); ++i) {
      named.emplace_back(graph.outputs()[i].name, m.outputs[i]);
    }
    return WriteFile(args.String(flag), NpzBytes(named));
  };
  RETURN_IF_ERROR(write("original-out", all[0]));
  return write("out", all.back());
}

void PrintSpread(const std::vector<Measured>& spread) {
  const bool measured = spread[0].us > 0;
  absl::PrintF("\n%s%11s %11s %8s  graphs between the two, in us\n",
               measured ? "   measured " : "", "predicted", "planned",
               "kernels");
  for (const Measured& m : spread) {
    if (measured) absl::PrintF("%11.2f ", m.us);
    absl::PrintF("%11.2f %11.2f %8d\n", m.predicted_us, m.planned_us,
                 m.kernels);
  }
  if (!measured) return;
  const Ordered o = OrderOf(spread);
  absl::PrintF(
      "%d pairs are more than 3 %% apart; %d are predicted in that order, %d "
      "planned\n",
      o.pairs, o.as_predicted, o.as_planned);
}

absl::StatusOr<int> Bench(const Args& args) {
  ASSIGN_OR_RETURN(onnx::ImportOptions shapes, ImportOptionsFrom(args));
  ASSIGN_OR_RETURN(MeasureRequest request, RequestOf(args));
  ASSIGN_OR_RETURN(cost::Target target,
                   cost::Target::Named(args.String("target", "h200")));
  ASSIGN_OR_RETURN(const cost::Profile profile, ProfileOf(args, target));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  request.cost = &cost;
  request.profile = &profile;
  if (args.Has("batch")) {
    ASSIGN_OR_RETURN(shapes.dims["batch"], args.Int("batch", 1, 1, 1 << 20));
  }
  ASSIGN_OR_RETURN(
      const Graph graph,
      Graph::FromOnnx(args.positionals()[0], {shapes.shapes, shapes.dims}));
  const std::string device = request.device ? request.device->name() : "no GPU";
  ASSIGN_OR_RETURN(Best best, MeasureBest(args, graph, request));
  std::vector<Measured> spread;
  if (args.Has("candidates")) {
    ASSIGN_OR_RETURN(spread, MeasureSpread(args, graph, best.all, request));
  }
  const std::vector<Measured>& all = best.all;
  if (args.Has("trace")) {
    RETURN_IF_ERROR(
        WriteFile(args.String("trace"), TraceOf(all.back().trace).ToString()));
  }
  RETURN_IF_ERROR(WriteResults(args, GraphAccess::Ir(graph), all));
  if (args.Has("json")) {
    Json report = Json::Object(), between = Json::Array();
    report.Set("model", args.positionals()[0])
        .Set("device", device)
        .Set("original", ToJson(all[0]));
    if (all.size() > 1) {
      report.Set("optimised", ToJson(all[1]))
          .Set("candidates", std::move(best.candidates))
          .Set("search_seconds", best.search_seconds);
    }
    for (const Measured& m : spread) between.Add(ToJson(m));
    if (!spread.empty()) report.Set("spread", std::move(between));
    absl::PrintF("%s\n", report.ToString());
    return best.agree ? 0 : 1;
  }
  absl::PrintF("%s on %s\n", args.positionals()[0], device);
  PrintTable(all);
  if (all.size() > 1) {
    absl::PrintF("%-24s %11s %11.1f  s\n", "search", "", best.search_seconds);
  }
  if (args.Has("kernels")) PrintSteps(all.back(), cost.target());
  if (!spread.empty()) PrintSpread(spread);
  return best.agree ? 0 : 1;
}

}  // namespace

Verb BenchVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"batch", "N", "the size of a dimension named batch"});
  flags.push_back({"device", "NAME",
                   "the GPU (default cuda:0); none: predict without one"});
  flags.push_back({"target", "NAME", "what plans are made for (default h200)"});
  flags.push_back({"budget", "TIME", "how long to search (default 10s)"});
  flags.push_back({"original-only", "", "measure the model as it is alone"});
  flags.push_back({"no-tune", "", "take the likeliest kernels, time none"});
  flags.push_back({"tf32", "", "let products of f32 round factors to TF32"});
  flags.push_back(
      {"cache", "FOLDER", "where compiled kernels and choices are kept"});
  flags.push_back({"compile-only", "",
                   "compile into --cache all that would be timed, and run "
                   "nothing"});
  flags.push_back({"times", "N", "runs to take the median of (default 100)"});
  flags.push_back({"check", "",
                   "compare the results with the CPU's; exit code 1 where they "
                   "differ"});
  flags.push_back(
      {"inputs-out", "F.npz", "write the random inputs to a file numpy reads"});
  flags.push_back({"original-out", "F.npz",
                   "write the outputs of the model as it is likewise"});
  flags.push_back({"out", "F.npz", "write those of the fastest form likewise"});
  flags.push_back({"kernels", "", "a table of the kernels"});
  flags.push_back({"candidates", "N",
                   "also measure N graphs between the original and the best"});
  flags.push_back(
      {"profile", "F.profile",
       "measured times to search and to predict with (default: those that come "
       "with Isomer)"});
  flags.push_back({"trace", "F.json",
                   "write when kernels run, a trace for chrome://tracing"});
  flags.push_back({"json", "", "print the result as JSON"});
  return {
      "bench",
      "measure a model on a GPU, as it is and optimised",
      "Runs the model as one CUDA graph, first as it is, then optimised: "
      "with estimated and\nwith measured costs, whichever is faster. Predicted "
      "is what kernels take by the profile,\nas they are scheduled; planned is "
      "the sum of estimates. The floor is what moving weights\nonce and the "
      "arithmetic take at least. With --device none nothing is measured.",
      {"MODEL"},
      flags,
      Bench};
}

}  // namespace isomer::cli

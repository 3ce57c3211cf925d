// isomer bench: a model measured on a GPU, as it is and optimised.
#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cost_model/cost.h"
#include "cuda/executor.h"
#include "graph/evaluate.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"
#include "tools/files.h"
#include "tools/json.h"
#include "tools/on_device.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

// One form of the model on the device.
struct Measured {
  double us = 0;          // measured, whole
  double planned_us = 0;  // as the cost model says
  double floor_us = 0;
  double compile_seconds = 0;
  int64_t kernels = 0;
  int64_t weight_bytes = 0, arena_bytes = 0;
  std::optional<double> error = {};  // against the CPU
  std::vector<cuda::StepTime> steps = {};
  std::map<std::string, std::string> choices = {};
};

struct Request {
  std::shared_ptr<cuda::Device> device;
  const cost::CostModel* cost = nullptr;
  bool tune = true, check = false, steps = false;
  int times = 100;
  std::map<std::string, std::string> choices = {};
  std::shared_ptr<cuda::KernelCache> cache = nullptr;
};

// What no program can beat: weights, inputs and outputs moved once, and the
// arithmetic at the peak.
double FloorUs(const cuda::Program& p, const cost::Target& target) {
  double flops = 0, bytes = static_cast<double>(p.constant_bytes);
  for (const cuda::Step& s : p.steps) flops += s.flops;
  for (const auto& in : p.inputs) {
    bytes += static_cast<double>(p.buffers[in.buffer].bytes);
  }
  for (const auto& out : p.outputs) {
    bytes += static_cast<double>(p.buffers[out.buffer].bytes);
  }
  return std::max(flops / (target.peak(DType::kF16) * 1e6),
                  bytes / (target.dram_gbps() * 1e3));
}

absl::StatusOr<double> ErrorOf(const ir::Graph& graph,
                               cuda::Executor& executor) {
  ASSIGN_OR_RETURN(const auto inputs, runtime::RandomInputs(graph, 0));
  ASSIGN_OR_RETURN(const std::vector<Tensor> got, executor.Run(inputs));
  ir::EvaluateOptions how;
  how.run = runtime::FastKernels();
  ASSIGN_OR_RETURN(const std::vector<Tensor> want,
                   ir::Evaluate(graph, inputs, how));
  double error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error = std::max(error, runtime::RelativeError(got[i], want[i]));
  }
  return error;
}

absl::StatusOr<Measured> Measure(const ir::Graph& graph,
                                 const Request& request) {
  Measured m;
  m.planned_us = request.cost->MakePlan(graph).cost().time_us();
  cuda::ProgramOptions how;
  how.units = request.device->units();
  ASSIGN_OR_RETURN(cuda::Program program,
                   cuda::MakeProgram(graph, *request.cost, how));
  m.kernels = static_cast<int64_t>(program.steps.size());
  m.weight_bytes = program.constant_bytes;
  m.arena_bytes = program.arena_bytes;
  m.floor_us = FloorUs(program, request.cost->target());
  cuda::ExecutorOptions options;
  options.tune = request.tune;
  options.choices = request.choices;
  options.cache = request.cache;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<cuda::Executor> executor,
      cuda::Executor::Create(request.device, std::move(program), options));
  m.compile_seconds = executor->compile_seconds();
  if (request.check) {
    ASSIGN_OR_RETURN(m.error, ErrorOf(graph, *executor));
  } else {
    ASSIGN_OR_RETURN(const auto inputs, runtime::RandomInputs(graph, 0));
    RETURN_IF_ERROR(executor->Run(inputs).status());
  }
  ASSIGN_OR_RETURN(m.us, executor->Time(request.times));
  if (request.steps) {
    ASSIGN_OR_RETURN(m.steps, executor->TimeSteps());
  }
  m.choices = executor->choices();
  return m;
}

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

// The steps one after the other, as chrome://tracing and Perfetto read them.
Json TraceOf(const Measured& m) {
  std::map<int, const cuda::StepTime*> by_step;
  for (const cuda::StepTime& s : m.steps) {
    for (int step : s.steps) by_step[step] = &s;
  }
  Json events = Json::Array();
  double at = 0;
  for (const auto& [step, s] : by_step) {
    Json arguments = Json::Object(), event = Json::Object();
    arguments.Set("kernel", s->signature).Set("variant", s->variant);
    event.Set("name", absl::StrCat(s->family, " ", s->variant))
        .Set("ph", "X")
        .Set("ts", at)
        .Set("dur", s->us)
        .Set("pid", int64_t{0})
        .Set("tid", int64_t{0})
        .Set("args", std::move(arguments));
    events.Add(std::move(event));
    at += s->us;
  }
  return std::move(Json::Object().Set("traceEvents", std::move(events)));
}

Json ToJson(const Measured& m) {
  Json out = Json::Object(), steps = Json::Array();
  out.Set("us", m.us)
      .Set("planned_us", m.planned_us)
      .Set("floor_us", m.floor_us)
      .Set("kernels", m.kernels)
      .Set("weight_bytes", m.weight_bytes)
      .Set("activation_bytes", m.arena_bytes)
      .Set("compile_seconds", m.compile_seconds);
  if (m.error) out.Set("error", *m.error);
  for (const cuda::StepTime& s : m.steps) {
    Json item = Json::Object();
    item.Set("us", s.us)
        .Set("launches", s.launches)
        .Set("family", s.family)
        .Set("variant", s.variant)
        .Set("place", int64_t{s.place})
        .Set("signature", s.signature)
        .Set("flops", s.flops)
        .Set("bytes", s.bytes);
    steps.Add(std::move(item));
  }
  return out.Set("steps", std::move(steps));
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
  PrintRow("measured", "us", 2, all, [](const Measured& m) { return m.us; });
  PrintRow("planned", "us", 2, all,
           [](const Measured& m) { return m.planned_us; });
  PrintRow("floor", "us", 2, all, [](const Measured& m) { return m.floor_us; });
  PrintRow("kernels", "", 0, all,
           [](const Measured& m) { return double(m.kernels); });
  PrintRow("weights", "MB", 1, all,
           [](const Measured& m) { return m.weight_bytes / 1e6; });
  PrintRow("activations", "MB", 1, all,
           [](const Measured& m) { return m.arena_bytes / 1e6; });
  PrintRow("compiling and timing", "s", 1, all,
           [](const Measured& m) { return m.compile_seconds; });
  if (all[0].error) {
    absl::PrintF("%-24s", "error against the CPU");
    for (const Measured& m : all) absl::PrintF(" %11.2e", *m.error);
    absl::PrintF("\n");
  }
}

absl::StatusOr<int> Bench(const Args& args) {
  ASSIGN_OR_RETURN(onnx::ImportOptions shapes, ImportOptionsFrom(args));
  Request request;
  ASSIGN_OR_RETURN(request.device,
                   cuda::Device::Open(args.String("device", "cuda:0")));
  request.tune = !args.Has("no-tune");
  if (args.Has("cache")) {
    ASSIGN_OR_RETURN(request.cache,
                     cuda::KernelCache::Open(args.String("cache")));
  }
  request.check = args.Has("check");
  request.steps = args.Has("kernels") || args.Has("trace");
  ASSIGN_OR_RETURN(int64_t times, args.Int("times", 100, 1, 1000000));
  request.times = static_cast<int>(times);
  ASSIGN_OR_RETURN(cost::Target target,
                   cost::Target::Named(args.String("target", "h200")));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  request.cost = &cost;
  absl::Duration budget = absl::Seconds(10);
  if (args.Has("budget") &&
      !absl::ParseDuration(args.String("budget"), &budget)) {
    return Invalid("flag --budget is '", args.String("budget"),
                   "'; expected a time such as 10s");
  }
  if (args.Has("batch")) {
    ASSIGN_OR_RETURN(shapes.dims["batch"], args.Int("batch", 1, 1, 1 << 20));
  }
  ASSIGN_OR_RETURN(
      const Graph graph,
      Graph::FromOnnx(args.positionals()[0], {shapes.shapes, shapes.dims}));
  std::vector<Measured> all;
  ASSIGN_OR_RETURN(Measured original, Measure(GraphAccess::Ir(graph), request));
  // What the original has chosen need not be timed again.
  request.choices = original.choices;
  all.push_back(std::move(original));
  double search_seconds = 0;
  Json candidates = Json::Array();
  if (!args.Has("original-only")) {
    OptimizeOptions how;
    how.target = args.String("target", "h200");
    how.time_limit = budget;
    ASSIGN_OR_RETURN(std::vector<Candidate> found,
                     Candidates(graph, how, args.String("profile", "builtin")));
    Measured best = all[0];
    for (const Candidate& c : found) {
      search_seconds += absl::ToDoubleSeconds(c.result.elapsed);
      ASSIGN_OR_RETURN(Measured m,
                       Measure(GraphAccess::Ir(c.result.graph), request));
      Json item = Json::Object();
      item.Set("searched_with", c.costs).Set("us", m.us);
      candidates.Add(std::move(item));
      if (m.us < best.us) best = std::move(m);
    }
    all.push_back(std::move(best));
  }
  if (args.Has("trace")) {
    RETURN_IF_ERROR(
        WriteFile(args.String("trace"), TraceOf(all.back()).ToString()));
  }
  if (args.Has("json")) {
    Json report = Json::Object();
    report.Set("model", args.positionals()[0])
        .Set("device", request.device->name())
        .Set("original", ToJson(all[0]));
    if (all.size() > 1) {
      report.Set("optimised", ToJson(all[1]))
          .Set("candidates", std::move(candidates))
          .Set("search_seconds", search_seconds);
    }
    absl::PrintF("%s\n", report.ToString());
    return 0;
  }
  absl::PrintF("%s on %s\n", args.positionals()[0], request.device->name());
  PrintTable(all);
  if (all.size() > 1) {
    absl::PrintF("%-24s %11s %11.1f  s\n", "search", "", search_seconds);
  }
  if (args.Has("kernels")) PrintSteps(all.back(), cost.target());
  return 0;
}

}  // namespace

Verb BenchVerb() {
  std::vector<Flag> flags = ShapeFlags();
  flags.push_back({"batch", "N", "the size of a dimension named batch"});
  flags.push_back({"device", "NAME", "the GPU (default cuda:0)"});
  flags.push_back({"target", "NAME", "what plans are made for (default h200)"});
  flags.push_back({"budget", "TIME", "how long to search (default 10s)"});
  flags.push_back({"original-only", "", "measure the model as it is alone"});
  flags.push_back({"no-tune", "", "take the likeliest kernels, time none"});
  flags.push_back(
      {"cache", "FOLDER", "where compiled kernels and choices are kept"});
  flags.push_back({"times", "N", "runs to take the median of (default 100)"});
  flags.push_back({"check", "", "compare the results with the CPU's"});
  flags.push_back({"kernels", "", "a table of the kernels"});
  flags.push_back(
      {"profile", "F.profile",
       "measured times to search with (default: those that come with Isomer)"});
  flags.push_back(
      {"trace", "F.json", "write the kernels as a trace for chrome://tracing"});
  flags.push_back({"json", "", "print the result as JSON"});
  return {"bench",
          "measure a model on a GPU, as it is and optimised",
          "Runs the model as one CUDA graph, first as it is, then optimised: "
          "with estimated and\nwith measured costs, whichever is faster. The "
          "floor is what moving weights once and\nthe arithmetic take at "
          "least.",
          {"MODEL"},
          flags,
          Bench};
}

}  // namespace isomer::cli

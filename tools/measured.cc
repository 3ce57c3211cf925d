// Every graph becomes a program, and stays on the device until all are timed.
#include "tools/measured.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cuda/prediction.h"
#include "graph/evaluate.h"
#include "ops/status.h"
#include "runtime/compare.h"
#include "runtime/fast.h"
#include "runtime/random_inputs.h"

namespace isomer::cli {

namespace {

constexpr double kApart = 0.03;
constexpr int kTracedRuns = 50;
// Programs are timed in so many turns, and in more if the shortest and the
// longest are further apart. A GPU that has just timed thousands of kernels is
// slower for a while: in each turn of all of them it rests so long together. It
// may be slow behind that, too, and works so long before it is timed.
constexpr int kTurns = 5, kMostTurns = 15;
constexpr double kSteady = 1.05, kWarmUpUs = 5000;
constexpr absl::Duration kRest = absl::Milliseconds(300);

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

// Compares what came of the inputs with the CPU's results.
absl::Status CheckResults(const ir::Graph& graph,
                          const std::map<std::string, Tensor>& inputs,
                          const std::vector<Tensor>& got, bool tf32,
                          Measured& m) {
  ir::EvaluateOptions how;
  how.run = runtime::FastKernels();
  ASSIGN_OR_RETURN(const std::vector<Tensor> want,
                   ir::Evaluate(graph, inputs, how));
  m.error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = runtime::RelativeError(got[i], want[i]);
    m.error = std::max(*m.error, error);
    m.agrees = m.agrees &&
               error <= runtime::DefaultTolerance(want[i].type.dtype, tf32);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<KernelTime> KernelTimes(absl::Span<const cuda::StepTime> steps,
                                    double us, const cuda::Program& program) {
  // What is no kernel of the plan passes between those that are.
  double sum = 0, launches = 0;
  for (const cuda::StepTime& s : steps) {
    if (s.signature.empty()) continue;
    sum += s.us * s.launches;
    launches += s.launches;
  }
  const double more = std::max(0.0, (us - sum) / launches);
  const double factor = std::min(1.0, us / sum);
  std::map<std::string, double> planned;
  for (const cuda::PlannedKernel& k : program.planned) {
    planned[k.signature] = k.us;
  }
  std::map<std::string, std::map<int, double>> times;  // by kernel of the plan
  std::map<std::string, std::string> variants;
  for (const cuda::StepTime& s : steps) {
    const std::vector<std::string> kernels =
        absl::StrSplit(s.signature, "; ", absl::SkipEmpty());
    // Kernels that one step does share its time as the plan would have it.
    double all = 0;
    for (const std::string& signature : kernels) all += planned[signature];
    for (const std::string& signature : kernels) {
      variants[signature] = s.variant;
      const double share =
          all > 0 ? planned[signature] / all : 1.0 / kernels.size();
      for (int step : s.steps) {
        times[signature][program.steps[step].kernel] +=
            (s.us * factor + more) * share;
      }
    }
  }
  std::vector<KernelTime> out;
  for (const auto& [signature, by_kernel] : times) {
    double us = 0;
    for (const auto& [kernel, time] : by_kernel) us += time;
    const auto count = static_cast<int64_t>(by_kernel.size());
    // Kernels that are called the same may read what lies differently.
    out.push_back({signature, us / static_cast<double>(count), count,
                   variants[signature]});
  }
  return out;
}

namespace {

// A program that is ready to be timed, and what is known of it.
struct Running {
  std::unique_ptr<cuda::Executor> executor;
  Measured measured;
  std::vector<double> turns = {};

  bool IsSteady() const {
    const auto [shortest, longest] = absl::c_minmax_element(turns);
    return *longest <= kSteady * *shortest;
  }
};

// What is known of a program before it runs.
Measured Foreseen(const cuda::Program& program, const MeasureRequest& request) {
  Measured m;
  m.kernels = static_cast<int64_t>(program.steps.size());
  m.weight_bytes = program.constant_bytes;
  m.arena_bytes = program.arena_bytes;
  m.floor_us = FloorUs(program, request.cost->target());
  for (const cuda::PlannedKernel& k : program.planned) m.planned_us += k.us;
  const cuda::Prediction predicted = cuda::Predict(program, *request.profile);
  const bool one = request.streams == cuda::ExecutorOptions::Streams::kOne ||
                   predicted.scheduled_us >= predicted.us;
  m.predicted_us = one ? predicted.us : predicted.scheduled_us;
  m.streams = one ? 1 : program.schedule.streams;
  m.measured_share = predicted.measured_share;
  return m;
}

// Compiles all that measuring would.
absl::StatusOr<std::vector<Measured>> Compiled(
    absl::Span<const ir::Graph* const> graphs, const MeasureRequest& request) {
  std::vector<cuda::Program> programs;
  for (const ir::Graph* g : graphs) {
    ASSIGN_OR_RETURN(cuda::Program program,
                     cuda::ProgramFor(*request.device, *g, *request.cost,
                                      {.tf32 = request.tf32}));
    programs.push_back(std::move(program));
  }
  std::vector<const cuda::Program*> all;
  for (const cuda::Program& p : programs) all.push_back(&p);
  RETURN_IF_ERROR(cuda::Executor::CompileAhead(*request.device, all,
                                               *request.cache, false));
  std::vector<Measured> out;
  for (const cuda::Program& p : programs) out.push_back(Foreseen(p, request));
  return out;
}

absl::StatusOr<Running> Start(const ir::Graph& graph,
                              const MeasureRequest& request) {
  ASSIGN_OR_RETURN(cuda::Program program,
                   cuda::ProgramFor(*request.device, graph, *request.cost,
                                    {.tf32 = request.tf32}));
  Measured m = Foreseen(program, request);
  cuda::ExecutorOptions options;
  options.tune = request.tune;
  options.choices = request.choices;
  options.cache = request.cache;
  options.streams = request.streams;
  ASSIGN_OR_RETURN(
      std::unique_ptr<cuda::Executor> executor,
      cuda::Executor::Create(request.device, std::move(program), options));
  m.compile_seconds = executor->compile_seconds();
  m.streams = executor->streams();
  m.choices = executor->choices();
  ASSIGN_OR_RETURN(const auto inputs, runtime::RandomInputs(graph, 0));
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, executor->Run(inputs));
  if (request.check) {
    RETURN_IF_ERROR(CheckResults(graph, inputs, outputs, request.tf32, m));
  }
  if (request.outputs) m.outputs = std::move(outputs);
  return Running{std::move(executor), std::move(m)};
}

absl::StatusOr<double> TimeWarm(const cuda::Executor& executor, int runs) {
  ASSIGN_OR_RETURN(const double about, executor.Time(1));
  const int first = 1 + static_cast<int>(kWarmUpUs / about);
  RETURN_IF_ERROR(executor.Time(first).status());
  return executor.Time(runs);
}

absl::Status TimeInTurns(const MeasureRequest& request,
                         std::vector<Running>& all) {
  const int runs = std::max(1, request.times / kTurns);
  for (int turn = 0; turn < kMostTurns; ++turn) {
    for (Running& r : all) {
      if (turn >= kTurns && r.IsSteady()) continue;
      absl::SleepFor(kRest / static_cast<double>(all.size()));
      ASSIGN_OR_RETURN(const double us, request.clock->Watch([&] {
        return TimeWarm(*r.executor, runs);
      }));
      r.turns.push_back(us);
      r.measured.mhz = request.clock->mhz();
    }
  }
  for (Running& r : all) {
    const auto middle = r.turns.begin() + r.turns.size() / 2;
    std::nth_element(r.turns.begin(), middle, r.turns.end());
    r.measured.us = *middle;
  }
  return absl::OkStatus();
}

absl::Status TimeKernels(const MeasureRequest& request, Running& running) {
  const cuda::Executor& executor = *running.executor;
  Measured& m = running.measured;
  ASSIGN_OR_RETURN(m.steps,
                   request.clock->Watch([&] { return executor.TimeSteps(); }));
  m.on_one_stream_us = m.us;
  if (m.streams > 1) {
    ASSIGN_OR_RETURN(m.on_one_stream_us, request.clock->Watch([&] {
      return executor.TimeOnOneStream(request.times);
    }));
  }
  m.kernel_times = KernelTimes(m.steps, m.on_one_stream_us, executor.program());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Measured>> MeasureAll(
    absl::Span<const ir::Graph* const> graphs, MeasureRequest request) {
  std::vector<Measured> out;
  if (request.device == nullptr) {
    for (const ir::Graph* g : graphs) {
      ASSIGN_OR_RETURN(const cuda::Program program,
                       cuda::MakeProgram(*g, *request.cost));
      out.push_back(Foreseen(program, request));
    }
    return out;
  }
  if (request.compile_only) return Compiled(graphs, request);
  while (out.size() < graphs.size()) {
    std::vector<Running> together;
    for (size_t i = out.size(); i < graphs.size(); ++i) {
      absl::StatusOr<Running> r = Start(*graphs[i], request);
      // The others first: there is more memory when they are gone.
      if (absl::IsResourceExhausted(r.status()) && !together.empty()) break;
      RETURN_IF_ERROR(r.status());
      if (request.pass_on) {
        const auto& choices = r->measured.choices;
        request.choices.insert(choices.begin(), choices.end());
      }
      together.push_back(*std::move(r));
    }
    RETURN_IF_ERROR(TimeInTurns(request, together));
    for (Running& r : together) {
      if (request.steps || request.trace) {
        RETURN_IF_ERROR(TimeKernels(request, r));
      }
      if (request.trace) {
        ASSIGN_OR_RETURN(const auto spans, r.executor->Spans(kTracedRuns));
        r.measured.trace = TracedSteps(*r.executor, r.measured.steps, spans);
      }
      out.push_back(std::move(r.measured));
    }
  }
  return out;
}

absl::StatusOr<Measured> Measure(const ir::Graph& graph,
                                 const MeasureRequest& request) {
  ASSIGN_OR_RETURN(std::vector<Measured> all, MeasureAll({&graph}, request));
  return std::move(all[0]);
}

Json ToJson(const Measured& m) {
  Json out = Json::Object(), steps = Json::Array();
  if (m.us > 0) {
    out.Set("us", m.us)
        .Set("mhz", m.mhz)
        .Set("compile_seconds", m.compile_seconds);
  }
  out.Set("planned_us", m.planned_us)
      .Set("predicted_us", m.predicted_us)
      .Set("measured_share", m.measured_share)
      .Set("floor_us", m.floor_us)
      .Set("kernels", m.kernels)
      .Set("streams", m.streams)
      .Set("weight_bytes", m.weight_bytes)
      .Set("activation_bytes", m.arena_bytes);
  if (m.error) out.Set("error", *m.error).Set("agrees", m.agrees);
  if (!m.steps.empty()) out.Set("on_one_stream_us", m.on_one_stream_us);
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
  Json times = Json::Array();
  for (const KernelTime& k : m.kernel_times) {
    Json item = Json::Object();
    item.Set("signature", k.signature)
        .Set("us", k.us)
        .Set("times", k.times)
        .Set("variant", k.variant);
    times.Add(std::move(item));
  }
  return out.Set("steps", std::move(steps))
      .Set("kernel_times", std::move(times));
}

Ordered OrderOf(const std::vector<Measured>& all) {
  Ordered out;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = i + 1; k < all.size(); ++k) {
      const Measured &a = all[i], &b = all[k];
      if (std::max(a.us, b.us) <= (1 + kApart) * std::min(a.us, b.us)) continue;
      ++out.pairs;
      const double sign = a.us > b.us ? 1 : -1;
      out.as_predicted += sign * (a.predicted_us - b.predicted_us) > 0;
      out.as_planned += sign * (a.planned_us - b.planned_us) > 0;
    }
  }
  return out;
}

}  // namespace isomer::cli

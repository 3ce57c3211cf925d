// isomer profile: the kernels of models timed on a GPU, for the search to know.
#include "cost_model/profile.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cost_model/cost.h"
#include "cuda/executor.h"
#include "cuda/kernel_uses.h"
#include "cuda/planned_kernels.h"
#include "graph/for_all.h"
#include "ops/status.h"
#include "runtime/random_inputs.h"
#include "search/optimize.h"
#include "search/rule_book.h"
#include "tools/files.h"
#include "tools/kernel_graph.h"
#include "tools/measured.h"
#include "tools/spread.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

constexpr int kRuns = 50;  // of the whole model, to take the median of
constexpr absl::Duration kBetweenWrites = absl::Seconds(2);
constexpr char kDay[] = "%Y-%m-%d";  // as profiles write it
constexpr size_t kTogether = 16;     // kernels that are compiled at a time
// The share of a graph's time that must be missing for it to be measured whole.
constexpr double kLittle = 0.02;

struct Request {
  std::string target, out, date, by;
  absl::Duration budget = absl::Seconds(5);  // of each search
  absl::Time end = absl::InfiniteFuture();
  int candidates = 0;
  MeasureRequest measure = {};
};

// A model, and what searches find on the way to its best form.
struct Model {
  std::string path;
  Graph graph;
  // With estimates, with measured times, and between if that is asked for.
  std::vector<ir::Graph> found;
  // Kernels that were not measured then, and their estimates in picoseconds.
  std::map<std::string, int64_t> considered;
  int64_t constant_bytes = 0;
};

// A kernel to measure by itself, as it runs in a model with constants of so
// many bytes.
struct Considered {
  std::string signature;
  int64_t constant_bytes = 0, estimate_ps = 0;
};

// What is measured is in the file some seconds later at most, whatever comes.
class Profiler {
 public:
  // What `older` has is kept until it is measured again.
  Profiler(Request request, cost::Profile profile, cost::Profile older)
      : request_(std::move(request)),
        profile_(std::move(profile)),
        older_(std::move(older)) {}

  // Adds the kernels that the profile does not have: those of the models as
  // they are and optimised, as they run there, and then, by themselves, those
  // that searches consider.
  absl::Status AddModels(const std::vector<std::string>& paths) {
    // Where it cannot be written is better known before all is measured.
    RETURN_IF_ERROR(Write());
    const size_t known = profile_.entries().size();
    ASSIGN_OR_RETURN(std::vector<Model> models, Read(paths));
    for (Model& m : models) {
      const absl::Status status = AddForms(m);
      if (!status.ok()) return Prefixed(m.path + ": ", status);
    }
    const std::vector<Considered> missing = Missing(models);
    models.clear();
    const size_t of_models = profile_.entries().size();
    RETURN_IF_ERROR(AddKernels(missing));
    RETURN_IF_ERROR(Write());
    ASSIGN_OR_RETURN(const cost::Profile all, All());
    const size_t now = profile_.entries().size();
    absl::PrintF(
        "%s: %d kernels, %d of them measured now; %d that searches consider "
        "are not, %d of which cannot be, each by itself\n",
        request_.out, all.entries().size(), now - known,
        missing.size() - (now - of_models), impossible_.load());
    return absl::OkStatus();
  }

 private:
  bool IsOver() const { return absl::Now() >= request_.end; }

  absl::Status Add(absl::string_view signature, double us,
                   const std::string& variant) {
    return profile_.Add(signature, {static_cast<int64_t>(us * 1e6),
                                    request_.date, request_.by, variant});
  }

  absl::Status WriteNowAndThen() {
    if (absl::Now() - written_ < kBetweenWrites) return absl::OkStatus();
    written_ = absl::Now();
    return Write();
  }

  absl::StatusOr<cost::Profile> All() const {
    cost::Profile all = older_;
    RETURN_IF_ERROR(all.Merge(profile_));
    return all;
  }

  absl::Status Write() const {
    ASSIGN_OR_RETURN(const cost::Profile all, All());
    return WriteFile(request_.out, all.ToText());
  }

  // Searches of all models at a time: the device waits for none of them later.
  absl::StatusOr<std::vector<Model>> Read(
      const std::vector<std::string>& paths) const {
    std::vector<std::string> refused;
    ASSIGN_OR_RETURN(const search::RuleBook book,
                     search::RuleBook::BuiltIn(refused));
    std::vector<absl::StatusOr<Model>> read(paths.size(),
                                            absl::UnknownError("not read"));
    ForAll(static_cast<int64_t>(paths.size()),
           [&](int64_t i) { read[i] = ReadModel(paths[i], book); });
    std::vector<Model> out;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!read[i].ok()) return Prefixed(paths[i] + ": ", read[i].status());
      out.push_back(*std::move(read[i]));
    }
    return out;
  }

  absl::StatusOr<Model> ReadModel(const std::string& path,
                                  const search::RuleBook& book) const {
    ASSIGN_OR_RETURN(Graph graph, Graph::FromOnnx(path));
    Model m{path, std::move(graph), {}, {}};
    const ir::Graph& original = GraphAccess::Ir(m.graph);
    for (NodeId id : original.Order()) {
      const ir::Node& node = original.node(id);
      if (node.kind != ir::Node::Kind::kConstant) continue;
      m.constant_bytes += cuda::BytesOf(node.constant->type());
    }
    search::SearchOptions how;
    how.limits.time = request_.budget;
    how.threads = 1;
    const cost::CostModel& estimates = *request_.measure.cost;
    ASSIGN_OR_RETURN(const cost::CostModel created,
                     cost::CostModel::Create(estimates.target(), profile_));
    const cost::CostModel measured = created.FittedTo(original);
    for (const cost::CostModel* cost : {&estimates, &measured}) {
      ASSIGN_OR_RETURN(search::SearchResult r,
                       search::Optimize(original, book, *cost, how));
      if (r.improved) m.found.push_back(std::move(r.graph));
    }
    m.considered = measured.Unmeasured();
    if (request_.candidates > 0) {
      ASSIGN_OR_RETURN(const std::vector<Graph> between,
                       SpreadOf(m.graph, estimates, request_.candidates));
      for (const Graph& g : between) m.found.push_back(GraphAccess::Ir(g));
    }
    return m;
  }

  absl::Status AddForms(Model& m) {
    const size_t known = profile_.entries().size();
    RETURN_IF_ERROR(AddWhole(GraphAccess::Ir(m.graph), m.considered));
    for (const ir::Graph& g : m.found) {
      RETURN_IF_ERROR(AddWhole(g, m.considered));
    }
    absl::PrintF("%s: %d new kernels\n", m.path,
                 profile_.entries().size() - known);
    return absl::OkStatus();
  }

  absl::Status AddWhole(const ir::Graph& graph,
                        std::map<std::string, int64_t>& considered) {
    if (IsOver()) return absl::OkStatus();
    const absl::Status status = AddMissing(graph, considered);
    if (!absl::IsUnimplemented(status)) return status;
    // Some of its kernels can be measured by themselves all the same.
    absl::PrintF("not measured whole: %s\n", status.message());
    return absl::OkStatus();
  }

  // What a graph has chosen need not be timed again by the next. Where little
  // is missing, that is left to be measured by itself.
  absl::Status AddMissing(const ir::Graph& graph,
                          std::map<std::string, int64_t>& considered) {
    ASSIGN_OR_RETURN(const std::vector<cuda::PlannedKernel> planned,
                     cuda::PlannedKernels(graph, *request_.measure.cost));
    double all = 0, missing = 0;
    for (const cuda::PlannedKernel& k : planned) {
      all += k.us;
      if (profile_.Find(k.signature) != nullptr) continue;
      missing += k.us;
      considered.insert({k.signature, static_cast<int64_t>(k.us * 1e6)});
    }
    if (missing > kLittle * all) {
      ASSIGN_OR_RETURN(const Measured m, Measure(graph, request_.measure));
      request_.measure.choices.insert(m.choices.begin(), m.choices.end());
      for (const KernelTime& k : m.kernel_times) {
        RETURN_IF_ERROR(Add(k.signature, k.us, k.variant));
      }
    }
    for (const cuda::PlannedKernel& k : planned) {
      const cost::Measurement* m = profile_.Find(k.signature);
      if (m == nullptr || k.searched_as.empty() ||
          profile_.Find(k.searched_as) != nullptr) {
        continue;
      }
      RETURN_IF_ERROR(profile_.Add(k.searched_as, cost::Measurement(*m)));
    }
    return WriteNowAndThen();
  }

  std::vector<Considered> Missing(const std::vector<Model>& models) const {
    std::vector<Considered> out;
    std::set<std::string> seen;
    for (const Model& m : models) {
      for (const auto& [s, estimate] : m.considered) {
        if (profile_.Find(s) != nullptr || !seen.insert(s).second) continue;
        out.push_back({s, m.constant_bytes, estimate});
      }
    }
    // Those that take longest matter most.
    std::stable_sort(out.begin(), out.end(),
                     [](const Considered& a, const Considered& b) {
                       return a.estimate_ps > b.estimate_ps;
                     });
    return out;
  }

  // A kernel by itself.
  struct Alone {
    std::string signature;
    ir::Graph graph;
    cuda::Program program;
  };

  // Some at a time: while these are timed, the next are compiled.
  absl::Status AddKernels(absl::Span<const Considered> kernels) {
    using Ready = absl::StatusOr<std::vector<Alone>>;
    auto start = [&](size_t from) {
      return std::async(std::launch::async, [this, kernels, from] {
        return Compiled(
            kernels.subspan(std::min(from, kernels.size()), kTogether));
      });
    };
    std::future<Ready> next = start(0);
    for (size_t i = 0; i < kernels.size() && !IsOver(); i += kTogether) {
      ASSIGN_OR_RETURN(std::vector<Alone> ready, next.get());
      next = start(i + kTogether);
      for (Alone& a : ready) {
        if (IsOver()) return absl::OkStatus();
        RETURN_IF_ERROR(AddKernel(std::move(a)));
        RETURN_IF_ERROR(WriteNowAndThen());
      }
    }
    return absl::OkStatus();
  }

  // Nothing if it is no kernel of its own.
  std::optional<Alone> MakeAlone(const Considered& c) const {
    auto graph = KernelGraph(c.signature);
    if (!graph.ok() ||
        !IsPlannedAs(*graph, c.signature, *request_.measure.cost)) {
      return std::nullopt;
    }
    auto program = cuda::ProgramFor(*request_.measure.device, *graph,
                                    *request_.measure.cost,
                                    {.part_of_bytes = c.constant_bytes});
    if (!program.ok()) return std::nullopt;
    return Alone{c.signature, *std::move(graph), *std::move(program)};
  }

  // Those that are kernels of their own, ready to be loaded.
  absl::StatusOr<std::vector<Alone>> Compiled(
      absl::Span<const Considered> kernels) {
    std::vector<std::optional<Alone>> made(kernels.size());
    ForAll(static_cast<int64_t>(kernels.size()), [&](int64_t i) {
      if (IsOver()) return;
      made[i] = MakeAlone(kernels[i]);
      if (!made[i]) ++impossible_;
    });
    std::vector<Alone> all;
    for (std::optional<Alone>& a : made) {
      if (a) all.push_back(*std::move(a));
    }
    std::vector<const cuda::Program*> programs;
    for (const Alone& a : all) programs.push_back(&a.program);
    RETURN_IF_ERROR(cuda::Executor::CompileAhead(
        *request_.measure.device, programs, *request_.measure.cache, true));
    return all;
  }

  // Nothing is added if the device cannot run it.
  absl::Status AddKernel(Alone alone) {
    cuda::ExecutorOptions options;
    options.cache = request_.measure.cache;
    const auto executor = cuda::Executor::Create(
        request_.measure.device, std::move(alone.program), options);
    if (absl::IsDataLoss(executor.status())) return executor.status();
    if (!executor.ok()) {
      ++impossible_;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const auto inputs, runtime::RandomInputs(alone.graph, 0));
    RETURN_IF_ERROR((*executor)->Run(inputs).status());
    ASSIGN_OR_RETURN(const auto steps, request_.measure.clock->Watch([&] {
      return (*executor)->TimeSteps();
    }));
    double us = 0;
    for (const cuda::StepTime& s : steps) us += s.us * s.launches;
    if (steps.empty()) return absl::OkStatus();
    return Add(alone.signature, us, steps.back().variant);
  }

  Request request_;
  cost::Profile profile_, older_;
  std::atomic<int64_t> impossible_ = 0;  // to measure by themselves
  absl::Time written_ = absl::InfinitePast();
};

// What is in the file that is to be written.
absl::StatusOr<cost::Profile> ProfileBefore(const Request& request) {
  const auto text = ReadFile(request.out);
  if (absl::IsNotFound(text.status())) return cost::Profile(request.target);
  RETURN_IF_ERROR(text.status());
  auto read = cost::Profile::Parse(*text);
  if (!read.ok()) return Prefixed(request.out + ": ", read.status());
  if (read->target() != request.target) {
    return Invalid(request.out, " is a profile of ", read->target(),
                   ", not of ", request.target);
  }
  return read;
}

// A day that a flag names, as profiles write it; "" if none is given.
absl::StatusOr<std::string> DayOf(const Args& args, const std::string& flag) {
  const std::string day = args.String(flag);
  absl::Time time;
  std::string error;
  if (day.empty()) return day;
  if (!absl::ParseTime(kDay, day, &time, &error) ||
      absl::FormatTime(kDay, time, absl::UTCTimeZone()) != day) {
    return Invalid("flag --", flag, " is '", day,
                   "'; expected a day such as 2026-11-15");
  }
  return day;
}

absl::StatusOr<int> RunProfile(const Args& args) {
  std::vector<std::string> models = args.positionals();
  for (std::string& m : args.All("models")) models.push_back(std::move(m));
  if (models.empty()) return Invalid("argument MODEL is missing");
  Request request;
  request.target = args.String("target", "h200");
  ASSIGN_OR_RETURN(request.budget, args.Time("budget", request.budget));
  ASSIGN_OR_RETURN(const absl::Duration time,
                   args.Time("time", absl::InfiniteDuration()));
  request.end = absl::Now() + time;
  ASSIGN_OR_RETURN(request.measure.cache, CacheFrom(args));
  ASSIGN_OR_RETURN(const int64_t candidates,
                   args.Int("candidates", 0, 0, 1000));
  request.candidates = static_cast<int>(candidates);
  ASSIGN_OR_RETURN(cost::Target target, cost::Target::Named(request.target));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  const cost::Profile none(request.target);
  request.measure.cost = &cost;
  request.measure.profile = &none;
  request.measure.steps = true;
  request.measure.streams = cuda::ExecutorOptions::Streams::kOne;
  request.measure.times = kRuns;
  request.date = absl::FormatTime(kDay, absl::Now(), absl::UTCTimeZone());
  request.by = args.String("by", "isomer");
  request.out = args.String("out");
  if (request.out.empty()) {
    return Invalid("flag --out is missing: where to write to");
  }
  ASSIGN_OR_RETURN(const cost::Profile before, ProfileBefore(request));
  ASSIGN_OR_RETURN(const std::string since, DayOf(args, "since"));
  cost::Profile profile(request.target), older(request.target);
  for (const auto& [signature, m] : before.entries()) {
    cost::Profile& part = m.date < since ? older : profile;
    RETURN_IF_ERROR(part.Add(signature, m));
  }
  ASSIGN_OR_RETURN(request.measure.device,
                   cuda::Device::Open(args.String("device", "cuda:0")));
  ASSIGN_OR_RETURN(request.measure.clock,
                   cuda::Clock::Create(request.measure.device));
  Profiler profiler(std::move(request), std::move(profile), std::move(older));
  RETURN_IF_ERROR(profiler.AddModels(models));
  return 0;
}

}  // namespace

Verb ProfileVerb() {
  return {"profile",
          "time the kernels of models on a GPU",
          "Times the kernels of the models, as they are and optimised, and "
          "those that a search\nconsiders, if the profile does not have them, "
          "and adds the times to it. It may be\ninterrupted, and goes on where "
          "it was. `isomer optimize --profile` reads it. Light\nmodels have no "
          "weights to measure with: `isomer randomize` gives them some.",
          {"[MODEL]..."},
          {{"out", "F.profile", "the profile to write or to add to"},
           {"models", "MODEL", "one more model; may be repeated"},
           {"device", "NAME", "the GPU (default cuda:0)"},
           {"target", "NAME", "whose profile it is (default h200)"},
           {"budget", "TIME", "how long to search each model (default 5s)"},
           {"time", "TIME", "measure nothing more after so long"},
           {"since", "DAY", "measure again what was measured before that day"},
           {"candidates", "N",
            "graphs between a model and the best to time too (default 0)"},
           {"cache", "FOLDER", "where compiled kernels and choices are kept"},
           {"by", "WORD", "who measures (default isomer)"}},
          RunProfile};
}

}  // namespace isomer::cli

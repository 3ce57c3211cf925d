// isomer profile: the kernels of models timed on a GPU, for the search to know.
#include "cost_model/profile.h"

#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cost_model/cost.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/measured.h"
#include "tools/spread.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

constexpr int kRuns = 50;  // of the whole model, to take the median of

struct Request {
  std::string target;
  absl::Duration budget = absl::Seconds(5);
  int candidates = 0;
  std::string date, by;
  MeasureRequest measure = {};
};

// What a graph has chosen need not be timed again by the next.
absl::Status AddKernels(const ir::Graph& graph, Request& request,
                        cost::Profile& profile) {
  ASSIGN_OR_RETURN(const Measured m, Measure(graph, request.measure));
  request.measure.choices.insert(m.choices.begin(), m.choices.end());
  for (const KernelTime& k : m.kernel_times) {
    RETURN_IF_ERROR(
        profile.Add(k.signature, {static_cast<int64_t>(k.us * 1e6),
                                  request.date, request.by, k.variant}));
  }
  return absl::OkStatus();
}

absl::Status AddModel(const std::string& path, Request& request,
                      cost::Profile& profile) {
  ASSIGN_OR_RETURN(const Graph graph, Graph::FromOnnx(path));
  RETURN_IF_ERROR(AddKernels(GraphAccess::Ir(graph), request, profile));
  OptimizeOptions how;
  how.target = request.target;
  how.time_limit = request.budget;
  ASSIGN_OR_RETURN(const OptimizeResult r, graph.optimize(how));
  RETURN_IF_ERROR(AddKernels(GraphAccess::Ir(r.graph), request, profile));
  if (request.candidates == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Graph> between,
                   SpreadOf(graph, *request.measure.cost, request.candidates));
  for (const Graph& g : between) {
    RETURN_IF_ERROR(AddKernels(GraphAccess::Ir(g), request, profile));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProfile(const Args& args) {
  Request request;
  request.target = args.String("target", "h200");
  ASSIGN_OR_RETURN(request.measure.device,
                   cuda::Device::Open(args.String("device", "cuda:0")));
  if (args.Has("budget") &&
      !absl::ParseDuration(args.String("budget"), &request.budget)) {
    return Invalid("flag --budget is '", args.String("budget"),
                   "'; expected a time such as 5s");
  }
  request.measure.cache = cuda::KernelCache::InMemory();
  if (args.Has("cache")) {
    ASSIGN_OR_RETURN(request.measure.cache,
                     cuda::KernelCache::Open(args.String("cache")));
  }
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
  request.date = absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
  request.by = args.String("by", "isomer");
  const std::string out = args.String("out");
  if (out.empty()) return Invalid("flag --out is missing: where to write to");
  cost::Profile profile(request.target);
  if (auto before = ReadFile(out); before.ok()) {
    ASSIGN_OR_RETURN(profile, cost::Profile::Parse(*before));
  }
  for (const std::string& model : args.positionals()) {
    const size_t known = profile.entries().size();
    const absl::Status status = AddModel(model, request, profile);
    if (!status.ok()) return Prefixed(model + ": ", status);
    // What is measured is kept, whatever comes.
    RETURN_IF_ERROR(WriteFile(out, profile.ToText()));
    absl::PrintF("%s: %d kernels, %d of them new\n", model,
                 profile.entries().size(), profile.entries().size() - known);
  }
  return 0;
}

}  // namespace

Verb ProfileVerb() {
  return {"profile",
          "time the kernels of models on a GPU",
          "Times each kernel of the models, as they are and optimised, and "
          "adds the times to a\nprofile, which `isomer optimize --profile` "
          "reads.",
          {"MODEL..."},
          {{"out", "F.profile", "the profile to write or to add to"},
           {"device", "NAME", "the GPU (default cuda:0)"},
           {"target", "NAME", "whose profile it is (default h200)"},
           {"budget", "TIME", "how long to search each model (default 5s)"},
           {"candidates", "N",
            "graphs between a model and the best to time too (default 0)"},
           {"cache", "FOLDER", "where compiled kernels and choices are kept"},
           {"by", "WORD", "who measures (default isomer)"}},
          RunProfile};
}

}  // namespace isomer::cli

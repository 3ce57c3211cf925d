// isomer profile: the kernels of models timed on a GPU, for the search to know.
#include "cost_model/profile.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/graph_access.h"
#include "api/isomer.h"
#include "cost_model/cost.h"
#include "cuda/executor.h"
#include "ops/status.h"
#include "tools/files.h"
#include "tools/verb.h"

namespace isomer::cli {

namespace {

constexpr int kRuns = 50;  // of the whole model, to take the median of

struct Request {
  std::shared_ptr<cuda::Device> device;
  std::string target;
  absl::Duration budget = absl::Seconds(5);
  std::string date, by;
  cuda::ExecutorOptions options = {};
};

// The steps of a graph, timed by themselves, as measurements of the kernels
// that were planned. A kernel of several steps takes as long as all of them,
// kernels of one step have equal shares in it. What passes between steps of the
// whole model counts as part of each.
absl::Status AddKernels(const ir::Graph& graph, const Request& request,
                        cost::Profile& profile) {
  ASSIGN_OR_RETURN(cost::Target target, cost::Target::Named(request.target));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  cuda::ProgramOptions how;
  how.units = request.device->units();
  ASSIGN_OR_RETURN(cuda::Program program, cuda::MakeProgram(graph, cost, how));
  ASSIGN_OR_RETURN(const auto executor,
                   cuda::Executor::Create(request.device, std::move(program),
                                          request.options));
  ASSIGN_OR_RETURN(const std::vector<cuda::StepTime> steps,
                   executor->TimeSteps());
  ASSIGN_OR_RETURN(const double whole, executor->Time(kRuns));
  double sum = 0, launches = 0;
  for (const cuda::StepTime& s : steps) {
    sum += s.us * s.launches;
    launches += s.launches;
  }
  const double between = std::max(0.0, (whole - sum) / launches);
  std::map<std::pair<std::string, int>, double> times;  // of kernels
  std::map<std::string, std::string> variants;
  for (const cuda::StepTime& s : steps) {
    const std::vector<std::string> kernels =
        absl::StrSplit(s.signature, "; ", absl::SkipEmpty());
    for (const std::string& signature : kernels) {
      variants[signature] = s.variant;
      for (int step : s.steps) {
        times[{signature, executor->program().steps[step].kernel}] +=
            (s.us + between) / static_cast<double>(kernels.size());
      }
    }
  }
  // Kernels that are called the same may read what lies differently.
  std::map<std::string, std::vector<double>> found;
  for (const auto& [key, us] : times) found[key.first].push_back(us);
  for (const auto& [signature, all] : found) {
    const double mean = std::accumulate(all.begin(), all.end(), 0.0) /
                        static_cast<double>(all.size());
    RETURN_IF_ERROR(
        profile.Add(signature, {static_cast<int64_t>(mean * 1e6), request.date,
                                request.by, variants[signature]}));
  }
  return absl::OkStatus();
}

absl::Status AddModel(const std::string& path, const Request& request,
                      cost::Profile& profile) {
  ASSIGN_OR_RETURN(const Graph graph, Graph::FromOnnx(path));
  RETURN_IF_ERROR(AddKernels(GraphAccess::Ir(graph), request, profile));
  OptimizeOptions how;
  how.target = request.target;
  how.time_limit = request.budget;
  ASSIGN_OR_RETURN(const OptimizeResult r, graph.optimize(how));
  return AddKernels(GraphAccess::Ir(r.graph), request, profile);
}

absl::StatusOr<int> RunProfile(const Args& args) {
  Request request;
  request.target = args.String("target", "h200");
  ASSIGN_OR_RETURN(request.device,
                   cuda::Device::Open(args.String("device", "cuda:0")));
  if (args.Has("budget") &&
      !absl::ParseDuration(args.String("budget"), &request.budget)) {
    return Invalid("flag --budget is '", args.String("budget"),
                   "'; expected a time such as 5s");
  }
  if (args.Has("cache")) {
    ASSIGN_OR_RETURN(request.options.cache,
                     cuda::KernelCache::Open(args.String("cache")));
  }
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
           {"cache", "FOLDER", "where compiled kernels and choices are kept"},
           {"by", "WORD", "who measures (default isomer)"}},
          RunProfile};
}

}  // namespace isomer::cli

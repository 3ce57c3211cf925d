// Every candidate becomes a program of its own; what one has compiled the next
// need not compile again.
#include "tools/on_device.h"

#include <utility>

#include "api/graph_access.h"
#include "cost_model/cost.h"
#include "cuda/executor.h"
#include "graph/graph.h"
#include "ops/status.h"

namespace isomer::cli {

namespace {

constexpr int kRuns = 50;  // to take the median of

absl::StatusOr<double> TimeOf(const std::shared_ptr<cuda::Device>& device,
                              const Graph& graph, const cost::CostModel& cost,
                              const std::shared_ptr<cuda::KernelCache>& cache) {
  cuda::ProgramOptions how;
  how.units = device->units();
  ASSIGN_OR_RETURN(cuda::Program program,
                   cuda::MakeProgram(GraphAccess::Ir(graph), cost, how));
  cuda::ExecutorOptions options;
  options.cache = cache;
  ASSIGN_OR_RETURN(const auto executor,
                   cuda::Executor::Create(device, std::move(program), options));
  return executor->Time(kRuns);
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> Candidates(const Graph& graph,
                                                  OptimizeOptions options,
                                                  const std::string& profile) {
  options.profile = "";
  ASSIGN_OR_RETURN(OptimizeResult estimated, graph.optimize(options));
  options.profile = profile;
  ASSIGN_OR_RETURN(OptimizeResult measured, graph.optimize(options));
  const bool same = ir::Equal(GraphAccess::Ir(estimated.graph),
                              GraphAccess::Ir(measured.graph));
  std::vector<Candidate> out;
  out.push_back({"estimates", std::move(estimated)});
  if (!same) out.push_back({"measured", std::move(measured)});
  return out;
}

absl::StatusOr<FastestResult> FastestOn(
    const std::shared_ptr<cuda::Device>& device, const Graph& graph,
    const std::vector<Candidate>& candidates) {
  ASSIGN_OR_RETURN(cost::Target target,
                   cost::Target::Named(candidates.front().result.target));
  ASSIGN_OR_RETURN(const cost::CostModel cost,
                   cost::CostModel::Create(std::move(target)));
  const auto cache = cuda::KernelCache::InMemory();
  FastestResult out{candidates.front().result};
  ASSIGN_OR_RETURN(out.original_us, TimeOf(device, graph, cost, cache));
  out.us = out.original_us;
  out.result.graph = graph;
  out.result.improved = false;
  out.result.after = out.result.before;
  out.result.rules.clear();
  for (const Candidate& c : candidates) {
    if (!c.result.improved) continue;
    ASSIGN_OR_RETURN(const double us,
                     TimeOf(device, c.result.graph, cost, cache));
    if (us < out.us) {
      out.us = us;
      out.result = c.result;
    }
  }
  return out;
}

}  // namespace isomer::cli

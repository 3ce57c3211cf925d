// What one candidate has compiled the next need not compile again.
#include "tools/on_device.h"

#include <utility>

#include "api/graph_access.h"
#include "cost_model/cost.h"
#include "cost_model/profile.h"
#include "cuda/kernel_cache.h"
#include "graph/graph.h"
#include "ops/status.h"
#include "tools/measured.h"

namespace isomer::cli {

namespace {

constexpr int kRuns = 50;  // to take the median of

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
  const cost::Profile none(cost.target().name());
  MeasureRequest request;
  request.device = device;
  ASSIGN_OR_RETURN(request.clock, cuda::Clock::Create(device));
  request.cost = &cost;
  request.profile = &none;
  request.cache = cuda::KernelCache::InMemory();
  request.times = kRuns;
  std::vector<const ir::Graph*> graphs = {&GraphAccess::Ir(graph)};
  std::vector<const Candidate*> found;
  for (const Candidate& c : candidates) {
    if (!c.result.improved) continue;
    graphs.push_back(&GraphAccess::Ir(c.result.graph));
    found.push_back(&c);
  }
  ASSIGN_OR_RETURN(const std::vector<Measured> all,
                   MeasureAll(graphs, request));
  FastestResult out{candidates.front().result};
  out.original_us = all[0].us;
  out.us = out.original_us;
  out.result.graph = graph;
  out.result.improved = false;
  out.result.after = out.result.before;
  out.result.rules.clear();
  for (size_t i = 0; i < found.size(); ++i) {
    const double us = all[i + 1].us;
    if (us >= out.us) continue;
    out.us = us;
    out.result = found[i]->result;
  }
  return out;
}

}  // namespace isomer::cli

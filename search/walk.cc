#include "search/walk.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace isomer::search {

Walk::Walk(const ir::Graph& graph, const SearchOptions& options,
           Session& session)
    : options_(options),
      session_(session),
      here_{graph, session.cost().MakePlan(graph), {}},
      before_(here_.plan) {
  session_.SetCosts(now_ps(), now_ps());
}

bool Walk::WithinMemory(const ir::Graph& graph, const cost::Plan& plan) const {
  if (plan.cost().weight_bytes > options_.max_weight_bytes) return false;
  return options_.max_peak_bytes == INT64_MAX ||
         cost::PeakBytes(plan, graph) <= options_.max_peak_bytes;
}

void Walk::Go(ir::Graph graph, cost::Plan plan,
              const std::vector<StepTaken>& steps) {
  here_.graph = std::move(graph);
  here_.plan = std::move(plan);
  for (const StepTaken& s : steps) {
    for (int i : s.made) {
      Use& use = here_.uses[s.step[i].rule];
      const int64_t merged =
          static_cast<int64_t>(s.step[i].siblings.size()) - 1;
      use.times += std::max<int64_t>(1, merged);
      use.gain_us += static_cast<double>(s.gain_ps) * 1e-6 /
                     static_cast<double>(s.made.size());
    }
  }
  session_.SetCosts(before_.cost().time_ps, now_ps());
}

bool Walk::Accept(const Part& part, const Outcome& outcome) {
  if (outcome.steps.empty()) return false;
  absl::StatusOr<ir::Graph> whole = PutBack(here_.graph, part, outcome.graph);
  if (!whole.ok()) return false;
  cost::Plan plan = Replan(*whole, TouchedBy(here_.graph, part));
  if (plan.cost().time_ps >= now_ps() || !WithinMemory(*whole, plan)) {
    return false;
  }
  Go(*std::move(whole), std::move(plan), outcome.steps);
  return true;
}

std::vector<NodeId> TouchedBy(const ir::Graph& whole, const Part& part) {
  std::vector<NodeId> out = part.inner;
  for (NodeId id : part.inner) {
    for (Value v : whole.node(id).inputs) out.push_back(v.node);
  }
  absl::c_sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace isomer::search

#include "cuda/planned_kernels.h"

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "cuda/prepare.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

// What a kernel computes with, and what it makes.
using Ends = std::pair<std::set<Value>, Value>;

// The values that views are of, which no kernel makes.
std::map<Value, Value> Viewed(const ir::Graph& graph,
                              const std::vector<cost::Kernel>& kernels) {
  std::map<Value, Value> out;
  for (const cost::Kernel& k : kernels) {
    if (k.launches || k.outputs.size() != 1) continue;
    std::vector<Value> of;
    absl::c_copy_if(k.inputs, std::back_inserter(of),
                    [&](Value v) { return !graph.IsConstant(v); });
    if (of.size() == 1) out.insert({k.outputs[0], of[0]});
  }
  return out;
}

std::optional<Ends> EndsOf(const ir::Graph& graph, const cost::Kernel& k,
                           const std::map<Value, Value>& viewed,
                           const std::map<Value, Value>* values = nullptr) {
  if (!k.launches || k.outputs.size() != 1) return std::nullopt;
  const auto at = [&](Value v) { return values ? values->at(v) : v; };
  Ends out{{}, at(k.outputs[0])};
  for (Value v : k.inputs) {
    if (graph.IsConstant(v)) continue;
    for (auto it = viewed.find(v); it != viewed.end(); it = viewed.find(v)) {
      v = it->second;
    }
    out.first.insert(at(v));
  }
  return out;
}

// Those that are launched, with the names that a search has for some.
std::vector<PlannedKernel> Named(const ir::Graph& graph,
                                 const std::vector<cost::Kernel>& kernels,
                                 const std::map<Ends, std::string>& searched) {
  std::vector<PlannedKernel> out;
  const std::map<Value, Value> viewed = Viewed(graph, kernels);
  for (const cost::Kernel& k : kernels) {
    if (!k.launches) continue;
    const double us = static_cast<double>(k.time_ps) * 1e-6;
    out.push_back({k.family, k.signature, us});
    const std::optional<Ends> ends = EndsOf(graph, k, viewed);
    const auto it = ends ? searched.find(*ends) : searched.end();
    if (it != searched.end()) out.back().searched_as = it->second;
  }
  return out;
}

}  // namespace

std::vector<PlannedKernel> Launched(const ir::Graph& graph,
                                    const std::vector<cost::Kernel>& kernels) {
  return Named(graph, kernels, {});
}

absl::StatusOr<std::vector<PlannedKernel>> PlannedKernels(
    const ir::Graph& graph, const cost::CostModel& cost) {
  std::map<Value, Value> values;
  ASSIGN_OR_RETURN(const ir::Graph prepared, Prepare(graph, &values));
  std::map<Ends, std::string> searched;
  const std::vector<cost::Kernel> kernels = cost.MakePlan(graph).Kernels(graph);
  const std::map<Value, Value> viewed = Viewed(graph, kernels);
  for (const cost::Kernel& k : kernels) {
    if (const auto ends = EndsOf(graph, k, viewed, &values)) {
      searched[*ends] = k.signature;
    }
  }
  return Named(prepared, cost.MakePlan(prepared).Kernels(prepared), searched);
}

}  // namespace isomer::cuda

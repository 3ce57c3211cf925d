// The public face of the planner: plans, their kernels, memory and tables.
#include "cost_model/cost.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cost_model/planner.h"
#include "ops/status.h"

namespace isomer::cost {

namespace {

// What was not measured takes so many times as long as it is said to.
constexpr double kUnsure = 1.02;

}  // namespace

struct CostModel::Impl {
  Target target;
  Profile profile;
  CoverCache cache;
};

absl::StatusOr<CostModel> CostModel::Create(Target target, Profile profile) {
  if (!profile.target().empty() && profile.target() != target.name()) {
    return Invalid("a profile of ", profile.target(), " says nothing about ",
                   target.name());
  }
  auto impl = std::make_shared<Impl>();
  impl->target = std::move(target);
  impl->profile = std::move(profile);
  return CostModel(std::move(impl));
}

const Target& CostModel::target() const { return impl_->target; }

CostModel CostModel::FittedTo(const ir::Graph& graph) const {
  struct Times {
    int64_t measured_ps = 0, estimated_ps = 0;
    void Add(const CoverKernel& k) {
      measured_ps += k.time_ps;
      estimated_ps += k.estimate_ps;
    }
    // Between two that are said to take as long, the measured one is taken.
    double scale() const {
      return kUnsure * static_cast<double>(measured_ps) /
             static_cast<double>(estimated_ps);
    }
  };
  std::map<std::pair<Family, double>, Times> measured;
  const Plan plan = MakePlan(graph);
  for (const Region* region : Planner::RegionsOf(plan, graph.Order())) {
    for (const CoverKernel& k : region->cover->kernels) {
      if (!k.measured) continue;
      measured[{k.family, Target::kAnyFlops}].Add(k);
      if (k.core_flops > 0) measured[{k.family, k.core_flops}].Add(k);
    }
  }
  auto impl = std::make_shared<Impl>();
  impl->target = impl_->target;
  impl->profile = impl_->profile;
  for (const auto& [kernels, times] : measured) {
    impl->target.Scale(kernels.first, kernels.second, times.scale());
  }
  return CostModel(std::move(impl));
}

Plan CostModel::MakePlan(const ir::Graph& graph) const {
  Planner planner(impl_->target, impl_->profile, impl_->cache, graph, Plan());
  return std::move(planner).Update(graph.Order());
}

Plan CostModel::Replan(const Plan& parent, const ir::Graph& parent_graph,
                       const ir::Graph& graph,
                       absl::Span<const NodeId> touched) const {
  Planner planner(impl_->target, impl_->profile, impl_->cache, graph, parent);
  return std::move(planner).Update(ChangedNodes(parent_graph, graph, touched));
}

std::map<std::string, int64_t> CostModel::Unmeasured() const {
  return impl_->cache.Unmeasured();
}

// ---- Kernels

namespace {

Value ValueOf(const Region& region, const RegionInput& in) {
  return in.leaf ? region.leaves[in.index] : Value{region.nodes[in.index], 0};
}

Kernel Describe(const ir::Graph& graph, const Region& region,
                const CoverKernel& k) {
  Kernel kernel;
  kernel.family = std::string(FamilyName(k.family));
  kernel.signature = k.signature;
  kernel.time_ps = k.time_ps;
  kernel.measured = k.measured;
  kernel.launches = k.launches;
  for (int m : k.fused.members) kernel.nodes.push_back(region.nodes[m]);
  for (const RegionInput& in : k.reads) {
    kernel.inputs.push_back(ValueOf(region, in));
    if (in.in_place) kernel.in_place.push_back(kernel.inputs.back());
  }
  for (int s : k.fused.stored) {
    const NodeId id = region.nodes[s];
    for (int o = 0; o < graph.node(id).num_outputs(); ++o) {
      kernel.outputs.push_back({id, o});
    }
  }
  return kernel;
}

}  // namespace

namespace {

// When the kernels of a region run, in places of the order of the graph. A
// kernel runs where its result stands; what it reads stands before (see
// cost_model/cover.h). A copy of a recomputed node is made when the region
// first needs it.
std::vector<int> PlacesOf(const Region& region,
                          const std::vector<int>& position) {
  const std::vector<CoverKernel>& kernels = region.cover->kernels;
  std::vector<int> places(kernels.size());
  for (size_t i = kernels.size(); i-- > 0;) {
    const int result = kernels[i].fused.members.back();
    places[i] = position[region.nodes[result].value];
    if (!region.recomputed[result]) continue;
    int first = INT32_MAX;
    for (size_t k = i + 1; k < kernels.size(); ++k) {
      for (const RegionInput& in : kernels[k].reads) {
        if (!in.leaf && in.index == result) first = std::min(first, places[k]);
      }
    }
    places[i] = first;
  }
  return places;
}

}  // namespace

std::vector<Kernel> Plan::Kernels(const ir::Graph& graph) const {
  const std::vector<NodeId> order = graph.Order();
  std::vector<int> position(graph.id_bound());
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i].value] = static_cast<int>(i);
  }
  std::vector<std::pair<int, Kernel>> placed;
  for (const Region* region : Planner::RegionsOf(*this, order)) {
    const std::vector<int> places = PlacesOf(*region, position);
    for (size_t i = 0; i < places.size(); ++i) {
      placed.push_back(
          {places[i], Describe(graph, *region, region->cover->kernels[i])});
    }
  }
  absl::c_stable_sort(
      placed, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Kernel> kernels;
  for (auto& [place, kernel] : placed) kernels.push_back(std::move(kernel));
  return kernels;
}

std::string PlanTable(const Plan& plan, const ir::Graph& graph) {
  const Cost& cost = plan.cost();
  std::string text = absl::StrFormat("%10s %6s %-10s %5s  %s\n", "us", "share",
                                     "family", "nodes", "kernel");
  for (const Kernel& k : plan.Kernels(graph)) {
    if (!k.launches) continue;
    absl::StrAppendFormat(
        &text, "%10.3f %5.1f%% %-10s %5d  %s%s\n",
        static_cast<double>(k.time_ps) * 1e-6,
        100.0 * static_cast<double>(k.time_ps) /
            static_cast<double>(std::max<int64_t>(cost.time_ps, 1)),
        k.family, k.nodes.size(), k.signature, k.measured ? " (measured)" : "");
  }
  absl::StrAppendFormat(
      &text,
      "%10.3f us in %d kernels, %.0f%% of it measured; weights %.3f MB\n",
      cost.time_us(), cost.kernels, 100 * cost.measured_share(),
      static_cast<double>(cost.weight_bytes) * 1e-6);
  return text;
}

}  // namespace isomer::cost

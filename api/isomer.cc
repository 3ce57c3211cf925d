// The facade: reading, writing, and one call into the search.
#include "api/isomer.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "api/graph_access.h"
#include "api/rule_files.h"
#include "cost_model/cost.h"
#include "onnx/writer.h"
#include "ops/status.h"
#include "runtime/equal.h"
#include "runtime/fast.h"
#include "search/optimize.h"

namespace isomer {

namespace {

absl::StatusOr<Graph> Import(absl::StatusOr<onnx::Model> model,
                             const ReadOptions& options) {
  RETURN_IF_ERROR(model.status());
  const onnx::ImportOptions how{options.shapes, options.dims};
  ASSIGN_OR_RETURN(
      onnx::ImportedModel imported,
      onnx::ImportModel(std::make_shared<const onnx::Model>(*std::move(model)),
                        how));
  auto shared =
      std::make_shared<const onnx::ImportedModel>(std::move(imported));
  return GraphAccess::Make(shared, shared->graph);
}

absl::StatusOr<cost::CostModel> CostsOf(const OptimizeOptions& options) {
  ASSIGN_OR_RETURN(cost::Target target, FindTarget(options.target));
  cost::Profile profile;
  if (options.profile == "builtin") {
    ASSIGN_OR_RETURN(profile, cost::Profile::Builtin(target.name()));
  } else if (!options.profile.empty()) {
    ASSIGN_OR_RETURN(std::string text, ReadText(options.profile));
    absl::StatusOr<cost::Profile> read = cost::Profile::Parse(text);
    if (!read.ok()) {
      return Prefixed(absl::StrCat(options.profile, ": "), read.status());
    }
    profile = *std::move(read);
  }
  return cost::CostModel::Create(std::move(target), std::move(profile));
}

Estimate EstimateOf(const cost::Plan& plan, const ir::Graph& graph) {
  const cost::Cost& c = plan.cost();
  return {c.time_us(), c.measured_share(), c.kernels,
          cost::PeakBytes(plan, graph), c.weight_bytes};
}

// `spent` is how much of the time limit reading rules and costs took.
search::SearchOptions SearchOptionsOf(const OptimizeOptions& options,
                                      absl::Duration spent) {
  search::SearchOptions out;
  if (!options.baseline.empty()) out = search::PlainSearch();
  out.alpha = options.alpha;
  out.limits = {options.time_limit, options.expansions, options.search_memory};
  if (out.limits.time >= absl::ZeroDuration()) {
    out.limits.time = std::max(absl::ZeroDuration(), out.limits.time - spent);
  }
  out.threads = options.threads;
  out.max_peak_bytes = options.memory_limit;
  out.max_weight_bytes = options.weight_limit;
  if (options.progress) {
    out.progress = [f = options.progress](const search::Progress& p) {
      return f({p.expansions, p.before_us, p.best_us});
    };
  }
  return out;
}

// Searches. Where some kernels are measured and others estimated too high, a
// search keeps to what is known: it is done with estimates alone, too, and
// measured times decide which graph is the faster one.
absl::StatusOr<search::SearchResult> Find(const ir::Graph& graph,
                                          const search::RuleBook& book,
                                          const cost::CostModel& costs,
                                          search::SearchOptions how,
                                          bool measured) {
  if (!measured) return search::Optimize(graph, book, costs, how);
  const absl::Time start = absl::Now();
  const absl::Duration all = how.limits.time;
  if (all >= absl::ZeroDuration()) how.limits.time = all / 2;
  ASSIGN_OR_RETURN(search::SearchResult found,
                   search::Optimize(graph, book, costs, how));
  if (found.stop == search::Stop::kCancelled) return found;
  if (all >= absl::ZeroDuration()) {
    how.limits.time =
        std::max(absl::ZeroDuration(), all - (absl::Now() - start));
  }
  ASSIGN_OR_RETURN(const cost::CostModel estimates,
                   cost::CostModel::Create(costs.target()));
  ASSIGN_OR_RETURN(search::SearchResult other,
                   search::Optimize(graph, book, estimates, how));
  found.expansions += other.expansions;
  found.candidates += other.candidates;
  found.parts += other.parts;
  found.repeated += other.repeated;
  found.stop = other.stop;
  if (!other.improved) return found;
  cost::Plan after = costs.MakePlan(other.graph);
  if (after.cost().time_us() >= found.after.cost().time_us() ||
      cost::PeakBytes(after, other.graph) > how.max_peak_bytes) {
    return found;
  }
  const auto gain = [](const cost::Plan& before, const cost::Plan& after) {
    return before.cost().time_us() - after.cost().time_us();
  };
  // What rules bring is said in measured times, too.
  const double scale =
      gain(found.before, after) / gain(other.before, other.after);
  for (search::RuleUse& u : other.rules) u.gain_us *= scale;
  found.graph = std::move(other.graph);
  found.after = std::move(after);
  found.rules = std::move(other.rules);
  found.improved = true;
  return found;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const onnx::ExportedModel>> GraphAccess::Export(
    const Graph& g) {
  const std::shared_ptr<const Graph::Impl>& impl = g.impl_;
  absl::call_once(impl->export_once, [&] {
    impl->exported = onnx::ExportModel(
        *impl->model, impl->graph,
        {.run = runtime::FastKernels(), .equal = runtime::EqualInDouble});
  });
  RETURN_IF_ERROR(impl->exported.status());
  return std::shared_ptr<const onnx::ExportedModel>(impl, &*impl->exported);
}

absl::StatusOr<Graph> Graph::FromOnnx(const std::string& path,
                                      const ReadOptions& options) {
  return Import(onnx::ReadModel(path), options);
}

absl::StatusOr<Graph> Graph::FromOnnxBytes(std::string bytes,
                                           const ReadOptions& options) {
  return Import(onnx::ParseModel(SharedBytes::Own(std::move(bytes)), ""),
                options);
}

absl::Status Graph::ToOnnx(const std::string& path) const {
  ASSIGN_OR_RETURN(const auto out, GraphAccess::Export(*this));
  return onnx::WriteModel(out->model, path);
}

absl::StatusOr<std::string> Graph::ToOnnxBytes() const {
  ASSIGN_OR_RETURN(const auto out, GraphAccess::Export(*this));
  return onnx::SerializeModel(out->model);
}

absl::StatusOr<std::vector<std::string>> Graph::FixedDims() const {
  ASSIGN_OR_RETURN(const auto out, GraphAccess::Export(*this));
  return out->fixed_dims;
}

absl::StatusOr<std::map<std::string, int64_t>> Graph::OnnxOperators() const {
  ASSIGN_OR_RETURN(
      onnx::ExportedModel out,
      onnx::ExportModel(*impl_->model, impl_->graph, {.nodes_only = true}));
  std::map<std::string, int64_t> counts;
  for (const onnx::NodeEntry& n : out.model.graph.nodes) {
    ++counts[n.node.op_type];
  }
  return counts;
}

absl::StatusOr<OptimizeResult> Graph::optimize(
    const OptimizeOptions& options) const {
  const absl::Time start = absl::Now();
  ASSIGN_OR_RETURN(cost::CostModel costs, CostsOf(options));
  std::vector<std::string> refused;
  ASSIGN_OR_RETURN(search::RuleBook book, BookOf(options.rules, refused));
  if (options.exact) book.KeepExact();
  if (!options.baseline.empty() && options.baseline != "taso") {
    return Invalid("baseline is '", options.baseline,
                   "'; the only one there is is taso");
  }
  for (const auto& [name, limit] :
       {std::pair("memory_limit", options.memory_limit),
        std::pair("weight_limit", options.weight_limit)}) {
    if (limit <= 0) {
      return Invalid(name, " is ", limit, " bytes; it must be above 0");
    }
  }
  if (!options.profile.empty()) costs = costs.FittedTo(impl_->graph);
  ASSIGN_OR_RETURN(search::SearchResult found,
                   Find(impl_->graph, book, costs,
                        SearchOptionsOf(options, absl::Now() - start),
                        !options.profile.empty()));
  OptimizeResult out{GraphAccess::With(*this, found.graph)};
  out.improved = found.improved;
  out.before = EstimateOf(found.before, impl_->graph);
  out.after = EstimateOf(found.after, found.graph);
  for (const search::RuleUse& u : found.rules) {
    out.rules.push_back({u.rule, u.proof, u.times, u.gain_us});
  }
  out.refused = std::move(refused);
  out.target = costs.target().name();
  out.stopped_because = std::string(search::StopText(found.stop));
  out.interrupted = found.stop == search::Stop::kCancelled;
  out.expansions = found.expansions;
  out.candidates = found.candidates;
  out.parts = found.parts;
  out.repeated_parts = found.repeated;
  out.elapsed = absl::Now() - start;
  return out;
}

}  // namespace isomer

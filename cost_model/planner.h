// Making plans and bringing them up to date after a rewrite.
#ifndef ISOMER_COST_MODEL_PLANNER_H_
#define ISOMER_COST_MODEL_PLANNER_H_

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "cost_model/cost.h"
#include "cost_model/cover.h"
#include "cost_model/regions.h"

namespace isomer::cost {

// A region of a plan: where in the graph it lies, and how it is covered.
struct Region {
  std::vector<NodeId> nodes;     // by index in the region
  std::vector<bool> recomputed;  // by index: a copy, others have theirs
  std::vector<Value> leaves;     // by index in the region
  std::shared_ptr<const Cover> cover;
};

// Covers that were found, by the key of their region. What is in it never
// changes a result.
class CoverCache {
 public:
  std::shared_ptr<const Cover> Get(const Target& target, const Profile& profile,
                                   const RegionProblem& region);
  // The signatures that were not measured, and their estimates.
  std::map<std::string, int64_t> Unmeasured() const;

 private:
  static constexpr size_t kCoversPerShard = 4096;
  struct Shard {
    mutable absl::Mutex mutex;
    absl::flat_hash_map<std::string, std::shared_ptr<const Cover>> covers;
    std::map<std::string, int64_t> unmeasured;  // in picoseconds
  };
  std::array<Shard, 16> shards_;
};

// One plan in the making.
class Planner {
 public:
  Planner(const Target& target, const Profile& profile, CoverCache& cache,
          const ir::Graph& graph, Plan start)
      : target_(target),
        profile_(profile),
        cache_(cache),
        graph_(graph),
        plan_(std::move(start)),
        regions_(target, graph, [this](NodeId id) { return IsConstant(id); }) {}

  // Plans what depends on the given nodes; all of them, where no plan was.
  Plan Update(absl::Span<const NodeId> changed) &&;

  // Regions of a plan, each once, in the order of their first nodes.
  static std::vector<const Region*> RegionsOf(const Plan& plan,
                                              absl::Span<const NodeId> order);

 private:
  bool IsConstant(NodeId id) const;
  void UpdateConstants(absl::Span<const NodeId> changed);
  void UpdateWeight(NodeId id);
  int64_t WeightOf(NodeId id) const;
  bool IsStored(NodeId id) const;
  void Touch(NodeId id);
  void TouchNear(NodeId id);
  void TouchConcats(NodeId id);
  void TouchFar();
  bool HasRegion(NodeId id) const;
  void Drop(NodeId id);
  void Place(const RegionProblem& problem);

  const Target& target_;
  const Profile& profile_;
  CoverCache& cache_;
  const ir::Graph& graph_;
  Plan plan_;
  Regions regions_;
  std::vector<NodeId> loose_;  // nodes whose region is to be found
  absl::flat_hash_set<int32_t> touched_;
  absl::flat_hash_set<int32_t> up_, down_;  // where TouchNear came by
};

// The nodes in which two graphs differ: there or not, with other inputs,
// readers or uses as outputs. Looks outward from `seeds`, or everywhere if
// there are none.
std::vector<NodeId> ChangedNodes(const ir::Graph& before,
                                 const ir::Graph& after,
                                 absl::Span<const NodeId> seeds);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_PLANNER_H_

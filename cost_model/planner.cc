// A plan is brought up to date in three steps: which nodes are constant now,
// which regions fall apart, and which regions take their place.
#include "cost_model/planner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/hashing.h"

namespace isomer::cost {

std::shared_ptr<const Cover> CoverCache::Get(const Target& target,
                                             const Profile& profile,
                                             const RegionProblem& region) {
  const std::string key = KeyOf(region);
  Shard& shard = shards_[ir::HashText(key) % shards_.size()];
  {
    absl::MutexLock lock(&shard.mutex);
    const auto it = shard.covers.find(key);
    if (it != shard.covers.end()) return it->second;
  }
  auto cover =
      std::make_shared<const Cover>(FindCover(target, profile, region));
  absl::MutexLock lock(&shard.mutex);
  if (shard.covers.size() >= kCoversPerShard) shard.covers.clear();
  for (const CoverKernel& k : cover->kernels) {
    if (k.launches && !k.measured) {
      shard.unmeasured.insert({k.signature, k.time_ps});
    }
  }
  shard.covers.emplace(key, cover);
  return cover;
}

std::map<std::string, int64_t> CoverCache::Unmeasured() const {
  std::map<std::string, int64_t> all;
  for (const Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    all.insert(shard.unmeasured.begin(), shard.unmeasured.end());
  }
  return all;
}

// ---- What is constant

bool Planner::IsConstant(NodeId id) const {
  const Plan::Entry* e = plan_.entries_.Find(id.value);
  return e != nullptr && e->constant;
}

// Constness spreads from inputs to readers, so a change is followed upward.
void Planner::UpdateConstants(absl::Span<const NodeId> changed) {
  std::vector<NodeId> todo(changed.rbegin(), changed.rend());
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    if (!graph_.Has(id)) continue;
    const ir::Node& n = graph_.node(id);
    const bool constant = n.kind == ir::Node::Kind::kConstant ||
                          (n.kind == ir::Node::Kind::kOp &&
                           absl::c_all_of(n.inputs, [this](Value v) {
                             return IsConstant(v.node);
                           }));
    if (constant == IsConstant(id)) continue;
    plan_.entries_.Edit(id.value).constant = constant;
    Touch(id);
    for (Value v : n.inputs) Touch(v.node);
    for (NodeId user : graph_.users(id)) {
      Touch(user);
      todo.push_back(user);
    }
  }
}

// True if folding leaves the value of a constant node in memory: something
// that runs reads it, directly or through what is never stored.
bool Planner::IsStored(NodeId id) const {
  if (graph_.output_uses(id) > 0) return true;
  return absl::c_any_of(graph_.users(id), [this](NodeId user) {
    return !IsConstant(user) ||
           (IsUnfolded(graph_.node(user)) && IsStored(user));
  });
}

int64_t Planner::WeightOf(NodeId id) const {
  if (!graph_.Has(id) || !IsConstant(id) || IsUnfolded(graph_.node(id)) ||
      !IsStored(id)) {
    return 0;
  }
  int64_t bytes = 0;
  for (int k = 0; k < graph_.node(id).num_outputs(); ++k) {
    bytes += BytesOf(graph_, {id, k});
  }
  return bytes;
}

void Planner::UpdateWeight(NodeId id) {
  const int64_t now = WeightOf(id);
  const Plan::Entry* e = plan_.entries_.Find(id.value);
  const int64_t before = e == nullptr ? 0 : e->weight_bytes;
  if (now == before) return;
  plan_.entries_.Edit(id.value).weight_bytes = now;
  plan_.cost_.weight_bytes += now - before;
}

// ---- Regions

void Planner::Touch(NodeId id) {
  if (touched_.insert(id.value).second) loose_.push_back(id);
}

bool Planner::HasRegion(NodeId id) const {
  const Plan::Entry* e = plan_.entries_.Find(id.value);
  return e != nullptr && e->region != nullptr;
}

// Takes the region of a node apart; its nodes are loose then.
void Planner::Drop(NodeId id) {
  if (!HasRegion(id)) return;
  const std::shared_ptr<const Region> region =
      plan_.entries_.Find(id.value)->region;
  plan_.cost_.time_ps -= region->cover->time_ps;
  plan_.cost_.measured_ps -= region->cover->measured_ps;
  plan_.cost_.kernels -= region->cover->launches;
  for (size_t i = 0; i < region->nodes.size(); ++i) {
    if (region->recomputed[i]) continue;
    Plan::Entry& e = plan_.entries_.Edit(region->nodes[i].value);
    e.region = nullptr;
    e.readers = 0;
    Touch(region->nodes[i]);
  }
}

void Planner::Place(const RegionProblem& problem) {
  for (const RegionNode& n : problem.nodes) {
    if (!n.recomputed) Drop(n.id);
  }
  auto region = std::make_shared<Region>();
  for (const RegionNode& n : problem.nodes) {
    region->nodes.push_back(n.id);
    region->recomputed.push_back(n.recomputed);
  }
  for (const RegionLeaf& l : problem.leaves) region->leaves.push_back(l.value);
  region->cover = cache_.Get(target_, profile_, problem);
  plan_.cost_.time_ps += region->cover->time_ps;
  plan_.cost_.measured_ps += region->cover->measured_ps;
  plan_.cost_.kernels += region->cover->launches;
  for (const RegionNode& n : problem.nodes) {
    if (n.recomputed) continue;
    Plan::Entry& e = plan_.entries_.Edit(n.id.value);
    e.region = region;
    e.readers = regions_.ReadersHash(n.id);
  }
}

// What reads a changed node, or is read by it, is not changed by that: their
// regions see a value of the same type. But recomputed nodes are part of the
// regions around them, and a concat looks at how its operands come about.
void Planner::TouchNear(NodeId id) {
  if (!graph_.Has(id)) return;
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    if (!MayBeRecomputed(graph_.node(at)) || !up_.insert(at.value).second) {
      continue;
    }
    for (NodeId user : graph_.users(at)) {
      Touch(user);
      todo.push_back(user);
    }
  }
  todo = {id};
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    if (!MayBeRecomputed(graph_.node(at)) || !down_.insert(at.value).second) {
      continue;
    }
    for (Value v : graph_.node(at).inputs) {
      Touch(v.node);
      todo.push_back(v.node);
    }
  }
  if (!IsConstant(id)) TouchConcats(id);
}

void Planner::TouchConcats(NodeId id) {
  absl::flat_hash_set<int32_t> seen;
  std::vector<NodeId> layer = {id};
  for (int step = 0; step <= Regions::kConcatSteps; ++step) {
    std::vector<NodeId> next;
    for (NodeId at : layer) {
      for (NodeId user : graph_.users(at)) {
        const ir::Node& n = graph_.node(user);
        if (n.op == nullptr) continue;
        const OpClass c = OpPlanOf(n.op->name).op_class;
        if (c == OpClass::kPointwise && seen.insert(user.value).second) {
          next.push_back(user);
        }
        if (c != OpClass::kConcat) continue;
        Touch(at);
        Touch(user);
      }
    }
    layer = std::move(next);
  }
}

// Nodes further below whose readers bear on each other through what changed.
void Planner::TouchFar() {
  absl::flat_hash_set<int32_t> seen = touched_;
  std::vector<NodeId> layer = loose_;
  for (int step = 0; step <= Regions::kReach && !layer.empty(); ++step) {
    std::vector<NodeId> next;
    for (size_t i = 0; i < layer.size(); ++i) {
      if (!graph_.Has(layer[i])) continue;
      for (Value v : graph_.node(layer[i]).inputs) {
        if (!seen.insert(v.node.value).second) continue;
        if (IsConstant(v.node)) continue;
        const bool free = MayBeRecomputed(graph_.node(v.node));
        (free ? layer : next).push_back(v.node);
        const Plan::Entry* e = plan_.entries_.Find(v.node.value);
        if (e != nullptr && e->readers != 0 &&
            e->readers != regions_.ReadersHash(v.node)) {
          Touch(v.node);
        }
      }
    }
    layer = std::move(next);
  }
}

Plan Planner::Update(absl::Span<const NodeId> changed) && {
  for (NodeId id : changed) Touch(id);
  UpdateConstants(changed);
  for (size_t i = 0, n = loose_.size(); i < n; ++i) TouchNear(loose_[i]);
  TouchFar();
  for (size_t i = 0; i < loose_.size(); ++i) Drop(loose_[i]);
  for (NodeId id : loose_) UpdateWeight(id);
  for (size_t i = 0; i < loose_.size(); ++i) {
    const NodeId id = loose_[i];
    if (!graph_.Has(id)) {
      plan_.entries_.Edit(id.value) = {};
    } else if (regions_.IsOwned(id) && !HasRegion(id)) {
      Place(regions_.At(id));
    }
  }
  return std::move(plan_);
}

std::vector<const Region*> Planner::RegionsOf(const Plan& plan,
                                              absl::Span<const NodeId> order) {
  std::vector<const Region*> regions;
  absl::flat_hash_set<const Region*> seen;
  for (NodeId id : order) {
    const Plan::Entry* e = plan.entries_.Find(id.value);
    if (e == nullptr || e->region == nullptr) continue;
    if (seen.insert(e->region.get()).second) regions.push_back(e->region.get());
  }
  return regions;
}

// ---- What a rewrite changed

namespace {

bool Differs(const ir::Graph& before, const ir::Graph& after, NodeId id) {
  const bool was = before.Has(id), is = after.Has(id);
  if (was != is) return true;
  if (!was) return false;
  return &before.node(id) != &after.node(id) ||
         before.users(id).data() != after.users(id).data() ||
         before.users(id).size() != after.users(id).size();
}

}  // namespace

std::vector<NodeId> ChangedNodes(const ir::Graph& before,
                                 const ir::Graph& after,
                                 absl::Span<const NodeId> seeds) {
  std::set<NodeId> changed;
  std::vector<NodeId> todo;
  auto look = [&](NodeId id) {
    if (Differs(before, after, id) && changed.insert(id).second) {
      todo.push_back(id);
    }
  };
  const int32_t first = seeds.empty() ? 0 : before.id_bound();
  for (int32_t i = first; i < after.id_bound(); ++i) look({i});
  for (NodeId id : seeds) look(id);
  for (size_t i = 0; i < after.outputs().size(); ++i) {
    const NodeId was = before.outputs()[i].value.node;
    const NodeId is = after.outputs()[i].value.node;
    if (was == is) continue;
    for (NodeId id : {was, is}) {
      if (changed.insert(id).second) todo.push_back(id);
    }
  }
  auto look_around = [&](const ir::Graph& g, NodeId id) {
    if (!g.Has(id)) return;
    for (Value v : g.node(id).inputs) look(v.node);
    for (NodeId user : g.users(id)) look(user);
  };
  while (!seeds.empty() && !todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    look_around(before, id);
    look_around(after, id);
  }
  return {changed.begin(), changed.end()};
}

}  // namespace isomer::cost

// Cutting a graph into regions, locally: which region a node is in depends on
// a neighbourhood of the node, not on the whole graph.
//
// Views and other nodes that cost nothing to compute again (OpPlan) are
// transparent where all their readers take them in: every region that reads
// one has a copy of its own, and edges lead through it. Any other node belongs
// to one region. Two nodes are in one region if an edge between them is live:
// the engine has kernels that hold both ends, and such a kernel could compute
// all readers of the lower end, or run before the others.
#ifndef ISOMER_COST_MODEL_REGIONS_H_
#define ISOMER_COST_MODEL_REGIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "cost_model/region.h"
#include "cost_model/target.h"
#include "graph/graph.h"

namespace isomer::cost {

// The bytes of a value; zero where its type is not known.
int64_t BytesOf(const ir::Graph& graph, Value v);

// True for a constant node that folding leaves as it is, because making it
// costs less than storing it.
bool IsUnfolded(const ir::Node& node);

// True for nodes that may be of a class that is computed again in each kernel
// that reads it.
bool MayBeRecomputed(const ir::Node& node);

class Regions {
 public:
  // `is_constant` tells which nodes depend on constants alone.
  Regions(const Target& target, const ir::Graph& graph,
          std::function<bool(NodeId)> is_constant)
      : target_(target), graph_(graph), is_constant_(std::move(is_constant)) {}

  // How far above a node a change may lie that changes the region that the node
  // is in: in steps along inputs, of which those to recomputable nodes do not
  // count.
  static constexpr int kReach = 14;
  // How far below a concat it matters how an operand comes about.
  static constexpr int kConcatSteps = 5;

  // True if the node belongs to a region: it is no input, not constant and not
  // transparent.
  bool IsOwned(NodeId id);
  // The region of such a node. Its nodes that are not `recomputed` belong to
  // it.
  RegionProblem At(NodeId id);
  // Says how the readers of a node bear on its region; equal numbers mean that
  // nothing changed. Zero where only the readers themselves matter, not what is
  // further away.
  uint64_t ReadersHash(NodeId id);

 private:
  // The nodes that read a node, directly or through transparent ones.
  struct Reader {
    NodeId id;
    bool fusible = false;  // some kernel holds both
    bool live = false;     // and one such kernel can be part of a plan
  };
  struct Readers {
    std::vector<Reader> list;   // by id
    bool outside = false;       // something reads it that is not in the region
    bool any_host = false;      // whatever kernel holds it may store it
    std::vector<NodeId> hosts;  // else those that end there
  };

  OpPlan PlanOf(NodeId id) const;
  bool IsRecomputable(NodeId id) const;
  bool Runs(NodeId id) const;
  bool IsTransparent(NodeId id);
  bool TakesIn(NodeId reader, NodeId view);
  bool CanRead(NodeId core, NodeId view);
  bool AreTogether(OpClass a, OpClass b) const;
  bool IsFusible(NodeId from, absl::Span<const NodeId> via, NodeId to);
  bool PrefersPlace(NodeId from, NodeId concat);
  bool IsInPlace(Value v, NodeId concat);
  void CollectReaders(NodeId from, NodeId at, std::vector<NodeId>& via,
                      std::vector<Reader>& list);
  const Readers& ReadersOf(NodeId id);
  std::vector<Reader> AllReaders(NodeId id);
  void FindHosts(Readers& readers);
  std::vector<NodeId> FusibleAbove(NodeId id);
  std::vector<char> Below(NodeId id, absl::Span<const NodeId> ends);
  void CollectSources(NodeId id, std::vector<NodeId>& views,
                      std::vector<NodeId>& sources);
  RegionProblem Describe(const std::vector<NodeId>& nodes);
  RegionNode DescribeNode(NodeId id);
  void Link(RegionProblem& r);
  RegionLeaf LeafOf(Value v) const;
  int64_t ConstantBytes(Value v) const;

  const Target& target_;
  const ir::Graph& graph_;
  std::function<bool(NodeId)> is_constant_;
  absl::flat_hash_map<int32_t, bool> transparent_;
  absl::flat_hash_map<int32_t, std::vector<Reader>> all_readers_;
  absl::flat_hash_map<int32_t, Readers> readers_;
  std::vector<int> seen_;  // by node: the last round that came by
  int rounds_ = 0;
};

// A text that says all that the cover of a region depends on.
std::string KeyOf(const RegionProblem& region);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_REGIONS_H_

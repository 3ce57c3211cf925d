// What a graph costs on a target: which kernels would run it, how long they
// take, and how much memory they need.
//
// A plan covers a graph with kernels. It is cut into regions: sets of nodes
// within which fusion is a question at all. What a region costs is a function
// of the region alone, so a plan of a rewritten graph shares every region that
// the rewrite did not touch with the plan of its parent, and costs what the
// rewrite touched. Times are whole picoseconds: their sum does not depend on
// the order of adding.
#ifndef ISOMER_COST_MODEL_COST_H_
#define ISOMER_COST_MODEL_COST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost_model/profile.h"
#include "cost_model/target.h"
#include "graph/graph.h"
#include "graph/persistent_array.h"
#include "ops/value.h"

namespace isomer::cost {

struct Cost {
  int64_t time_ps = 0;
  int64_t measured_ps = 0;   // the part of it that was measured
  int64_t weight_bytes = 0;  // constants as they are after folding
  int64_t kernels = 0;       // launches; views and the like are none

  double time_us() const { return static_cast<double>(time_ps) * 1e-6; }
  // How much of the time was measured, from 0 to 1.
  double measured_share() const {
    return time_ps == 0 ? 0 : static_cast<double>(measured_ps) / time_ps;
  }
  friend bool operator==(const Cost&, const Cost&) = default;
};

// One launch, or a view that needs none.
struct Kernel {
  std::string family;         // "matmul", "pointwise", ...
  std::string signature;      // what a profile calls it; "" for a view
  std::vector<NodeId> nodes;  // what it computes, each after its inputs
  std::vector<Value> inputs;  // what it reads, constants included
  // Of the inputs, what is computed where the output lies, and not copied.
  std::vector<Value> in_place;
  std::vector<Value> outputs;  // what it stores; the result comes last
  int64_t time_ps = 0;
  bool measured = false;
  bool launches = true;  // false: a view, or all of it written in place
};

struct Region;  // cost_model/planner.h

class Plan {
 public:
  const Cost& cost() const { return cost_; }
  // All kernels, in an order in which they can run. Constant subgraphs are in
  // none of them: they are folded.
  std::vector<Kernel> Kernels(const ir::Graph& graph) const;

 private:
  friend class Planner;

  struct Entry {
    // Null for constants, and for what every region has a copy of.
    std::shared_ptr<const Region> region;
    bool constant = false;     // depends on constants alone
    int64_t weight_bytes = 0;  // what it adds to the weights
    uint64_t readers = 0;      // Regions::ReadersHash
  };

  ir::PersistentArray<Entry> entries_;  // by node id
  Cost cost_;
};

// The costs of one target. It may be copied, and used from many threads.
class CostModel {
 public:
  // The profile must be one of this target.
  static absl::StatusOr<CostModel> Create(Target target, Profile profile = {});

  const Target& target() const;

  // The same with estimates as good as those of this graph's kernels are that
  // were measured: what was not takes as many times as long as estimated as
  // these do together that are about a product, say, of as many operations, or
  // else are of its family; and a little more. Otherwise it would win, or lose,
  // for not being measured alone.
  CostModel FittedTo(const ir::Graph& graph) const;

  Plan MakePlan(const ir::Graph& graph) const;

  // The plan of `graph`, which was made from `parent_graph` by rewriting; equal
  // to MakePlan(graph). `touched` are nodes of the parent at which rewriting
  // took place: for a rewrite step those of its match (operators, Match::nodes,
  // and operands, Match::tensors), for several steps all of theirs. Without any
  // the two graphs are compared node by node.
  Plan Replan(const Plan& parent, const ir::Graph& parent_graph,
              const ir::Graph& graph,
              absl::Span<const NodeId> touched = {}) const;

  // The signatures that were asked for and are in no profile, and their
  // estimates in picoseconds.
  std::map<std::string, int64_t> Unmeasured() const;

 private:
  struct Impl;
  explicit CostModel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<Impl> impl_;
};

// The most memory that inputs, outputs, intermediate values and weights take
// together while the kernels run in the order of the plan. It looks at the
// whole plan; ask for candidates that are worth it.
int64_t PeakBytes(const Plan& plan, const ir::Graph& graph);

// A table of the kernels: time, share, whether measured, nodes, signature.
std::string PlanTable(const Plan& plan, const ir::Graph& graph);

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_COST_H_

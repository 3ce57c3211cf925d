// A region: a part of a graph within which fusion is a question at all, apart
// from the rest of the graph and from node ids. How it is covered best, and
// what that costs, depends on this alone.
#ifndef ISOMER_COST_MODEL_REGION_H_
#define ISOMER_COST_MODEL_REGION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cost_model/op_plans.h"
#include "graph/graph.h"
#include "ops/tensor_type.h"
#include "ops/value.h"

namespace isomer::cost {

// A value that a region reads and does not compute.
struct RegionLeaf {
  Value value;
  const TensorType* type = nullptr;  // null where it is not known
  bool constant = false;
  int64_t bytes = 0;  // in memory; a constant's after folding
};

// An operand of a node: node `index` of the region, or a leaf of it.
struct RegionInput {
  bool leaf = false;
  int index = 0;
  // The operand of a concat is computed where the concat wants it, if it is
  // stored at all.
  bool in_place = false;
};

struct RegionNode {
  NodeId id;
  const ir::Node* node = nullptr;
  OpPlan plan;
  std::vector<RegionInput> inputs = {};
  // The readers in the region, each once; none for a node that has to be the
  // result of a kernel.
  std::vector<int> users = {};
  // Computed again in each kernel that reads it, rather than stored.
  bool recomputed = false;
  // Read outside the region, or an output of the graph.
  bool outside = false;
  // Nodes of the region of which all outside readers are descendants: the
  // kernels that end there may store this node on the way.
  std::vector<int> hosts = {};
  int64_t bytes = 0;  // of all outputs
  double flops = 0;
  double waits = 0;  // for what it has computed itself
};

// Nodes come after their inputs.
struct RegionProblem {
  std::vector<RegionLeaf> leaves;
  std::vector<RegionNode> nodes;
};

}  // namespace isomer::cost

#endif  // ISOMER_COST_MODEL_REGION_H_

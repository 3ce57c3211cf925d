// Kernels of a plan that are attention together, which one kernel can do.
#ifndef ISOMER_CUDA_ATTENTION_PLAN_H_
#define ISOMER_CUDA_ATTENTION_PLAN_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"

namespace isomer::cuda {

// The kernels before one that multiplies a softmax of scores, by their places
// in the plan: that of the scores, those from there to what is multiplied, in
// order, and those that copy keys or values.
struct AttentionPlan {
  size_t scores = 0;
  std::vector<size_t> between = {};
  NodeId softmax = {};
  // Rows of the softmax that are no numbers are zeros.
  bool guarded = false;
  std::vector<size_t> copies = {};
};

// Kernels that may be the last of those that one kernel can do. What is in
// between is read by nothing else.
std::map<size_t, AttentionPlan> FindAttention(
    const ir::Graph& graph, const std::vector<cost::Kernel>& kernels);

// A kernel that copies what a product reads, taken apart: the views at its end,
// and what computes the value that they are views of, if anything. All of it
// counts as views where that is wanted and there is but a concat of views among
// them.
struct Views {
  std::vector<NodeId> nodes;
  cost::Kernel rest;      // no kernel of the plan: it has no signature
  std::string signature;  // of the whole kernel
};
Views ViewsOf(const ir::Graph& graph, const cost::Kernel& copy,
              bool with_concat);

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_ATTENTION_PLAN_H_

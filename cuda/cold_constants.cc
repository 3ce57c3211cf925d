#include "cuda/cold_constants.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cuda/kernel_uses.h"

namespace isomer::cuda {

namespace {

// Of constants that do not stay in the cache so many bytes are kept, for
// products of so few rows.
constexpr int64_t kKeptBytes = 16 << 20, kFewRows = 16;

}  // namespace

ColdConstants::ColdConstants(const ir::Graph& graph,
                             const std::vector<cost::Kernel>& kernels,
                             int64_t bytes, int64_t cached_bytes) {
  if (bytes <= cached_bytes) return;
  graph_ = &graph;
  readers_ = ReadersOf(kernels);
  // What few rows are multiplied by takes as long as it takes to come. The
  // smallest are kept.
  std::set<std::pair<int64_t, Value>> weights;
  for (const cost::Kernel& k : kernels) {
    for (NodeId id : k.nodes) {
      const ir::Node& node = graph.node(id);
      if (!node.Is("matmul") || !Has(node.inputs[1])) continue;
      const TensorType& out = graph.type({id, 0});
      const TensorType& type = graph.type(node.inputs[1]);
      if (HasRows(out, kFewRows)) {
        weights.insert({BytesOf(type), node.inputs[1]});
      }
    }
  }
  int64_t left = kKeptBytes;
  for (const auto& [size, v] : weights) {
    if (left <= 0) break;
    kept_[v] =
        std::min(1.0, static_cast<double>(left) / static_cast<double>(size));
    left -= size;
  }
}

bool ColdConstants::Has(Value v) const {
  if (!any() || !graph_->IsConstant(v)) return false;
  const auto it = readers_.find(v);
  return it == readers_.end() || it->second.size() == 1;
}

double ColdConstants::Kept(Value v) const {
  const auto it = kept_.find(v);
  return it == kept_.end() ? 0 : it->second;
}

}  // namespace isomer::cuda

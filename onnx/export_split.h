// Sibling slices that tile a tensor leave as one Split.
#ifndef ISOMER_ONNX_EXPORT_SPLIT_H_
#define ISOMER_ONNX_EXPORT_SPLIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace isomer::onnx {

struct SplitForm {
  Value source;
  int64_t axis = 0;
  std::vector<NodeId> parts;  // the slices, in order along the axis
  std::vector<int64_t> sizes;
};

// The split that the slice `id` is a part of: two or more slices of one value
// along one axis that cover it without gap or overlap, each once. Nothing if
// there is none, or if `id` is no such slice.
std::optional<SplitForm> FindSplit(const ir::Graph& graph, NodeId id);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_EXPORT_SPLIT_H_

// Folding is evaluation on the CPU.
#include "cuda/constants.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/evaluate.h"
#include "ops/status.h"
#include "runtime/fast.h"

namespace isomer::cuda {

absl::StatusOr<std::map<Value, SharedBytes>> FoldConstants(
    const ir::Graph& graph, absl::Span<const Value> values,
    const std::function<bool(int done, int total)>& progress) {
  std::map<Value, SharedBytes> out;
  std::vector<Value> computed;
  for (Value v : values) {
    const ir::Node& node = graph.node(v.node);
    if (node.kind == ir::Node::Kind::kConstant) {
      out[v] = node.constant->bytes();
    } else {
      computed.push_back(v);
    }
  }
  if (computed.empty()) return out;
  ir::EvaluateOptions how;
  how.interp = Interp::kReal;
  how.run = runtime::FastKernels();
  how.progress = progress;
  ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                   ir::EvaluateValues(graph, computed, {}, how));
  for (size_t i = 0; i < computed.size(); ++i) {
    const Tensor& t = tensors[i];
    out[computed[i]] = SharedBytes::Own(
        IsFloat(t.type.dtype) ? ToBytes(FromDoubles(t.type, ToDoubles(t)))
                              : ToBytes(t));
  }
  return out;
}

SharedBytes WithSteps(const SharedBytes& bytes, const TensorType& type,
                      absl::Span<const int64_t> steps) {
  const int size = ByteSize(type.dtype), rank = type.rank();
  std::string out(bytes.view.size(), '\0');
  std::vector<int64_t> index(rank, 0);
  const int64_t n = NumElements(type);
  for (int64_t at = 0; at < n; ++at) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) to += index[d] * steps[d];
    std::memcpy(out.data() + to * size, bytes.view.data() + at * size, size);
    for (int d = rank; d-- > 0;) {
      if (++index[d] < type.shape[d]) break;
      index[d] = 0;
    }
  }
  return SharedBytes::Own(std::move(out));
}

}  // namespace isomer::cuda

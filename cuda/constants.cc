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

std::vector<int64_t> WithoutRepeats(const TensorType& type,
                                    SharedBytes& bytes) {
  std::vector<int64_t> left = type.shape;
  for (int d = 0; d < type.rank(); ++d) {
    int64_t outer = 1, inner = ByteSize(type.dtype);
    for (int i = 0; i < d; ++i) outer *= left[i];
    for (int i = d + 1; i < type.rank(); ++i) inner *= left[i];
    const char* data = bytes.view.data();
    const int64_t row = left[d] * inner;
    bool repeats = left[d] > 1;
    for (int64_t o = 0; o < outer && repeats; ++o) {
      // A row that equals itself one place further is the same all along.
      repeats =
          std::memcmp(data + o * row, data + o * row + inner, row - inner) == 0;
    }
    if (!repeats) continue;
    std::string once;
    for (int64_t o = 0; o < outer; ++o) once.append(data + o * row, inner);
    bytes = SharedBytes::Own(std::move(once));
    left[d] = 1;
  }
  std::vector<int64_t> steps(left.size(), 0);
  int64_t step = 1;
  for (size_t d = left.size(); d-- > 0;) {
    if (left[d] > 1) steps[d] = step;
    step *= left[d];
  }
  return steps;
}

}  // namespace isomer::cuda

// Folding is evaluation on the CPU.
#include "cuda/constants.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/fold.h"
#include "ops/status.h"
#include "runtime/fast.h"

namespace isomer::cuda {

absl::StatusOr<std::map<Value, SharedBytes>> FoldConstants(
    const ir::Graph& graph, absl::Span<const Value> values,
    const std::function<bool(int done, int total)>& progress) {
  std::map<Value, SharedBytes> out;
  const auto total = static_cast<int>(values.size());
  for (int i = 0; i < total; ++i) {
    ASSIGN_OR_RETURN(out[values[i]], ir::FoldConstant(graph, values[i],
                                                      runtime::FastKernels()));
    if (progress && !progress(i + 1, total)) {
      return absl::CancelledError("folding of constants was stopped");
    }
  }
  return out;
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

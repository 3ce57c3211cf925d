// Folding is evaluation on the CPU.
#include "cuda/constants.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/fold.h"
#include "graph/for_all.h"
#include "ops/status.h"
#include "runtime/fast.h"

namespace isomer::cuda {

namespace {

// Copies elements of a tensor's rows to where `steps` say.
template <int size>
void CopyRows(const char* from, const std::vector<int64_t>& shape,
              absl::Span<const int64_t> steps, char* to) {
  if (shape.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  const size_t last = shape.size() - 1;
  int64_t rows = 1;
  for (size_t d = 0; d < last; ++d) rows *= shape[d];
  constexpr int64_t kTogether = 64;
  ForAll((rows + kTogether - 1) / kTogether, [&](int64_t part) {
    const int64_t end = std::min(rows, (part + 1) * kTogether);
    for (int64_t row = part * kTogether; row < end; ++row) {
      int64_t start = 0, rest = row;
      for (size_t d = last; d-- > 0; rest /= shape[d]) {
        start += rest % shape[d] * steps[d];
      }
      for (int64_t i = 0; i < shape[last]; ++i) {
        std::memcpy(to + (start + i * steps[last]) * size,
                    from + (row * shape[last] + i) * size, size);
      }
    }
  });
}

}  // namespace

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

SharedBytes WithSteps(const SharedBytes& bytes, const TensorType& type,
                      absl::Span<const int64_t> steps) {
  std::string out(bytes.view.size(), '\0');
  switch (ByteSize(type.dtype)) {
    case 1:
      CopyRows<1>(bytes.view.data(), type.shape, steps, out.data());
      break;
    case 2:
      CopyRows<2>(bytes.view.data(), type.shape, steps, out.data());
      break;
    case 4:
      CopyRows<4>(bytes.view.data(), type.shape, steps, out.data());
      break;
    default:
      CopyRows<8>(bytes.view.data(), type.shape, steps, out.data());
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

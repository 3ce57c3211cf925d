// What the normalising operators share: the moments of a row of elements, in
// double and in two passes, so that a large mean does not cancel the variance.
#ifndef ISOMER_OPS_NORMALIZE_H_
#define ISOMER_OPS_NORMALIZE_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/onnx_mapping.h"
#include "ops/status.h"

namespace isomer {

// A row is normalised as (x - mean) * scale.
struct RowMoments {
  double mean = 0;
  double scale = 0;  // 1 / sqrt(variance + epsilon)
};

// The moments of the n > 0 elements at x; without `centred` the mean is taken
// to be zero, which makes the variance the mean square.
template <class T>
RowMoments MomentsOf(const T* x, int64_t n, double epsilon, bool centred) {
  RowMoments m;
  if (centred) {
    for (int64_t i = 0; i < n; ++i) m.mean += x[i];
    m.mean /= static_cast<double>(n);
  }
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = x[i] - m.mean;
    squares += d * d;
  }
  m.scale = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  return m;
}

// How rows are scaled and moved after normalising: runs of `run` elements take
// the elements of `scale` and `bias` in turn, from the start again at the end.
template <class T>
struct RowAffine {
  absl::Span<const T> scale;
  absl::Span<const T> bias;  // empty: none
  int64_t run = 1;
};

// Normalises each of `rows` rows of x.
template <class T>
void NormalizeRows(absl::Span<const T> x, absl::Span<T> y, int64_t rows,
                   const RowAffine<T>& affine, double epsilon, bool centred) {
  if (x.empty()) return;
  const int64_t n = static_cast<int64_t>(x.size()) / rows;
  size_t k = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const RowMoments m = MomentsOf(x.data() + row * n, n, epsilon, centred);
    for (int64_t i = row * n; i < (row + 1) * n; i += affine.run) {
      const double scale = m.scale * affine.scale[k];
      const double bias = affine.bias.empty() ? 0 : affine.bias[k];
      for (int64_t j = i; j < i + affine.run; ++j) {
        y[j] = static_cast<T>((x[j] - m.mean) * scale + bias);
      }
      if (++k == affine.scale.size()) k = 0;
    }
  }
}

// Demands that input k is a vector of the type of input 0 with one element per
// channel, which is dimension 1 of input 0.
template <class D>
absl::Status ChannelVector(InferContext<D>& c, int k) {
  RETURN_IF_ERROR(c.SameDType(0, k));
  RETURN_IF_ERROR(c.Rank(k, 1));
  return c.Equal(c.in(0).shape[1], c.in(k).shape[0],
                 absl::StrCat("input ", k, " must have one element a channel"));
}

// Normalises x [n, c, size...] in `groups` groups of channels a sample.
template <class T>
absl::Status NormalizeChannels(EvalContext<T>& c, int64_t groups) {
  const std::vector<int64_t>& shape = c.in_type(0).shape;
  NormalizeRows<T>(
      c.inputs[0]->template as<T>(),
      absl::MakeSpan(c.outputs[0].template as<T>()), shape[0] * groups,
      {c.inputs[1]->template as<T>(), c.inputs[2]->template as<T>(),
       NumElements(absl::MakeSpan(shape).subspan(2))},
      c.attrs.Float("epsilon"), /*centred=*/true);
  return absl::OkStatus();
}

// The flops of a normalisation, roughly.
inline int64_t NormFlops(absl::Span<const TensorType>,
                         absl::Span<const TensorType> out, const Attrs&) {
  return 8 * NumElements(out[0]);
}

// An error if the node asks for more than its first output.
inline absl::Status OneOutputOnly(const OnnxNode& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    return Unsupported(node.op_type, ": output ", i, " is not modelled");
  }
  return absl::OkStatus();
}

}  // namespace isomer

#endif  // ISOMER_OPS_NORMALIZE_H_

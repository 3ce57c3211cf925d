// Fast kernels for the two operators that models spend their time in.
#include "runtime/fast.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ops/status.h"
#include "runtime/gemm.h"

namespace isomer::runtime {

namespace {

// Computes the one output of an operator whose tensors hold T.
template <class T>
using Kernel = void (*)(absl::Span<const Tensor* const> in, const Attrs& attrs,
                        Tensor& out);

template <class T>
void Matmul(absl::Span<const Tensor* const> in, const Attrs&, Tensor& out) {
  const std::vector<int64_t>&x = in[0]->type.shape, &y = in[1]->type.shape;
  const int64_t k = x.back(), n = y.back();
  const T* a = in[0]->as<T>().data();
  const T* b = in[1]->as<T>().data();
  T* c = out.as<T>().data();
  if (out.size() == 0 || k == 0) return;  // the output is zeros already
  if (y.size() == 2) {
    Gemm(out.size() / n, n, k, a, b, c);
    return;
  }
  const int64_t m = x[x.size() - 2], batches = out.size() / (m * n);
  for (int64_t i = 0; i < batches; ++i) {
    Gemm(m, n, k, a + i * m * k, b + i * k * n, c + i * m * n);
  }
}

// The geometry of a convolution with any number of spatial dimensions.
struct Windows {
  std::vector<int64_t> in, out, kernel, stride, pad, dilation;
};

// Lays the windows of one image's channels [channels, in...] out as columns:
// row (channel, kernel offset), column output position; 0 outside the image.
template <class T>
void ImageToColumns(const T* image, int64_t channels, const Windows& w,
                    T* columns) {
  const int rank = static_cast<int>(w.in.size());
  const int64_t inner_out = w.out[rank - 1];
  const int64_t rows = NumElements(w.out) / inner_out;
  const int64_t in_size = NumElements(w.in), taps = NumElements(w.kernel);
  const std::vector<int64_t> strides = Strides(w.in);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t row = 0; row < rows; ++row) {
        int64_t base = c * in_size, rest_tap = tap, rest_row = row;
        bool inside = true;
        const int64_t last_tap = rest_tap % w.kernel[rank - 1];
        rest_tap /= w.kernel[rank - 1];
        for (int d = rank - 2; d >= 0; --d) {
          const int64_t at = rest_row % w.out[d] * w.stride[d] - w.pad[d] +
                             rest_tap % w.kernel[d] * w.dilation[d];
          rest_row /= w.out[d];
          rest_tap /= w.kernel[d];
          inside &= at >= 0 && at < w.in[d];
          base += at * strides[d];
        }
        const int64_t start = last_tap * w.dilation[rank - 1] - w.pad[rank - 1];
        for (int64_t o = 0; o < inner_out; ++o, ++columns) {
          const int64_t at = start + o * w.stride[rank - 1];
          *columns =
              inside && at >= 0 && at < w.in[rank - 1] ? image[base + at] : T();
        }
      }
    }
  }
}

template <class T>
void Conv(absl::Span<const Tensor* const> in, const Attrs& attrs, Tensor& out) {
  const std::vector<int64_t>&x = in[0]->type.shape, &w = in[1]->type.shape;
  Windows windows{{x.begin() + 2, x.end()},
                  {out.type.shape.begin() + 2, out.type.shape.end()},
                  {w.begin() + 2, w.end()},
                  attrs.Ints("stride"),
                  attrs.Ints("pad"),
                  attrs.Ints("dilation")};
  const int64_t groups = attrs.Int("group"), channels = w[1];
  const int64_t k = channels * NumElements(windows.kernel);
  const int64_t n = NumElements(windows.out), m = w[0] / groups;
  const int64_t image = channels * NumElements(windows.in);
  if (out.size() == 0 || k == 0) return;
  std::vector<T> columns(k * n);
  for (int64_t b = 0; b < x[0] * groups; ++b) {
    ImageToColumns(in[0]->as<T>().data() + b * image, channels, windows,
                   columns.data());
    Gemm(m, n, k, in[1]->as<T>().data() + b % groups * m * k, columns.data(),
         out.as<T>().data() + b * m * n);
  }
}

template <class T>
Kernel<T> FindKernel(const std::string& op) {
  static const std::map<std::string, Kernel<T>>* kernels =
      new std::map<std::string, Kernel<T>>{{"conv2d", Conv<T>},
                                           {"matmul", Matmul<T>}};
  auto it = kernels->find(op);
  return it == kernels->end() ? nullptr : it->second;
}

bool AllHold(absl::Span<const Tensor* const> inputs, size_t alternative) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const Tensor* t) {
    return t->data.index() == alternative && t->type.device.empty();
  });
}

}  // namespace

ir::RunNode FastKernels(int threads) {
  SetGemmThreads(threads);
  return [](const OpDef& op, const Attrs& attrs,
            absl::Span<const Tensor* const> inputs)
             -> std::optional<absl::StatusOr<std::vector<Tensor>>> {
    const bool floats = AllHold(inputs, 1), doubles = AllHold(inputs, 2);
    const bool fields = AllHold(inputs, 3);
    if (FindKernel<float>(op.name) == nullptr ||
        !(floats || doubles || fields)) {
      return std::nullopt;
    }
    std::vector<TensorType> types;
    for (const Tensor* t : inputs) types.push_back(t->type);
    absl::StatusOr<Inferred<int64_t>> inferred = InferOp(op, types, attrs);
    if (!inferred.ok()) return inferred.status();
    // Inputs of f32 that hold doubles come from an unrounded evaluation.
    const bool rounded = floats || (doubles && types[0].dtype == DType::kF64);
    const Interp interp = rounded  ? Interp::kRun
                          : fields ? Interp::kField
                                   : Interp::kReal;
    std::vector<Tensor> out = {MakeTensor(inferred->outputs[0], interp)};
    if (floats) FindKernel<float>(op.name)(inputs, inferred->attrs, out[0]);
    if (doubles) FindKernel<double>(op.name)(inputs, inferred->attrs, out[0]);
    if (fields) FindKernel<Field>(op.name)(inputs, inferred->attrs, out[0]);
    if (rounded) RoundToType(out[0]);
    return out;
  };
}

}  // namespace isomer::runtime

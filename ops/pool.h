// What max_pool and avg_pool share: output sizes, the taps that lie inside the
// input, and the ONNX attributes.
//
// With ceil_mode the last window may reach beyond the padding, but it must
// start before the padding at the end does: a later one would see nothing.
#ifndef ISOMER_OPS_POOL_H_
#define ISOMER_OPS_POOL_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/attr.h"
#include "ops/infer.h"
#include "ops/onnx_mapping.h"
#include "ops/window.h"

namespace isomer {

// The attributes of every pooling.
inline std::vector<AttrSpec> PoolAttrs() {
  return {IntsAttr("kernel").Samples({2, 3}),
          IntsAttr("stride").Default(1).Samples({1, 2}),
          IntsAttr("pad").Default(0).Samples({0, 1}),
          IntsAttr("dilation").Default(1).Samples({1, 2}),
          IntAttr("ceil_mode").Default(0).Samples({0, 1})};
}

// A flag attribute as a truth value.
template <class D>
absl::StatusOr<bool> Flag(const InferContext<D>& c, absl::string_view name) {
  ASSIGN_OR_RETURN(int64_t value, c.Number(name));
  if (value != 0 && value != 1) {
    return c.Fail(absl::StrCat(name, " must be 0 or 1"));
  }
  return value == 1;
}

// The type of a pooling's output. Every window holds at least one element.
template <class D>
Types<D> InferPool(InferContext<D>& c) {
  RETURN_IF_ERROR(c.RankAtLeast(0, 3));
  const TypeT<D>& x = c.in(0);
  const int n = x.rank() - 2;
  ASSIGN_OR_RETURN(std::vector<D> kernel, PerDimension(c, "kernel", n, 1));
  ASSIGN_OR_RETURN(Window<D> w, ReadWindow(c, n));
  w.kernel = std::move(kernel);
  ASSIGN_OR_RETURN(const bool ceil, Flag(c, "ceil_mode"));
  TypeT<D> out = x;
  for (int j = 0; j < n; ++j) {
    const D size = x.shape[j + 2];
    RETURN_IF_ERROR(c.AtLeast(size, D(1), "the input is empty"));
    const D last = WindowExtent<D>(w.kernel[j], w.dilation[j]) - 1;
    for (const D& pad : {w.pad[j], w.pad[n + j]}) {
      RETURN_IF_ERROR(
          c.AtLeast(last, pad, "pad must be smaller than the window"));
    }
    if (!(w.dilation[j] == 1)) {
      RETURN_IF_ERROR(c.AtLeast(size, w.dilation[j],
                                "dilation must not exceed the input's size"));
    }
    ASSIGN_OR_RETURN(D room, WindowRoom(c, w, j, size));
    D places = FloorDiv(room, w.stride[j]) + 1;
    if (ceil) {
      places = MinOf(CeilDiv(room, w.stride[j]) + 1,
                     CeilDiv(size + w.pad[j], w.stride[j]));
    }
    out.shape[j + 2] = places;
  }
  return std::vector{out};
}

// The taps of one window in one dimension that lie in a range of the input:
// numbers [first, end).
template <class Index>
struct TapRange {
  Index first, end;
};

// The taps of output place i in dimension j whose place is below `limit`, and
// not negative unless `padding` counts too.
template <class C>
TapRange<typename C::Index> TapsWithin(const C& c, const Taps<C>& taps, int j,
                                       const typename C::Index& i,
                                       const typename C::Index& limit,
                                       bool padding) {
  using Index = typename C::Index;
  const Index start = taps.Place(j, i, 0);
  TapRange<Index> range{0, c.Ints("kernel")[j]};
  if (!padding && taps.PaddedBegin(j)) {
    range.first = MaxOf(Index(0), CeilDiv(-start, taps.dilation(j)));
  }
  if (taps.PaddedEnd(j)) {
    range.end = MinOf(range.end, CeilDiv(limit - start, taps.dilation(j)));
  }
  return range;
}

// The attributes of a pooling node of ONNX. A pad as large as the window, or a
// dilation larger than the input, makes windows that hold nothing: those are
// not modelled.
inline absl::StatusOr<Attrs> ReadOnnxPool(OnnxImport& c, Value x) {
  const OnnxNode& node = c.node();
  const std::vector<int64_t> shape = c.type(x).shape;
  if (shape.size() < 3) {
    return Invalid(node.op_type, ": ", TypeText(c.type(x)),
                   " has no spatial dimension");
  }
  const auto sizes = absl::MakeSpan(shape).subspan(2);
  ASSIGN_OR_RETURN(OnnxWindow w,
                   ReadOnnxWindow(node, sizes, node.Ints("kernel_shape")));
  for (int j = 0; j < w.size(); ++j) {
    const int64_t extent = WindowExtent(w.kernel[j], w.dilation[j]);
    if (w.pad[j] >= extent || w.pad[w.size() + j] >= extent ||
        w.dilation[j] > MaxOf(1, sizes[j])) {
      return Unsupported(node.op_type, ": a window may hold padding alone");
    }
  }
  // Automatic padding fixes the number of places; nothing is rounded up.
  const bool automatic = node.String("auto_pad", "NOTSET") != "NOTSET";
  return Attrs{{"kernel", w.kernel},
               {"stride", w.stride},
               {"pad", w.pad},
               {"dilation", w.dilation},
               {"ceil_mode", automatic ? 0 : node.Int("ceil_mode")}};
}

// How a pooling's rounding is written for ONNX.
struct OnnxRounding {
  std::vector<int64_t> pad;
  bool ceil;
};

// ONNX's shape inference counts a last window that starts in the padding,
// engines do not: with the padding's end where the last window ends, there is
// none. ceil_mode is then left only where a window reaches beyond padding that
// shows in the result (`pads_count`).
inline OnnxRounding RoundingOf(const OnnxExport& c, bool pads_count) {
  const Attrs& a = c.attrs();
  OnnxRounding r{a.Ints("pad"), false};
  if (a.Int("ceil_mode") == 0) return r;
  const size_t n = r.pad.size() / 2;
  for (size_t j = 0; j < n; ++j) {
    const int64_t end =
        (c.out_type(0).shape[j + 2] - 1) * a.Ints("stride")[j] +
        WindowExtent(a.Ints("kernel")[j], a.Ints("dilation")[j]);
    const int64_t fit = MaxOf(0, end - r.pad[j] - c.in_type(0).shape[j + 2]);
    const bool beyond = pads_count && fit > r.pad[n + j];
    if (!beyond) r.pad[n + j] = fit;
    r.ceil = r.ceil || beyond;
  }
  return r;
}

// The attributes of a pooling for ONNX; `dilation_since` is the opset that
// brought dilations.
inline absl::StatusOr<std::vector<OnnxAttr>> OnnxPoolAttrs(const OnnxExport& c,
                                                           int dilation_since,
                                                           bool pads_count) {
  const Attrs& a = c.attrs();
  OnnxRounding rounding = RoundingOf(c, pads_count);
  std::vector<OnnxAttr> out = {{"kernel_shape", a.Ints("kernel")},
                               {"pads", std::move(rounding.pad)},
                               {"strides", a.Ints("stride")}};
  const std::vector<int64_t>& dilation = a.Ints("dilation");
  if (dilation != std::vector<int64_t>(dilation.size(), 1)) {
    if (c.opset() < dilation_since) {
      return Unsupported("a pooling with dilation needs opset ", dilation_since,
                         ", the model has ", c.opset());
    }
    out.push_back({"dilations", dilation});
  }
  if (rounding.ceil) {
    if (c.opset() < 10) {
      return Unsupported("a pooling with ceil_mode needs opset 10, the model ",
                         "has ", c.opset());
    }
    out.push_back({"ceil_mode", int64_t{1}});
  }
  return out;
}

// The flops of a pooling: one per tap.
inline int64_t PoolFlops(absl::Span<const TensorType>,
                         absl::Span<const TensorType> out, const Attrs& attrs) {
  return NumElements(out[0]) * NumElements(attrs.Ints("kernel"));
}

}  // namespace isomer

#endif  // ISOMER_OPS_POOL_H_

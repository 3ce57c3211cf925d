// Sliding windows: what convolutions and poolings share. A window is described
// by lists with one number per spatial dimension (stride, dilation, kernel) and
// by pads, begin of every dimension first, then the ends, as ONNX writes them.
//
//   place of tap k in the window of output i:   i*stride + k*dilation - pad
//
// In text one number stands for all dimensions, and n pads for both sides;
// inference writes the full lists back, so that equal nodes look equal.
#ifndef ISOMER_OPS_WINDOW_H_
#define ISOMER_OPS_WINDOW_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ops/infer.h"
#include "ops/onnx_mapping.h"
#include "ops/status.h"

namespace isomer {

// The elements that a window spans, gaps included.
template <class D>
D WindowExtent(const D& kernel, const D& dilation) {
  return dilation * (kernel - 1) + 1;
}

// Demands that every number of attribute `name` is at least `low` and, where
// it is known, small enough for 64-bit arithmetic on places.
template <class D>
absl::Status CheckWindowAttr(InferContext<D>& c, absl::string_view name,
                             const std::vector<D>& values, int64_t low) {
  for (const D& v : values) {
    RETURN_IF_ERROR(
        c.AtLeast(v, D(low), absl::StrCat(name, " must be at least ", low)));
    if constexpr (std::is_same_v<D, int64_t>) {
      if (v > std::numeric_limits<int32_t>::max()) {
        return c.Fail(absl::StrCat(name, " holds ", v, ", which is too large"));
      }
    }
  }
  return absl::OkStatus();
}

// Attribute `name` as a list of n numbers, each at least `low`; written back.
template <class D>
absl::StatusOr<std::vector<D>> PerDimension(InferContext<D>& c,
                                            absl::string_view name, int n,
                                            int64_t low) {
  std::vector<D> v = c.Ints(name);
  if (v.size() == 1) v = std::vector<D>(n, v[0]);
  if (static_cast<int>(v.size()) != n) {
    return c.Fail(absl::StrCat(name, " must hold 1 or ", n, " numbers"));
  }
  RETURN_IF_ERROR(CheckWindowAttr(c, name, v, low));
  c.SetAttr(name, v);
  return v;
}

// Attribute "pad" as a list of 2n numbers, none negative; written back.
template <class D>
absl::StatusOr<std::vector<D>> PadPerSide(InferContext<D>& c, int n) {
  std::vector<D> v = c.Ints("pad");
  if (v.size() == 1) v = std::vector<D>(n, v[0]);
  if (static_cast<int>(v.size()) == n) {
    std::vector<D> ends = v;
    v.insert(v.end(), ends.begin(), ends.end());
  }
  if (static_cast<int>(v.size()) != 2 * n) {
    return c.Fail(
        absl::StrCat("pad must hold 1, ", n, " or ", 2 * n, " numbers"));
  }
  RETURN_IF_ERROR(CheckWindowAttr(c, "pad", v, 0));
  c.SetAttr("pad", v);
  return v;
}

// The window of an operator in canonical form.
template <class D>
struct Window {
  std::vector<D> kernel, stride, pad, dilation;
  int size() const { return static_cast<int>(stride.size()); }
};

// Reads the attributes stride, pad and dilation for n spatial dimensions.
template <class D>
absl::StatusOr<Window<D>> ReadWindow(InferContext<D>& c, int n) {
  Window<D> w;
  ASSIGN_OR_RETURN(w.stride, PerDimension(c, "stride", n, 1));
  ASSIGN_OR_RETURN(w.pad, PadPerSide(c, n));
  ASSIGN_OR_RETURN(w.dilation, PerDimension(c, "dilation", n, 1));
  return w;
}

// The size of dimension j after padding, less the window's extent: how far the
// window can move. Demands that the window fits.
template <class D>
absl::StatusOr<D> WindowRoom(InferContext<D>& c, const Window<D>& w, int j,
                             const D& size) {
  const D extent = WindowExtent<D>(w.kernel[j], w.dilation[j]);
  const D padded = size + w.pad[j] + w.pad[w.size() + j];
  RETURN_IF_ERROR(c.AtLeast(
      padded, extent,
      absl::StrCat("the window does not fit in spatial dimension ", j)));
  return padded - extent;
}

// The places that a window reads, for element functions; `past_end` says that
// a window may reach beyond the padding (ceil_mode).
template <class C>
class Taps {
 public:
  using Index = typename C::Index;
  using Indices = typename C::Indices;

  explicit Taps(const C& c, bool past_end = false)
      : c_(c),
        stride_(c.Ints("stride")),
        pad_(c.Ints("pad")),
        dilation_(c.Ints("dilation")),
        past_end_(past_end) {}

  int size() const { return static_cast<int>(stride_.size()); }
  const Index& stride(int j) const { return stride_[j]; }
  const Index& pad(int j) const { return pad_[j]; }
  const Index& dilation(int j) const { return dilation_[j]; }

  // Where tap k of output place i lies in spatial dimension j of x.
  Index Place(int j, const Index& i, const Index& k) const {
    return i * stride_[j] + k * dilation_[j] - pad_[j];
  }
  // Whether a window of dimension j may lie outside x at its begin or end.
  bool PaddedBegin(int j) const { return !(pad_[j] == 0); }
  bool PaddedEnd(int j) const { return past_end_ || !(pad_[size() + j] == 0); }

  // x at `at` (batch and channel first), or 0 in the padding.
  typename C::Value AtOrZero(const Indices& at) const {
    if constexpr (!C::kSymbolic) {
      return Inside(at.data() + 2) ? c_.At(0, at) : c_.FromIndex(0);
    }
    std::optional<typename C::Cond> inside;
    auto demand = [&](typename C::Cond cond) {
      inside = inside ? c_.And(*inside, cond) : cond;
    };
    for (int j = 0; j < size(); ++j) {
      if (PaddedBegin(j)) demand(c_.Ge(at[j + 2], 0));
      if (PaddedEnd(j)) demand(c_.Lt(at[j + 2], c_.dim(0, j + 2)));
    }
    if (!inside) return c_.At(0, at);
    return c_.If(
        *inside, [&] { return c_.At(0, at); }, [&] { return c_.Const(0); });
  }

 private:
  bool Inside(const Index* place) const {
    for (int j = 0; j < size(); ++j) {
      if (place[j] < 0 || place[j] >= c_.dim(0, j + 2)) return false;
    }
    return true;
  }

  const C& c_;
  const std::vector<Index>&stride_, &pad_, &dilation_;
  bool past_end_;
};

// A window as an ONNX node gives it, automatic padding resolved.
using OnnxWindow = Window<int64_t>;

// Demands numbers that places can be computed with in 64 bits.
inline absl::Status CheckOnnxSizes(const OnnxNode& node,
                                   absl::Span<const int64_t> values) {
  for (int64_t v : values) {
    if (v < 0 || v > std::numeric_limits<int32_t>::max()) {
      return Unsupported(node.op_type, ": ", v,
                         " is no size, stride, dilation or pad that is "
                         "modelled");
    }
  }
  return absl::OkStatus();
}

// Reads strides, pads, dilations and auto_pad of a Conv or pooling node whose
// input has spatial dimensions `sizes`.
inline absl::StatusOr<OnnxWindow> ReadOnnxWindow(
    const OnnxNode& node, absl::Span<const int64_t> sizes,
    std::vector<int64_t> kernel) {
  const size_t n = sizes.size();
  if (kernel.size() != n) {
    return Invalid(node.op_type, ": kernel has ", kernel.size(),
                   " dimensions for an input with ", n);
  }
  OnnxWindow w{std::move(kernel), node.Ints("strides"), node.Ints("pads"),
               node.Ints("dilations")};
  if (w.stride.empty()) w.stride.assign(n, 1);
  if (w.dilation.empty()) w.dilation.assign(n, 1);
  const std::string mode = node.String("auto_pad", "NOTSET");
  if (mode != "NOTSET" || w.pad.empty()) w.pad.assign(2 * n, 0);
  if (w.stride.size() != n || w.dilation.size() != n || w.pad.size() != 2 * n) {
    return Invalid(node.op_type, ": strides, dilations or pads do not fit ", n,
                   " spatial dimensions");
  }
  for (const auto* list : {&w.kernel, &w.stride, &w.pad, &w.dilation}) {
    RETURN_IF_ERROR(CheckOnnxSizes(node, *list));
  }
  if (mode == "NOTSET" || mode == "VALID") return w;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    return Invalid(node.op_type, ": auto_pad is ", mode);
  }
  for (size_t j = 0; j < n; ++j) {
    // Each output place has one stride of the input; padding fills the rest.
    const int64_t outputs = CeilDiv(sizes[j], w.stride[j]);
    const int64_t total =
        MaxOf(0, (outputs - 1) * w.stride[j] +
                     WindowExtent(w.kernel[j], w.dilation[j]) - sizes[j]);
    const int64_t less = total / 2, more = total - less;
    w.pad[j] = mode == "SAME_UPPER" ? less : more;
    w.pad[n + j] = total - w.pad[j];
  }
  return w;
}

// `v` plus input i of the node, one number per channel, if that is given.
inline absl::StatusOr<Value> AddChannelBias(OnnxImport& c, Value v, int i) {
  if (!c.Has(i)) return v;
  ASSIGN_OR_RETURN(Value bias, c.In(i));
  ASSIGN_OR_RETURN(bias, c.Add("broadcast", {bias},
                               {{"shape", c.type(v).shape},
                                {"dims", std::vector<int64_t>{1}}}));
  return c.Add("add", {v, bias});
}

}  // namespace isomer

#endif  // ISOMER_OPS_WINDOW_H_

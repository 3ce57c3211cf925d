// conv2d(x, w, stride, pad, dilation, group): cross-correlation of x with the
// filters w, for one, two or three spatial dimensions (the lists have that
// length). There is no bias: it is an add.
//
//   x [n, c, size...]  w [o, c/group, kernel...]   gives [n, o, places...]
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/window.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferConv(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.RankAtLeast(0, 3));
  const TypeT<D>&x = c.in(0), &w = c.in(1);
  if (x.rank() > 5) return c.Fail("at most 3 spatial dimensions");
  RETURN_IF_ERROR(c.Rank(1, x.rank()));
  const int n = x.rank() - 2;
  ASSIGN_OR_RETURN(Window<D> window, ReadWindow(c, n));
  window.kernel.assign(w.shape.begin() + 2, w.shape.end());
  const D group = c.Int("group");
  RETURN_IF_ERROR(CheckWindowAttr(c, "group", {group}, 1));
  RETURN_IF_ERROR(c.Equal(x.shape[1], w.shape[1] * group,
                          "channels differ from the filters' times group"));
  RETURN_IF_ERROR(
      c.Divides(group, w.shape[0], "group must divide the filters"));
  TypeT<D> out{x.dtype, {x.shape[0], w.shape[0]}};
  for (int j = 0; j < n; ++j) {
    RETURN_IF_ERROR(c.AtLeast(window.kernel[j], D(1), "the kernel is empty"));
    ASSIGN_OR_RETURN(D room, WindowRoom(c, window, j, x.shape[j + 2]));
    out.shape.push_back(FloorDiv(room, window.stride[j]) + 1);
  }
  return std::vector{out};
}

constexpr auto ConvElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  typename C::Indices extents;  // channel of the group, taps
  for (int d = 1; d < c.rank(1); ++d) extents.push_back(c.dim(1, d));
  const bool grouped = !(c.Int("group") == 1);
  auto filters = FloorDiv(c.dim(1, 0), c.Int("group"));  // per group
  return [&c, extents, grouped, filters, taps = Taps<C>(c)](const auto& i) {
    typename C::Indices x = i, w = i;
    typename C::Index first = 0;  // the group's first channel
    if (grouped) first = FloorDiv(i[1], filters) * c.dim(1, 1);
    w[0] = i[1];
    // Most of the time that rules are tried goes into these two: by pointer,
    // no access looks for where the indices are kept.
    const int n = taps.size();
    return c.Dot(
        extents,
        [&, out = i.data() + 2, at = x.data() + 1](const auto& k) {
          const auto* const tap = k.data();
          at[0] = first + tap[0];
          for (int j = 0; j < n; ++j) {
            at[j + 1] = taps.Place(j, out[j], tap[j + 1]);
          }
          return taps.AtOrZero(x);
        },
        [&, at = w.data() + 1](const auto& k) {
          const auto* const tap = k.data();
          for (int d = 0; d <= n; ++d) at[d] = tap[d];
          return c.At(1, w);
        });
  };
};

Imported FromConv(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Value w, c.In(1));
  const std::vector<int64_t> xs = c.type(x).shape, ws = c.type(w).shape;
  if (xs.size() < 3 || xs.size() > 5 || ws.size() != xs.size()) {
    return Unsupported("Conv: ", TypeText(c.type(x)), " with ",
                       TypeText(c.type(w)), " is not a 1-D, 2-D or 3-D form");
  }
  ASSIGN_OR_RETURN(OnnxWindow window,
                   ReadOnnxWindow(c.node(), absl::MakeSpan(xs).subspan(2),
                                  {ws.begin() + 2, ws.end()}));
  ASSIGN_OR_RETURN(Value out, c.Add("conv2d", {x, w},
                                    {{"stride", window.stride},
                                     {"pad", window.pad},
                                     {"dilation", window.dilation},
                                     {"group", c.node().Int("group", 1)}}));
  return One(AddChannelBias(c, out, 2));
}

Exported ToConv(OnnxExport& c) {
  const Attrs& a = c.attrs();
  const std::vector<int64_t>& w = c.in_type(1).shape;
  return c.Emit("Conv", c.AllIn(),
                {{"dilations", a.Ints("dilation")},
                 {"group", a.Int("group")},
                 {"kernel_shape", std::vector<int64_t>(w.begin() + 2, w.end())},
                 {"pads", a.Ints("pad")},
                 {"strides", a.Ints("stride")}});
}

}  // namespace

std::vector<OpDef> DefineConv2d() {
  return {{
      .name = "conv2d",
      .inputs = Inputs({"x", "w"}),
      .attrs = {IntsAttr("stride").Default(1).Samples({1, 2}),
                IntsAttr("pad").Default(0).Samples({0, 1}),
                IntsAttr("dilation").Default(1).Samples({1, 2}),
                IntAttr("group").Default(1).Samples({1, 2})},
      .infer = Infer([](auto& c) { return InferConv(c); }),
      .element = Element(ConvElement),
      .examples =
          {"conv2d([[[1 2 3]]], [[[1 10]]]) = [[[21 32]]]",
           "conv2d([[[1 2 3]]], [[[1 10]]], pad=[1 0], stride=2) = "
           "[[[10 32]]]",
           "conv2d([[[[1 2] [3 4]]]], [[[[1 1] [1 1]]]], pad=1, stride=2) = "
           "[[[[1 2] [3 4]]]]",
           "conv2d([[[1 2] [3 4]]], [[[1]] [[10]]], group=2) = "
           "[[[1 2] [30 40]]]"},
      .cases = {"conv2d(f32[2,3,5], f32[4,3,3], pad=1)",
                "conv2d(f32[1,4,5,6], f32[6,2,3,2], group=2, stride=[2 1])",
                "conv2d(f16[2,2,6,5], f16[3,2,3,3], pad=[0 1 2 0], dilation=2)",
                "conv2d(f64[1,3,4,4], f64[3,1,2,2], group=3, pad=1, stride=2)",
                "conv2d(f32[1,2,3,4,3], f32[2,2,2,2,2], pad=[0 0 1 1 0 0])",
                "conv2d(i32[1,1,4], i32[2,1,2], dilation=3)"},
      .onnx = {.from = {{"Conv", FromConv}},
               .to = ToConv,
               .bias_dim =
                   [](absl::Span<const TensorType>) {
                     return std::optional<int64_t>(1);
                   }},
      .flops =
          [](absl::Span<const TensorType> in, absl::Span<const TensorType> out,
             const Attrs&) {
            const int64_t filter =
                NumElements(absl::MakeSpan(in[1].shape).subspan(1));
            return 2 * NumElements(out[0]) * filter;
          },
  }};
}

}  // namespace isomer

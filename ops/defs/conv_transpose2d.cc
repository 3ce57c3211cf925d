// conv_transpose2d(x, w, stride, pad, dilation, output_pad, group): the
// transpose of conv2d as a linear map of x, for one, two or three spatial
// dimensions. Pads cut the result; output_pad lengthens it at the end.
//
//   x [n, c, size...]  w [c, o/group, kernel...]   gives [n, o, places...]
#include "ops/op_def.h"
#include "ops/op_helpers.h"
#include "ops/window.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferConvTranspose(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.RankAtLeast(0, 3));
  const TypeT<D>&x = c.in(0), &w = c.in(1);
  if (x.rank() > 5) return c.Fail("at most 3 spatial dimensions");
  RETURN_IF_ERROR(c.Rank(1, x.rank()));
  const int n = x.rank() - 2;
  ASSIGN_OR_RETURN(Window<D> window, ReadWindow(c, n));
  ASSIGN_OR_RETURN(std::vector<D> more, PerDimension(c, "output_pad", n, 0));
  const D group = c.Int("group");
  RETURN_IF_ERROR(CheckWindowAttr(c, "group", {group}, 1));
  RETURN_IF_ERROR(c.Equal(x.shape[1], w.shape[0], "channels differ"));
  RETURN_IF_ERROR(
      c.Divides(group, x.shape[1], "group must divide the channels"));
  TypeT<D> out{x.dtype, {x.shape[0], w.shape[1] * group}};
  for (int j = 0; j < n; ++j) {
    RETURN_IF_ERROR(c.AtLeast(w.shape[j + 2], D(1), "the kernel is empty"));
    RETURN_IF_ERROR(c.AtLeast(x.shape[j + 2], D(1), "the input is empty"));
    const D size = window.stride[j] * (x.shape[j + 2] - 1) +
                   WindowExtent<D>(w.shape[j + 2], window.dilation[j]) +
                   more[j] - window.pad[j] - window.pad[n + j];
    RETURN_IF_ERROR(c.AtLeast(
        size, D(1), absl::StrCat("spatial dimension ", j, " is cut away")));
    out.shape.push_back(size);
  }
  return std::vector{out};
}

// Output place y gets x[q] w[k] for each q and k with y = q*s + k*d - pad.
constexpr auto ConvTransposeElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  auto channels = FloorDiv(c.dim(0, 1), c.Int("group"));  // per group
  typename C::Indices extents = {channels};
  for (int d = 2; d < c.rank(1); ++d) extents.push_back(c.dim(1, d));
  const bool grouped = !(c.Int("group") == 1);
  return [&c, channels, extents, grouped, taps = Taps<C>(c)](const auto& i) {
    typename C::Index group = 0;
    if (grouped) group = FloorDiv(i[1], c.dim(1, 1));
    typename C::Indices x = i, w = i;
    w[1] = i[1] - group * c.dim(1, 1);
    auto x_at = [&](const auto& k) {
      x[1] = group * channels + k[0];
      std::optional<typename C::Cond> hit;
      for (int j = 0; j < taps.size(); ++j) {
        const auto& s = taps.stride(j);
        const auto place = i[j + 2] + taps.pad(j) - k[j + 1] * taps.dilation(j);
        x[j + 2] = FloorDiv(place, s);
        typename C::Cond here =
            c.And(c.Ge(place, 0), c.Lt(place, c.dim(0, j + 2) * s));
        if (!(s == 1)) here = c.And(here, c.Eq(Mod(place, s), 0));
        hit = hit ? c.And(*hit, here) : here;
      }
      return c.If(
          *hit, [&] { return c.At(0, x); }, [&] { return c.Const(0); });
    };
    auto w_at = [&](const auto& k) {
      w[0] = group * channels + k[0];
      for (size_t d = 1; d < k.size(); ++d) w[d + 1] = k[d];
      return c.At(1, w);
    };
    return c.Dot(extents, x_at, w_at);
  };
};

// Chooses pads and output padding so that dimension j gets `wanted` places.
absl::Status FitOutput(OnnxWindow& w, std::vector<int64_t>& more, int j,
                       int64_t size, int64_t wanted, bool upper) {
  const int64_t total = w.stride[j] * (size - 1) + more[j] +
                        WindowExtent(w.kernel[j], w.dilation[j]) - wanted;
  if (total <= -w.stride[j]) {
    return Unsupported("ConvTranspose: output_shape asks for ", -total,
                       " places more than there are in dimension ", j);
  }
  const int64_t cut = MaxOf(0, total), less = cut / 2;
  w.pad[j] = upper ? less : cut - less;
  w.pad[w.size() + j] = cut - w.pad[j];
  more[j] += cut - total;  // places that are missing come at the end
  return absl::OkStatus();
}

Imported FromConvTranspose(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Value w, c.In(1));
  const std::vector<int64_t> xs = c.type(x).shape, ws = c.type(w).shape;
  if (xs.size() < 3 || xs.size() > 5 || ws.size() != xs.size()) {
    return Unsupported("ConvTranspose: ", TypeText(c.type(x)), " with ",
                       TypeText(c.type(w)), " is not a 1-D, 2-D or 3-D form");
  }
  const size_t n = xs.size() - 2;
  // ReadOnnxWindow resolves SAME for a convolution; here it means that each
  // input place has one stride of the output.
  ASSIGN_OR_RETURN(OnnxWindow window,
                   ReadOnnxWindow(c.node(), absl::MakeSpan(xs).subspan(2),
                                  {ws.begin() + 2, ws.end()}));
  std::vector<int64_t> more = c.node().Ints("output_padding");
  if (more.empty()) more.assign(n, 0);
  std::vector<int64_t> wanted = c.node().Ints("output_shape");
  if (wanted.size() == n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (more.size() != n || (!wanted.empty() && wanted.size() != n)) {
    return Invalid("ConvTranspose: output_padding or output_shape do not fit ",
                   n, " spatial dimensions");
  }
  RETURN_IF_ERROR(CheckOnnxSizes(c.node(), more));
  RETURN_IF_ERROR(CheckOnnxSizes(c.node(), wanted));
  const std::string mode = c.node().String("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (size_t j = 0; j < n && (same || !wanted.empty()); ++j) {
    RETURN_IF_ERROR(
        FitOutput(window, more, j, xs[j + 2],
                  wanted.empty() ? xs[j + 2] * window.stride[j] : wanted[j],
                  mode == "SAME_UPPER"));
  }
  ASSIGN_OR_RETURN(Value out, c.Add("conv_transpose2d", {x, w},
                                    {{"stride", window.stride},
                                     {"pad", window.pad},
                                     {"dilation", window.dilation},
                                     {"output_pad", more},
                                     {"group", c.node().Int("group", 1)}}));
  return One(AddChannelBias(c, out, 2));
}

Exported ToConvTranspose(OnnxExport& c) {
  const Attrs& a = c.attrs();
  const std::vector<int64_t>& w = c.in_type(1).shape;
  return c.Emit("ConvTranspose", c.AllIn(),
                {{"dilations", a.Ints("dilation")},
                 {"group", a.Int("group")},
                 {"kernel_shape", std::vector<int64_t>(w.begin() + 2, w.end())},
                 {"output_padding", a.Ints("output_pad")},
                 {"pads", a.Ints("pad")},
                 {"strides", a.Ints("stride")}});
}

}  // namespace

std::vector<OpDef> DefineConvTranspose2d() {
  return {{
      .name = "conv_transpose2d",
      .inputs = Inputs({"x", "w"}),
      .attrs = {IntsAttr("stride").Default(1).Samples({1, 2}),
                IntsAttr("pad").Default(0).Samples({0, 1}),
                IntsAttr("dilation").Default(1).Samples({1, 2}),
                IntsAttr("output_pad").Default(0).Samples({0, 1}),
                IntAttr("group").Default(1).Samples({1, 2})},
      .infer = Infer([](auto& c) { return InferConvTranspose(c); }),
      .element = Element(ConvTransposeElement),
      .examples =
          {"conv_transpose2d([[[1 2]]], [[[1 10]]]) = [[[1 12 20]]]",
           "conv_transpose2d([[[1 2]]], [[[1 10]]], stride=3) = "
           "[[[1 10 0 2 20]]]",
           "conv_transpose2d([[[1 2]]], [[[1 10]]], stride=2, pad=[1 0], "
           "output_pad=1) = [[[10 2 20 0]]]",
           "conv_transpose2d([[[1 2] [3 4]]], [[[1]] [[10]]], group=2) = "
           "[[[1 2] [30 40]]]"},
      .cases = {"conv_transpose2d(f32[2,3,4], f32[3,2,3], stride=2)",
                "conv_transpose2d(f32[1,4,2,3], f32[4,3,2,3], group=2, "
                "stride=[2 1], pad=[0 1 1 0])",
                "conv_transpose2d(f16[1,2,3,2], f16[2,1,3,2], dilation=2, "
                "stride=3, output_pad=1)",
                "conv_transpose2d(f64[1,2,2,2,2], f64[2,1,2,1,2], stride=2)"},
      .onnx = {.from = {{"ConvTranspose", FromConvTranspose}},
               .to = ToConvTranspose},
      .flops =
          [](absl::Span<const TensorType> in, absl::Span<const TensorType>,
             const Attrs&) {
            const int64_t filter =
                NumElements(absl::MakeSpan(in[1].shape).subspan(1));
            return 2 * NumElements(in[0]) * filter;
          },
  }};
}

}  // namespace isomer

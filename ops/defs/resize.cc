// resize(x, shape=[n ...]): x resampled to another size.
//
// Output index i of a dimension reads x at a position p, which need not be
// whole. With s = output size / input size (or the given scale):
//
//   half_pixel           p = (i + 1/2) / s - 1/2      pixels are areas
//   pytorch_half_pixel   the same, but 0 for an output of size 1
//   asymmetric           p = i / s
//   align_corners        p = i * (input - 1) / (output - 1)
//
// mode nearest rounds p, linear mixes the 2 elements around it, cubic 4.
// Positions outside x read its border. All positions are exact fractions, so
// that the operator has one meaning for every kind of scalar.
#include <cmath>
#include <numeric>
#include <utility>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

// A scale as a fraction: the simplest one that rounds to the same float, so
// that 0.6 means 3/5 and positions that should be whole are.
struct Fraction {
  int64_t num, den;
};
Fraction ScaleFraction(double scale) {
  const float target = static_cast<float>(scale);
  Fraction before{0, 1}, last{1, 0};  // convergents of a continued fraction
  double rest = target;
  for (int k = 0; k < 40; ++k) {
    const double whole = std::floor(rest);
    const int64_t a = static_cast<int64_t>(whole);
    const Fraction next{a * last.num + before.num, a * last.den + before.den};
    before = last;
    last = next;
    const double value =
        static_cast<double>(last.num) / static_cast<double>(last.den);
    if (static_cast<float>(value) == target || rest == whole) break;
    rest = 1 / (rest - whole);
  }
  return last;
}

// The size that ONNX gives a dimension of size n under a scale.
int64_t ScaledSize(int64_t n, double scale) {
  return static_cast<int64_t>(
      std::floor(static_cast<float>(n) * static_cast<float>(scale)));
}

template <class D>
absl::Status CheckScales(InferContext<D>& c, const std::vector<D>& shape) {
  const std::vector<double>& scales = c.attrs().Floats("scales");
  if (scales.empty()) return absl::OkStatus();
  if (scales.size() != shape.size()) {
    return c.Fail("scales must have one entry per dimension");
  }
  for (size_t d = 0; d < scales.size(); ++d) {
    if (!(scales[d] >= 0x1p-12 && scales[d] <= 0x1p12)) {
      return c.Fail("scales must lie between 1/4096 and 4096");
    }
    const std::optional<int64_t> n = AsNumber(c.in(0).shape[d]);
    if (!n) return c.Fail("with scales the sizes must be numbers");
    RETURN_IF_ERROR(
        c.Equal(D(ScaledSize(*n, scales[d])), shape[d],
                absl::StrCat("scale and size of dimension ", d, " disagree")));
  }
  return absl::OkStatus();
}

template <class D>
Types<D> InferResize(InferContext<D>& c) {
  const std::string& mode = c.attrs().String("mode");
  if (mode != "nearest") {
    RETURN_IF_ERROR(c.Float(0));
    c.SetAttr("nearest", std::string("round_prefer_floor"));
  }
  if (mode != "cubic") c.SetAttr("cubic_a", -0.75);
  TypeT<D> out{c.in(0).dtype, c.Ints("shape")};
  if (out.rank() != c.in(0).rank()) {
    return c.Fail("shape must have one entry per dimension");
  }
  RETURN_IF_ERROR(CheckScales(c, out.shape));
  for (int d = 0; d < out.rank(); ++d) {
    RETURN_IF_ERROR(c.AtLeast(out.shape[d], D(1), "a size is not positive"));
    RETURN_IF_ERROR(
        c.AtLeast(c.in(0).shape[d], D(1), "there is nothing to resize"));
  }
  return std::vector{out};
}

// Where one dimension reads its input: at (slope * i + offset) / divisor.
template <class Index>
struct Positions {
  bool kept;  // every index reads itself
  Index slope, offset, divisor, last;

  template <class C>
  Positions(const C& c, int d)
      : kept(false),
        slope(0),
        offset(0),
        divisor(1),
        last(c.dim(0, d) - Index(1)) {
    const std::string& coordinates = c.String("coordinates");
    Index num = c.out_dim(d), den = c.dim(0, d);
    kept = num == den;
    if (coordinates == "align_corners") {
      slope = den - Index(1);
      divisor = MaxOf(num - Index(1), Index(1));
      return;
    }
    const std::vector<double>& scales = c.Floats("scales");
    if (!scales.empty()) {
      const Fraction scale = ScaleFraction(scales[d]);
      num = Index(scale.num);
      den = Index(scale.den);
      kept = scale.num == scale.den;
    }
    if (coordinates == "asymmetric") {
      slope = den;
      divisor = num;
      return;
    }
    // 0 for an output of one element, 1 for others.
    const Index more = coordinates == "half_pixel"
                           ? Index(1)
                           : MinOf(c.out_dim(d) - Index(1), Index(1));
    slope = Index(2) * den * more;
    offset = (den - num) * more;
    divisor = Index(2) * num;
  }

  Index Inside(const Index& i) const { return MinOf(MaxOf(i, Index(0)), last); }
  Index Nearest(const std::string& rounding, const Index& i) const {
    const Index at = slope * i + offset;
    if (rounding == "floor") return Inside(FloorDiv(at, divisor));
    if (rounding == "ceil") return Inside(CeilDiv(at, divisor));
    const Index twice = Index(2) * at;
    return Inside(rounding == "round_prefer_floor"
                      ? CeilDiv(twice - divisor, Index(2) * divisor)
                      : FloorDiv(twice + divisor, Index(2) * divisor));
  }
};

// The weights of the elements around a position whose fraction is t: 2 for
// linear, 4 for cubic (Keys' kernel with parameter a).
template <class T>
std::vector<T> Weights(bool cubic, const T& t, const T& one, double a) {
  if (!cubic) return {one - t, t};
  auto number = [](double x) { return T(FromDouble<T>(x)); };
  auto inner = [&](const T& x) {
    return (number(a + 2) * x - number(a + 3)) * x * x + one;
  };
  auto outer = [&](const T& x) {
    return ((number(a) * x - number(5 * a)) * x + number(8 * a)) * x -
           number(4 * a);
  };
  const T rest = one - t;
  return {outer(one + t), inner(t), inner(rest), outer(one + rest)};
}

constexpr auto ResizeElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  using Index = typename C::Index;
  using T = typename C::Value;
  std::vector<Positions<Index>> positions;
  for (int d = 0; d < c.out_rank(); ++d) positions.emplace_back(c, d);
  const std::string mode = c.String("mode"), rounding = c.String("nearest");
  return [&c, positions, mode, rounding,
          a = c.Float("cubic_a")](const auto& i) {
    auto mix = [&](auto& self, int d, typename C::Indices at) -> T {
      while (d < c.out_rank() && positions[d].kept) ++d;
      if (d == c.out_rank()) return c.At(0, at);
      const Positions<Index>& p = positions[d];
      if (mode == "nearest") {
        at[d] = p.Nearest(rounding, i[d]);
        return self(self, d + 1, at);
      }
      const bool cubic = mode == "cubic";
      const Index position = p.slope * i[d] + p.offset;
      const Index first = FloorDiv(position, p.divisor) - Index(cubic ? 1 : 0);
      const T fraction =
          c.FromIndex(Mod(position, p.divisor)) / c.FromIndex(p.divisor);
      const std::vector<T> weights = Weights<T>(cubic, fraction, c.Const(1), a);
      T sum = c.Const(0);
      for (size_t k = 0; k < weights.size(); ++k) {
        at[d] = p.Inside(first + Index(static_cast<int64_t>(k)));
        sum = sum + weights[k] * self(self, d + 1, at);
      }
      return sum;
    };
    return mix(mix, 0, i);
  };
};

// The sizes and scales that a node asks for; no scales if they are the sizes'
// ratios.
struct Target {
  std::vector<int64_t> shape;
  std::vector<double> scales;
};

absl::StatusOr<Target> FromScales(OnnxImport& c,
                                  const std::vector<int64_t>& shape,
                                  const std::vector<double>& given,
                                  const std::vector<int64_t>& axes) {
  Target t{shape, std::vector<double>(shape.size(), 1)};
  if (given.size() != axes.size()) {
    return Invalid(c.node().op_type, ": ", given.size(), " scales for ",
                   axes.size(), " dimensions");
  }
  bool ratios = true;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t d = axes[k];
    if (!(given[k] >= 0x1p-12 && given[k] <= 0x1p12)) {
      return Unsupported(c.node().op_type, ": scale ", given[k]);
    }
    t.scales[d] = given[k];
    t.shape[d] = ScaledSize(shape[d], given[k]);
    ratios = ratios &&
             static_cast<float>(t.shape[d]) ==
                 static_cast<float>(given[k]) * static_cast<float>(shape[d]);
  }
  if (ratios) t.scales.clear();
  return t;
}

// Resolves scales (input `at`, or the attribute of Upsample 7) or sizes.
absl::StatusOr<Target> ReadTarget(OnnxImport& c, int at,
                                  const std::vector<int64_t>& shape) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.node().Has("axes")) axes = c.node().Ints("axes");
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return Invalid("Resize: no axis ", axis);
  }
  if (c.node().Has("scales")) {
    const std::vector<float> scales = c.node().Floats("scales");
    return FromScales(c, shape, {scales.begin(), scales.end()}, axes);
  }
  if (c.Has(at)) {
    std::optional<Tensor> scales = c.Known(at);
    if (!scales) {
      return Unsupported(c.node().op_type, ": scales computed at run time");
    }
    if (scales->size() > 0) {
      return FromScales(c, shape, ToDoubles(*scales), axes);
    }
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.KnownInts(at + 1));
  if (sizes.size() != axes.size()) {
    return Invalid("Resize: ", sizes.size(), " sizes for ", axes.size(),
                   " dimensions");
  }
  Target t{shape, {}};
  for (size_t k = 0; k < axes.size(); ++k) t.shape[axes[k]] = sizes[k];
  return t;
}

absl::StatusOr<Value> AddResize(OnnxImport& c, const Target& t,
                                const std::string& coordinates,
                                const std::string& rounding) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  std::string mode = c.node().String("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    return Unsupported(c.node().op_type, ": mode ", mode);
  }
  if (mode != "nearest" && !IsFloat(c.type(x).dtype)) {
    return Unsupported(c.node().op_type, ": mode ", mode, " of ",
                       TypeText(c.type(x)));
  }
  if (t.shape == c.type(x).shape && t.scales.empty()) return x;
  if (NumElements(t.shape) == 0 || NumElements(c.type(x)) == 0) {
    return Unsupported(c.node().op_type, ": empty input or output");
  }
  return c.Add("resize", {x},
               {{"shape", t.shape},
                {"scales", t.scales},
                {"mode", mode},
                {"coordinates", coordinates},
                {"nearest", rounding},
                {"cubic_a", double{c.node().Float("cubic_coeff_a", -0.75f)}}});
}

// Upsample, and Resize before opset 11: positions i / s, rounded down.
Imported FromUpsample(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const std::vector<int64_t> shape = c.type(x).shape;
  ASSIGN_OR_RETURN(Target t, ReadTarget(c, 1, shape));
  const bool nearest = c.node().String("mode", "nearest") == "nearest";
  for (size_t d = 0; d < shape.size(); ++d) {
    if (nearest && t.shape[d] < shape[d]) {
      return Unsupported(c.node().op_type,
                         ": shrinks; its rounding is not defined");
    }
  }
  return One(AddResize(c, t, "asymmetric", "floor"));
}

// True if the scales, where given, make whole sizes.
bool WholeSizes(const std::vector<int64_t>& shape, const Target& t) {
  for (size_t d = 0; d < t.scales.size(); ++d) {
    const Fraction scale = ScaleFraction(t.scales[d]);
    if (shape[d] * scale.num % scale.den != 0) return false;
  }
  return true;
}

Imported FromResize(OnnxImport& c) {
  if (c.opset() < 11) return FromUpsample(c);
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(Target t, ReadTarget(c, 2, c.type(x).shape));
  std::string coordinates =
      c.node().String("coordinate_transformation_mode", "half_pixel");
  // The symmetric form differs only where a size is not a multiple.
  if (coordinates == "half_pixel_symmetric" && t.scales.empty()) {
    coordinates = "half_pixel";
  }
  if (coordinates != "half_pixel" && coordinates != "pytorch_half_pixel" &&
      coordinates != "asymmetric" && coordinates != "align_corners") {
    return Unsupported("Resize: coordinate_transformation_mode ", coordinates);
  }
  // Given a scale, ONNX divides by the size before rounding down, engines by
  // the size itself.
  if (coordinates == "align_corners" && !WholeSizes(c.type(x).shape, t)) {
    return Unsupported("Resize: align_corners with sizes that are rounded");
  }
  if (c.node().Int("antialias") != 0 || c.node().Int("exclude_outside") != 0) {
    return Unsupported("Resize: antialias or exclude_outside");
  }
  const std::string policy =
      c.node().String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") {
    return Unsupported("Resize: keep_aspect_ratio_policy ", policy);
  }
  return One(AddResize(c, t, coordinates,
                       c.node().String("nearest_mode", "round_prefer_floor")));
}

// The scales as ONNX takes them, where they give back the sizes.
absl::StatusOr<Tensor> ScalesTensor(OnnxExport& c) {
  const std::vector<int64_t>&in = c.in_type(0).shape,
        &out = c.out_type(0).shape;
  std::vector<double> scales = c.attrs().Floats("scales");
  for (size_t d = scales.size(); d < in.size(); ++d) {
    scales.push_back(static_cast<double>(out[d]) / static_cast<double>(in[d]));
  }
  for (size_t d = 0; d < in.size(); ++d) {
    if (ScaledSize(in[d], scales[d]) != out[d]) {
      return Unsupported("Resize: no scale takes ", in[d], " to ", out[d]);
    }
  }
  return FromDoubles({DType::kF32, {static_cast<int64_t>(in.size())}}, scales);
}

// Opsets below 11 know positions i / s, rounded down, alone.
Exported ToOldResize(OnnxExport& c) {
  const std::string& mode = c.attrs().String("mode");
  bool modelled = c.attrs().String("coordinates") == "asymmetric" &&
                  (mode == "linear" || c.attrs().String("nearest") == "floor");
  for (int d = 0; d < c.in_type(0).rank(); ++d) {
    const bool grows = c.out_type(0).shape[d] >= c.in_type(0).shape[d];
    modelled = modelled && (mode == "linear" || grows);
  }
  if (!modelled) return Unsupported("Resize: this form needs opset 11");
  ASSIGN_OR_RETURN(const Tensor scales, ScalesTensor(c));
  if (c.opset() < 9) {
    return c.Emit("Upsample", {c.In(0)},
                  {{"mode", mode}, {"scales", scales.as<float>()}});
  }
  return c.Emit(c.opset() < 10 ? "Upsample" : "Resize",
                {c.In(0), c.Constant(scales)}, {{"mode", mode}});
}

Exported ToResize(OnnxExport& c) {
  if (c.opset() < 11) return ToOldResize(c);
  // Inputs roi and scales may be left out from opset 13 on.
  const Tensor none = FromDoubles({DType::kF32, {0}}, {});
  std::vector<std::string> in = {c.In(0), ""};
  if (c.opset() < 13) in[1] = c.Constant(none);
  if (c.attrs().Floats("scales").empty()) {
    in.push_back(in[1]);
    in.push_back(c.Ints(c.attrs().Ints("shape")));
  } else {
    ASSIGN_OR_RETURN(const Tensor scales, ScalesTensor(c));
    in.push_back(c.Constant(scales));
  }
  std::vector<OnnxAttr> attrs = {
      {"mode", c.attrs().String("mode")},
      {"coordinate_transformation_mode", c.attrs().String("coordinates")},
      {"nearest_mode", c.attrs().String("nearest")}};
  if (c.attrs().String("mode") == "cubic") {
    attrs.push_back(
        {"cubic_coeff_a", static_cast<float>(c.attrs().Float("cubic_a"))});
  }
  return c.Emit("Resize", std::move(in), std::move(attrs));
}

}  // namespace

std::vector<OpDef> DefineResize() {
  return {{
      .name = "resize",
      .inputs = Inputs({"x"}),
      .attrs = {IntsAttr("shape"),
                FloatsAttr("scales").Default(std::vector<double>{}),
                StringAttr("mode", {"nearest", "linear", "cubic"})
                    .Default(std::string("nearest")),
                StringAttr("coordinates", {"half_pixel", "pytorch_half_pixel",
                                           "asymmetric", "align_corners"})
                    .Default(std::string("half_pixel")),
                StringAttr("nearest", {"round_prefer_floor",
                                       "round_prefer_ceil", "floor", "ceil"})
                    .Default(std::string("round_prefer_floor")),
                FloatAttr("cubic_a").Default(-0.75)},
      .infer = Infer([](auto& c) { return InferResize(c); }),
      .element = Element(ResizeElement),
      .examples =
          {"resize([1 2], shape=[4]) = [1 1 2 2]",
           "resize([1 2 3 4], shape=[2]) = [1 3]",
           "resize([1 2 3 4], shape=[2], nearest=round_prefer_ceil) = [2 4]",
           "resize([1 3], shape=[4], mode=linear) = [1 1.5 2.5 3]",
           "resize([[1 3]], shape=[1 3], mode=linear, "
           "coordinates=align_corners) = [[1 2 3]]",
           "resize([32 0 0 0], shape=[7], mode=cubic, "
           "coordinates=align_corners) = [32 16 0 -3 0 0 0]"},
      .cases = {"resize(f32[1,2,3,4], shape=[1 2 6 8], coordinates=asymmetric, "
                "nearest=floor)",
                "resize(f16[1,1,3,3], shape=[1 1 6 6], mode=linear)",
                "resize(f32[1,1,4,4], shape=[1 1 3 2], mode=linear, "
                "coordinates=pytorch_half_pixel)",
                "resize(f32[5], shape=[3], nearest=ceil)",
                "resize(f32[5], shape=[7], scales=[1.5])",
                "resize(f32[4], shape=[6], mode=cubic, cubic_a=-0.5)",
                "resize(u8[3,2], shape=[3 1], coordinates=align_corners)"},
      .onnx = {.from = {{"Resize", FromResize}, {"Upsample", FromUpsample}},
               .to = ToResize},
  }};
}

}  // namespace isomer

// pad(x, begin=[b ...], end=[e ...], value=v, mode=m): x with b elements more
// before and e after each dimension. What they hold is the mode's matter:
//
//   constant   the value v                     v v | 1 2 3 | v v
//   edge       the nearest element of x        1 1 | 1 2 3 | 3 3
//   reflect    x mirrored at its border        3 2 | 1 2 3 | 2 1
//   wrap       x repeated                      2 3 | 1 2 3 | 1 2
#include <algorithm>
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferPad(InferContext<D>& c) {
  const std::vector<D>&begin = c.Ints("begin"), &end = c.Ints("end");
  const std::string& mode = c.attrs().String("mode");
  TypeT<D> out = c.in(0);
  if (begin.size() != out.shape.size() || end.size() != out.shape.size()) {
    return c.Fail("begin and end must have one entry per dimension");
  }
  for (int d = 0; d < out.rank(); ++d) {
    const D size = out.shape[d];
    RETURN_IF_ERROR(c.AtLeast(begin[d], D(0), "begin is negative"));
    RETURN_IF_ERROR(c.AtLeast(end[d], D(0), "end is negative"));
    if (mode == "reflect") {
      RETURN_IF_ERROR(c.AtLeast(size - D(1), begin[d],
                                "reflecting needs begin below the dimension"));
      RETURN_IF_ERROR(c.AtLeast(size - D(1), end[d],
                                "reflecting needs end below the dimension"));
    } else if (mode != "constant") {
      RETURN_IF_ERROR(c.AtLeast(size, D(1), "there is nothing to repeat"));
    }
    out.shape[d] = begin[d] + size + end[d];
  }
  return std::vector{out};
}

// The element of a dimension of size n that stands at position i, counted from
// its first element, i inside or outside of it.
template <class Index>
Index Source(const std::string& mode, const Index& i, const Index& n) {
  const Index last = n - 1;
  if (mode == "edge") return MinOf(MaxOf(i, Index(0)), last);
  if (mode == "wrap") return Mod(i, n);
  // |i| mirrors at 0, last - |last - .| at the other end.
  const Index mirrored = MaxOf(i, Index(0) - i);
  return last - MaxOf(last - mirrored, mirrored - last);
}

constexpr auto PadElement = [](const auto& c) {
  using C = std::decay_t<decltype(c)>;
  const bool constant = c.String("mode") == "constant";
  return [&c, constant, begin = c.Ints("begin"), end = c.Ints("end"),
          value = c.Float("value")](const auto& i) {
    using Index = typename C::Index;
    // Goes through the dimensions; each one that is padded adds its guards.
    auto from = [&](auto& self, int d, typename C::Indices at) ->
        typename C::Value {
          if (d == c.out_rank()) return c.At(0, at);
          const bool before = !(begin[d] == Index(0));
          const bool after = !(end[d] == Index(0));
          at[d] = at[d] - begin[d];
          auto inside = [&] { return self(self, d + 1, at); };
          auto outside = [&] { return c.Const(value); };
          if (!before && !after) return inside();
          if (!constant) {
            at[d] = Source<Index>(c.String("mode"), at[d], c.dim(0, d));
            return inside();
          }
          if (!after) return c.If(c.Ge(at[d], Index(0)), inside, outside);
          if (!before) return c.If(c.Lt(at[d], c.dim(0, d)), inside, outside);
          return c.If(c.And(c.Ge(at[d], Index(0)), c.Lt(at[d], c.dim(0, d))),
                      inside, outside);
        };
    return from(from, 0, i);
  };
};

// The padding value: attribute up to opset 10, input from then on.
absl::StatusOr<double> PadValue(OnnxImport& c) {
  if (!c.Has(2)) return c.node().Float("value", 0);
  std::optional<Tensor> known = c.Known(2);
  if (!known || known->size() != 1) {
    return Unsupported("Pad: the value is computed at run time");
  }
  const double value = ToDoubles(*known)[0];
  if (!IsFloat(known->type.dtype) && std::abs(value) > 0x1p53) {
    return Unsupported("Pad: the value ", value, " does not fit a double");
  }
  return value;
}

Imported FromPad(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  const int64_t rank = c.type(x).rank();
  ASSIGN_OR_RETURN(auto pads, c.AttrOrInput("pads", 1));
  if (!pads) return Invalid("Pad: pads are missing");
  ASSIGN_OR_RETURN(auto axes, c.AttrOrInput("axes", 3));
  ASSIGN_OR_RETURN(const double value, PadValue(c));
  const size_t count = axes ? axes->size() : static_cast<size_t>(rank);
  if (pads->size() != 2 * count) {
    return Invalid("Pad: ", pads->size(), " pads for ", count, " axes");
  }
  const std::string mode = c.node().String("mode", "constant");
  std::vector<int64_t> begin(rank, 0), end(rank, 0);
  bool any = false;
  for (size_t k = 0; k < count; ++k) {
    int64_t axis = axes ? (*axes)[k] : static_cast<int64_t>(k);
    if (axis < -rank || axis >= rank) {
      return Invalid("Pad: axis ", axis, " is not in [-", rank, ", ", rank,
                     ")");
    }
    if (axis < 0) axis += rank;
    begin[axis] = (*pads)[k];
    end[axis] = (*pads)[k + count];
    if (begin[axis] < 0 || end[axis] < 0) {
      return Unsupported("Pad: negative pads on axis ", axis);
    }
    const int64_t pad = std::max(begin[axis], end[axis]);
    const int64_t size = c.type(x).shape[axis];
    if (mode != "constant" && size <= (mode == "reflect" ? pad : 0)) {
      return Unsupported("Pad: mode ", mode, " adds ", pad, " to dimension ",
                         axis, " of ", TypeText(c.type(x)));
    }
    any = any || begin[axis] > 0 || end[axis] > 0;
  }
  if (!any) return std::vector<Value>{x};
  return One(c.Add(
      "pad", {x},
      {{"begin", begin}, {"end", end}, {"value", value}, {"mode", mode}}));
}

Exported ToPad(OnnxExport& c) {
  const DType dtype = c.in_type(0).dtype;
  const std::string& mode = c.attrs().String("mode");
  const double value = c.attrs().Float("value");
  std::vector<int64_t> pads = c.attrs().Ints("begin");
  const std::vector<int64_t>& end = c.attrs().Ints("end");
  pads.insert(pads.end(), end.begin(), end.end());
  if (mode == "wrap" && c.opset() < 19) {
    return Unsupported("Pad: mode wrap needs opset 19");
  }
  if (c.opset() < 11) {
    if (!IsFloat(dtype)) {
      return Unsupported("Pad: ", DTypeName(dtype), " needs opset 11");
    }
    return c.Emit(
        "Pad", {c.In(0)},
        {{"pads", pads}, {"mode", mode}, {"value", static_cast<float>(value)}});
  }
  if (dtype == DType::kBool && c.opset() < 13) {
    return Unsupported("Pad: bool needs opset 13");
  }
  std::vector<std::string> in = {c.In(0), c.Ints(pads)};
  if (mode == "constant" && value != 0) in.push_back(c.Scalar(dtype, value));
  return c.Emit("Pad", in, {{"mode", mode}});
}

using List = std::vector<int64_t>;

}  // namespace

std::vector<OpDef> DefinePad() {
  return {{
      .name = "pad",
      .inputs = Inputs({"x"}),
      .attrs = {IntsAttr("begin").Samples({List{0, 0}, List{1, 0}}),
                IntsAttr("end").Samples({List{0, 0}, List{0, 1}}),
                FloatAttr("value").Default(0.0),
                StringAttr("mode", {"constant", "edge", "reflect", "wrap"})
                    .Default(std::string("constant"))},
      .infer = Infer([](auto& c) { return InferPad(c); }),
      .element = Element(PadElement),
      .axioms = {"pad(pad(x, begin=b, end=e), begin=c, end=d) => "
                 "pad(x, begin=b + c, end=e + d)"},
      .examples =
          {"pad([1 2], begin=[1], end=[2], value=9) = [9 1 2 9 9]",
           "pad([[1 2]], begin=[1 0], end=[0 1]) = [[0 0 0] [1 2 0]]",
           "pad([1 2 3], begin=[2], end=[1], mode=reflect) = [3 2 1 2 3 2]",
           "pad([1 2 3], begin=[2], end=[1], mode=edge) = [1 1 1 2 3 3]",
           "pad([1 2 3], begin=[2], end=[1], mode=wrap) = [2 3 1 2 3 1]"},
      .cases = {"pad(f32[2,3], begin=[0 1], end=[1 0], value=2)",
                "pad(f16[1,2,3,3], begin=[0 0 1 1], end=[0 0 1 1])",
                "pad(i64[3], begin=[2], end=[0], value=-7)",
                "pad(f32[2,4], begin=[0 3], end=[1 2], mode=reflect)",
                "pad(f32[2,2], begin=[3 0], end=[0 3], mode=edge)",
                "pad(bool[2], begin=[1], end=[3], mode=wrap)"},
      .onnx = {.from = {{"Pad", FromPad}}, .to = ToPad},
      .flops = NoFlops(),
  }};
}

}  // namespace isomer

// cumsum(x, axis=a): the running sum along dimension a. With exclusive=1 an
// element does not count itself; with reverse=1 the sum runs from the end.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferCumsum(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.RankAtLeast(0, 1));
  RETURN_IF_ERROR(c.Axis("axis", c.in(0).rank()).status());
  for (absl::string_view flag : {"exclusive", "reverse"}) {
    ASSIGN_OR_RETURN(const int64_t value, c.Number(flag));
    if (value != 0 && value != 1) {
      return c.Fail(absl::StrCat(flag, " must be 0 or 1"));
    }
  }
  return std::vector{c.in(0)};
}

// The sum of those elements k of the line that come before i, or after it.
constexpr auto CumsumElement = [](const auto& c) {
  const int axis = static_cast<int>(c.Number("axis"));
  const bool exclusive = c.Number("exclusive") != 0;
  const bool reverse = c.Number("reverse") != 0;
  return [&c, axis, exclusive, reverse](const auto& i) {
    auto at = i;
    return c.Sum({c.dim(0, axis)}, [&](const auto& k) {
      const auto& first = reverse ? i[axis] : k[0];
      const auto& second = reverse ? k[0] : i[axis];
      return c.If(
          exclusive ? c.Lt(first, second) : c.Ge(second, first),
          [&] {
            at[axis] = k[0];
            return c.At(0, at);
          },
          [&] { return c.Const(0); });
    });
  };
};

Imported FromCumSum(OnnxImport& c) {
  ASSIGN_OR_RETURN(Value x, c.In(0));
  ASSIGN_OR_RETURN(const std::vector<int64_t> axis, c.KnownInts(1));
  if (axis.size() != 1) return Invalid("CumSum: axis must have one element");
  return One(c.Add("cumsum", {x},
                   {{"axis", axis[0]},
                    {"exclusive", c.node().Int("exclusive", 0)},
                    {"reverse", c.node().Int("reverse", 0)}}));
}

Exported ToCumSum(OnnxExport& c) {
  if (c.opset() < 11) {
    return Unsupported("CumSum: opset ", c.opset(),
                       " has none; it came with opset 11");
  }
  const double axis = static_cast<double>(c.attrs().Int("axis"));
  return c.Emit("CumSum", {c.In(0), c.Scalar(DType::kI64, axis)},
                {{"exclusive", c.attrs().Int("exclusive")},
                 {"reverse", c.attrs().Int("reverse")}});
}

}  // namespace

std::vector<OpDef> DefineCumsum() {
  return {{
      .name = "cumsum",
      .inputs = Inputs({"x"}),
      .attrs = {AxisAttr("axis").Samples({0, 1, -1}),
                IntAttr("exclusive").Default(0).Samples({0, 1}),
                IntAttr("reverse").Default(0).Samples({0, 1})},
      .infer = Infer([](auto& c) { return InferCumsum(c); }),
      .element = Element(CumsumElement),
      .examples = {"cumsum([1 2 3], axis=0) = [1 3 6]",
                   "cumsum([1 2 3], axis=0, exclusive=1) = [0 1 3]",
                   "cumsum([1 2 3], axis=0, reverse=1) = [6 5 3]",
                   "cumsum([[1 2] [3 4]]:i64, axis=-1, exclusive=1, "
                   "reverse=1) = [[2 0] [4 0]]:i64"},
      .cases = {"cumsum(f32[2,3,2], axis=1)", "cumsum(f16[4], axis=-1)",
                "cumsum(i64[3], axis=0)"},
      .onnx = {.from = {{"CumSum", FromCumSum}}, .to = ToCumSum},
  }};
}

}  // namespace isomer

// mod(x, y): the remainder. Of integers it has the sign of the divisor, or,
// with fmod=1, that of the dividend; floats have only the second.
#include <cmath>

#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferMod(InferContext<D>& c) {
  RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.SameShape(0, 1));
  ASSIGN_OR_RETURN(const int64_t fmod, c.Number("fmod"));
  if (fmod != 0 && fmod != 1) return c.Fail("fmod must be 0 or 1");
  if (fmod == 0 && IsFloat(c.in(0).dtype)) {
    return c.Fail("floats need fmod=1");
  }
  return std::vector{c.in(0)};
}

// x - y * trunc(x / y), plus y where the remainder's sign is not y's.
template <class C, class T>
T Remainder(const C& c, bool truncated, const T& x, const T& y) {
  const DType dtype = c.out_type().dtype;
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(x, y);
  } else {
    if (!IsInteger(dtype)) {
      const T q = x / y;
      return x - y * (Sign(q) * Floor(Abs(q)));
    }
    const T r = x - y * Quotient(dtype, x, y);
    if (truncated) return r;
    // The sign of a remainder that is not zero against the divisor's.
    return c.If(
        c.Less(r * y, c.Const(0)), [&] { return r + y; }, [&] { return r; });
  }
}

constexpr auto ModElement = [](const auto& c) {
  const bool truncated = c.Number("fmod") != 0;
  return [&c, truncated](const auto& i) {
    return Remainder(c, truncated, c.At(0, i), c.At(1, i));
  };
};

Imported FromMod(OnnxImport& c) {
  ASSIGN_OR_RETURN(std::vector<Value> in, c.AllIn());
  ASSIGN_OR_RETURN(in, c.Broadcast(std::move(in)));
  return One(c.Add("mod", in, {{"fmod", c.node().Int("fmod", 0)}}));
}

Exported ToMod(OnnxExport& c) {
  if (c.opset() < 10) {
    return Unsupported("Mod: opset ", c.opset(),
                       " has none; it came with opset 10");
  }
  return c.Emit("Mod", c.AllIn(), {{"fmod", c.attrs().Int("fmod")}});
}

}  // namespace

std::vector<OpDef> DefineMod() {
  return {{
      .name = "mod",
      .inputs = Inputs({"x", "y"}),
      .attrs = {IntAttr("fmod").Default(0).Samples({1, 0})},
      .infer = Infer([](auto& c) { return InferMod(c); }),
      .element = OrderedElement(ModElement),
      .examples = {"mod([7 -7 7 -7]:i64, [3 3 -3 -3]:i64) = [1 2 -2 -1]:i64",
                   "mod([7 -7]:i64, [3 3]:i64, fmod=1) = [1 -1]:i64",
                   "mod([5.5 -5.5], [2 2], fmod=1) = [1.5 -1.5]"},
      .cases = {"mod(f32[2,3], f32[2,3], fmod=1)", "mod(i32[4], i32[4])",
                "mod(i64[4], i64[4], fmod=1)"},
      .onnx = {.from = {{"Mod", FromMod}}, .to = ToMod, .broadcasts = true},
  }};
}

}  // namespace isomer

// is_nan(x): whether an element is not a number, as bool. Over the integers
// nothing is; the field, which has no NaN, answers by a keyed coin of the
// element, so that no law about is_nan holds there by accident.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

std::vector<OpDef> DefineIsNan() {
  return {{
      .name = "is_nan",
      .inputs = Inputs({"x"}),
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        RETURN_IF_ERROR(c.Float(0));
        TypeT<DimOf<decltype(c)>> out = c.in(0);
        out.dtype = DType::kBool;
        return std::vector{out};
      }),
      .element = OrderedElement([](const auto& c) {
        return [&c](const auto& i) { return IsNan(c.At(0, i)); };
      }),
      .examples = {"is_nan([1 nan -inf]) = [false true false]",
                   "is_nan([nan]:f16) = [true]"},
      .cases = {"is_nan(f32[2,3])", "is_nan(f64[2])"},
      .onnx = {.from = {{"IsNaN", ImportAs("is_nan")}}, .to = EmitAs("IsNaN")},
  }};
}

}  // namespace isomer

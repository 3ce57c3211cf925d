// where(c, x, y): x where the condition c holds and y elsewhere, element by
// element; all three have one shape.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferWhere(InferContext<D>& c) {
  RETURN_IF_ERROR(c.HasDType(0, DType::kBool));
  RETURN_IF_ERROR(c.SameDType(1, 2));
  RETURN_IF_ERROR(c.SameShape(0, 1));
  RETURN_IF_ERROR(c.SameShape(1, 2));
  return std::vector{c.in(1)};
}

constexpr auto WhereElement = [](const auto& c) {
  return [&c](const auto& i) {
    return c.If(
        c.Truth(0, i), [&] { return c.At(1, i); }, [&] { return c.At(2, i); });
  };
};

}  // namespace

std::vector<OpDef> DefineWhere() {
  return {{
      .name = "where",
      .inputs = Inputs({"c", "x", "y"}),
      .infer = Infer([](auto& c) { return InferWhere(c); }),
      .element = Element(WhereElement),
      .axioms = {"where(c, x, x) => x",
                 "where(c, where(c, x, y), z) => where(c, x, z)",
                 "where(c, x, where(c, y, z)) => where(c, x, z)"},
      .examples = {"where([true false], [1 2], [3 4]) = [1 4]",
                   "where(false, 1:i64, 2:i64) = 2:i64"},
      .cases = {"where(bool[2,3], f32[2,3], f32[2,3])",
                "where(bool[4], i64[4], i64[4])",
                "where(bool[2], bool[2], bool[2])"},
      .onnx = {.from = {{"Where", ImportAs("where", /*broadcast=*/true)}},
               .to = EmitAs("Where"),
               .broadcasts = true},
  }};
}

}  // namespace isomer

// The comparisons equal, less, less_equal, greater, greater_equal: two tensors
// of one type give a bool tensor. Nothing compares with NaN, so that
// less_equal is "less or equal" and not "not greater".
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferCompare(InferContext<D>& c) {
  // Only equality makes sense of truth values.
  if (c.op() != "equal") RETURN_IF_ERROR(c.Numeric(0));
  RETURN_IF_ERROR(c.SameDType(0, 1));
  RETURN_IF_ERROR(c.SameShape(0, 1));
  TypeT<D> out = c.in(0);
  out.dtype = DType::kBool;
  return std::vector{out};
}

// `f` takes the context and two elements and gives a condition.
template <class F>
OpDef Comparison(std::string name, std::string onnx, bool commutative,
                 std::vector<std::string> examples, F f) {
  return {
      .name = name,
      .inputs = Inputs({"x", "y"}),
      .commutative = commutative,
      .infer = Infer([](auto& c) { return InferCompare(c); }),
      .element = OrderedElement([f](const auto& c) {
        return [&c, f](const auto& i) { return f(c, c.At(0, i), c.At(1, i)); };
      }),
      .examples = std::move(examples),
      .cases = {absl::StrCat(name, "(f32[2,3], f32[2,3])"),
                absl::StrCat(name, "(f16[4], f16[4])"),
                absl::StrCat(name, "(i64[3], i64[3])")},
      .onnx = {.from = {{onnx, ImportAs(name, /*broadcast=*/true)}},
               .to = EmitAs(onnx),
               .broadcasts = true},
  };
}

// LessOrEqual and GreaterOrEqual came with opset 12.
ToOnnx EmitOrEqual(std::string op_type, std::string strict) {
  return [op_type = std::move(op_type),
          strict = std::move(strict)](OnnxExport& c) -> Exported {
    if (c.opset() >= 12) return c.Emit(op_type, c.AllIn());
    const std::string a = c.Emit(strict, c.AllIn())[0];
    const std::string b = c.Emit("Equal", c.AllIn())[0];
    return c.Emit("Or", {a, b});
  };
}

OpDef EqualOp() {
  OpDef op = Comparison(
      "equal", "Equal", /*commutative=*/true,
      {"equal([1 2], [1 3]) = [true false]", "equal([nan], [nan]) = [false]",
       "equal([true], [false]) = [false]"},
      [](const auto& c, const auto& x, const auto& y) {
        return c.Equal(x, y);
      });
  op.axioms = {"equal(x, y) <=> equal(y, x)"};
  op.cases.push_back("equal(bool[2], bool[2])");
  return op;
}

OpDef LessOp() {
  return Comparison(
      "less", "Less", /*commutative=*/false,
      {"less([1 2 2], [2 1 2]) = [true false false]",
       "less([-1]:i64, [0]:i64) = [true]"},
      [](const auto& c, const auto& x, const auto& y) { return c.Less(x, y); });
}

OpDef LessEqualOp() {
  OpDef op = Comparison("less_equal", "LessOrEqual", /*commutative=*/false,
                        {"less_equal([1 2 2], [2 1 2]) = [true false true]",
                         "less_equal([nan], [0]) = [false]"},
                        [](const auto& c, const auto& x, const auto& y) {
                          return c.Or(c.Less(x, y), c.Equal(x, y));
                        });
  op.onnx.to = EmitOrEqual("LessOrEqual", "Less");
  return op;
}

OpDef GreaterOp() {
  return Comparison(
      "greater", "Greater", /*commutative=*/false,
      {"greater([1 2 2], [2 1 2]) = [false true false]",
       "greater([0]:i64, [-1]:i64) = [true]"},
      [](const auto& c, const auto& x, const auto& y) { return c.Less(y, x); });
}

OpDef GreaterEqualOp() {
  OpDef op =
      Comparison("greater_equal", "GreaterOrEqual", /*commutative=*/false,
                 {"greater_equal([1 2 2], [2 1 2]) = [false true true]",
                  "greater_equal([0], [nan]) = [false]"},
                 [](const auto& c, const auto& x, const auto& y) {
                   return c.Or(c.Less(y, x), c.Equal(x, y));
                 });
  op.onnx.to = EmitOrEqual("GreaterOrEqual", "Greater");
  return op;
}

}  // namespace

std::vector<OpDef> DefineCompare() {
  return {EqualOp(), LessOp(), LessEqualOp(), GreaterOp(), GreaterEqualOp()};
}

}  // namespace isomer

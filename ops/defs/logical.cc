// The logical operators and, or, xor, not, on tensors of bool.
#include "ops/op_def.h"
#include "ops/op_helpers.h"

namespace isomer {

namespace {

template <class D>
Types<D> InferLogical(InferContext<D>& c) {
  for (int k = 0; k < c.size(); ++k) {
    RETURN_IF_ERROR(c.HasDType(k, DType::kBool));
    RETURN_IF_ERROR(c.SameShape(0, k));
  }
  return std::vector{c.in(0)};
}

// `f` takes the context and two conditions.
template <class F>
OpDef Connective(std::string name, std::string onnx,
                 std::vector<std::string> axioms,
                 std::vector<std::string> examples, F f) {
  return {
      .name = name,
      .inputs = Inputs({"x", "y"}),
      .commutative = true,
      .infer = Infer([](auto& c) { return InferLogical(c); }),
      .element = Element([f](const auto& c) {
        return [&c, f](const auto& i) {
          return f(c, c.Truth(0, i), c.Truth(1, i));
        };
      }),
      .axioms = std::move(axioms),
      .examples = std::move(examples),
      .cases = {absl::StrCat(name, "(bool[2,3], bool[2,3])"),
                absl::StrCat(name, "(bool[], bool[])")},
      .onnx = {.from = {{onnx, ImportAs(name, /*broadcast=*/true)}},
               .to = EmitAs(onnx),
               .broadcasts = true},
  };
}

OpDef NotOp() {
  return {
      .name = "not",
      .inputs = Inputs({"x"}),
      .infer = Infer([](auto& c) { return InferLogical(c); }),
      .element = Element([](const auto& c) {
        return [&c](const auto& i) { return c.Not(c.Truth(0, i)); };
      }),
      .axioms = {"not(not(x)) => x"},
      .examples = {"not([true false]) = [false true]", "not(true) = false"},
      .cases = {"not(bool[2,3])"},
      .onnx = {.from = {{"Not", ImportAs("not")}}, .to = EmitAs("Not")},
  };
}

}  // namespace

std::vector<OpDef> DefineLogical() {
  return {
      Connective("and", "And",
                 {"and(x, y) <=> and(y, x)",
                  "and(and(x, y), z) <=> and(x, and(y, z))", "and(x, x) => x"},
                 {"and([true true false], [true false false]) = "
                  "[true false false]"},
                 [](const auto& c, const auto& x, const auto& y) {
                   return c.And(x, y);
                 }),
      Connective("or", "Or",
                 {"or(x, y) <=> or(y, x)",
                  "or(or(x, y), z) <=> or(x, or(y, z))", "or(x, x) => x"},
                 {"or([true true false], [true false false]) = "
                  "[true true false]"},
                 [](const auto& c, const auto& x, const auto& y) {
                   return c.Or(x, y);
                 }),
      Connective("xor", "Xor",
                 {"xor(x, y) <=> xor(y, x)",
                  "xor(xor(x, y), z) <=> xor(x, xor(y, z))"},
                 {"xor([true true false], [true false false]) = "
                  "[false true false]"},
                 [](const auto& c, const auto& x, const auto& y) {
                   return c.Or(c.And(x, c.Not(y)), c.And(c.Not(x), y));
                 }),
      NotOp(),
  };
}

}  // namespace isomer

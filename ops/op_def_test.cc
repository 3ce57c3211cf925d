// One call of one operator, with two small operators of its own: what holds
// for every operator, whatever it computes.
#include "ops/op_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isomer {
namespace {

using ::testing::HasSubstr;

// x + shift, for float types.
OpDef Shift() {
  return {.name = "shift",
          .inputs = Inputs({"x"}),
          .attrs = {FloatAttr("by").Default(1.0)},
          .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
            RETURN_IF_ERROR(c.Numeric(0));
            return std::vector{c.in(0)};
          }),
          .element = Element([](const auto& c) {
            return [&c](const auto& i) {
              return c.At(0, i) + c.Const(c.Float("by"));
            };
          })};
}

// The sum of all inputs' elements, for numbers alone.
OpDef Total() {
  return {
      .name = "total",
      .inputs = Variadic("x"),
      .infer = Infer([](auto& c) -> Types<DimOf<decltype(c)>> {
        return std::vector{TypeT<DimOf<decltype(c)>>{c.in(0).dtype, {}}};
      }),
      .eval = EvalFloat([](auto& c) -> absl::Status {
        for (size_t k = 0; k < c.inputs.size(); ++k) {
          for (int64_t i = 0; i < c.inputs[k]->size(); ++i) {
            c.Set(0, 0,
                  c.outputs[0]
                          .template as<
                              typename std::decay_t<decltype(c)>::Scalar>()[0] +
                      c.At(k, i));
          }
        }
        return absl::OkStatus();
      }),
      .expansion = "total(x) => reduce_sum(x)"};
}

std::string Eval(const OpDef& op, const std::vector<Tensor>& inputs,
                 const Attrs& attrs, Interp interp = Interp::kRun) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  absl::StatusOr<std::vector<Tensor>> out = EvalOp(op, pointers, attrs, interp);
  if (!out.ok()) return std::string(out.status().message());
  return absl::StrCat(TypeText((*out)[0].type), " ", TensorText((*out)[0]));
}

std::string Type(const OpDef& op, const std::vector<std::string>& inputs,
                 const Attrs& attrs = {}) {
  std::vector<TensorType> types;
  for (const std::string& text : inputs) types.push_back(*ParseType(text));
  absl::StatusOr<Inferred<int64_t>> out = InferOp(op, types, attrs);
  return out.ok() ? absl::StrCat(TypeText(out->outputs[0]), " ",
                                 AttrsText<int64_t>(out->attrs))
                  : std::string(out.status().message());
}

TEST(OpDefTest, InferenceCompletesAttributes) {
  EXPECT_EQ(Type(Shift(), {"f32[2]"}), "f32[2] by=1");
  EXPECT_EQ(Type(Shift(), {"f32[2]"}, {{"by", int64_t{3}}}), "f32[2] by=3");
}

TEST(OpDefTest, ArityAndAttributesAreChecked) {
  EXPECT_EQ(Type(Shift(), {}), "shift: takes 1 inputs, given 0");
  EXPECT_EQ(Type(Shift(), {"f32[]", "f32[]"}),
            "shift: takes 1 inputs, given 2");
  EXPECT_EQ(Type(Total(), {}), "total: takes 1 or more inputs, given 0");
  EXPECT_EQ(Type(Shift(), {"f32[]"}, {{"to", int64_t{1}}}),
            "shift: no attribute 'to'; it has by");
  EXPECT_EQ(Type(Shift(), {"bool[2]"}),
            "shift: input 0 must be numeric: bool[2] with by=1");
}

TEST(OpDefTest, DeviceAxesAreTakenOffAndPutBack) {
  EXPECT_EQ(Type(Shift(), {"f32[2]@{m:2}"}), "f32[2]@{m:2} by=1");
  EXPECT_EQ(Type(Total(), {"f32[2]@{m:2}", "f32[3]@{m:2}"}), "f32[]@{m:2} ");
  EXPECT_EQ(Type(Total(), {"f32[2]@{m:2}", "f32[3]"}),
            "total: device axes differ: f32[2]@{m:2} and f32[3]");
  const Tensor x{*ParseType("f32[2]@{m:2}"), std::vector<float>{1, 2, 3, 4}};
  EXPECT_EQ(Eval(Total(), {x}, {}), "f32[]@{m:2} [3 7]");
}

TEST(OpDefTest, EachInterpretationRunsItsScalar) {
  const Tensor x = *ParseTensor("[1 2.5]");
  EXPECT_EQ(Eval(Shift(), {x}, {}), "f32[2] [2 3.5]");
  EXPECT_EQ(Eval(Shift(), {*Reinterpret(x, Interp::kReal)}, {}, Interp::kReal),
            "f32[2] [2 3.5]");
  EXPECT_EQ(
      Eval(Shift(), {*Reinterpret(x, Interp::kInteger)}, {}, Interp::kInteger),
      "f32[2] [2 poison]");
  EXPECT_EQ(Eval(Shift(), {*Reinterpret(x, Interp::kSymbolic)}, {},
                 Interp::kSymbolic),
            "f32[2] [2 7/2]");
}

TEST(OpDefTest, ResultsAreRoundedToTheirType) {
  EXPECT_EQ(Eval(Shift(), {*ParseTensor("[2048]:f16")}, {}),
            "f16[1] [2048]");  // 2049 lies between two halves
  EXPECT_EQ(Eval(Shift(), {*ParseTensor("[255]:u8")}, {}), "u8[1] [0]");
  EXPECT_EQ(Eval(Shift(), {*ParseTensor("[9223372036854775807]:i64")}, {}),
            "i64[1] [-9223372036854775808]");
}

TEST(OpDefTest, AKernelThatIsMissingIsAnError) {
  const Tensor x = *Reinterpret(*ParseTensor("[1]"), Interp::kField);
  EXPECT_THAT(Eval(Total(), {x}, {}, Interp::kField),
              HasSubstr("total: has no kernel for this kind of scalar"));
  OpDef bare = Total();
  bare.eval = {};
  EXPECT_THAT(Eval(bare, {*ParseTensor("[1]")}, {}),
              HasSubstr("total: is defined by its expansion alone"));
}

TEST(OpDefTest, IndexSemanticsComesFromTheElementFunction) {
  const DimExpr n = DimExpr::Symbol("n"), i = DimExpr::Symbol("i");
  const std::vector<SymType> types = {{DType::kF32, {n}}};
  absl::StatusOr<Inferred<DimExpr>> inferred = InferOp(Shift(), types, {});
  ASSERT_TRUE(inferred.ok()) << inferred.status();
  EXPECT_EQ(IndexOp(Shift(), types, *inferred, {i})->ToString(),
            "(in0[i] + 1)");
  EXPECT_EQ(IndexOp(Total(), types, *inferred, {i}).status().message(),
            "total: has no index semantics");
}

}  // namespace
}  // namespace isomer

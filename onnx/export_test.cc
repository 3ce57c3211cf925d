// Models in, a rewrite, models out: what was not touched is kept ('='), what
// was rewritten leaves in the forms that engines know ('+').
#include "onnx/export.h"

#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "onnx/import.h"
#include "onnx/model_testing.h"
#include "onnx/writer.h"

namespace isomer::onnx {
namespace {

absl::StatusOr<ImportedModel> Import(absl::string_view text,
                                     const ImportOptions& options = {}) {
  absl::StatusOr<Model> model =
      ParseModel(SharedBytes::Own(BytesFromText(text)), "");
  if (!model.ok()) return model.status();
  return ImportModel(std::make_shared<const Model>(*std::move(model)), options);
}

// Applies a rule at its first match, as often as `times`, and exports.
std::string Rewritten(absl::string_view text, absl::string_view rule,
                      int times = 1, const ImportOptions& options = {}) {
  absl::StatusOr<ImportedModel> model = Import(text, options);
  if (!model.ok()) return std::string(model.status().message());
  ir::Graph graph = model->graph;
  auto rules = ir::ReadRuleBody(rule);
  EXPECT_TRUE(rules.ok()) << rules.status();
  for (int i = 0; i < times; ++i) {
    const auto matches = ir::FindMatches(graph, (*rules)[0]);
    EXPECT_FALSE(matches.empty()) << ir::PrintGraph(graph);
    if (matches.empty()) return "";
    absl::StatusOr<ir::Graph> next = ir::Apply(graph, (*rules)[0], matches[0]);
    EXPECT_TRUE(next.ok()) << next.status();
    graph = *std::move(next);
  }
  absl::StatusOr<ExportedModel> out = ExportModel(*model, graph);
  EXPECT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(SerializeModel(out->model).ok());
  return TextOf(out->model.graph);
}

constexpr absl::string_view kMerge =
    "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, axis=-1)) in "
    "slice(m, axis=-1, from=0, to=dim(y, -1)), "
    "slice(m, axis=-1, from=dim(y, -1), to=end)";

TEST(Export, WithoutRewritesTheFileIsTheSame) {
  const std::string bytes = BytesFromText(R"(
ir 8
opset 17
in x FLOAT[2,3]
in c BOOL[]
out y
init w FLOAT[3,4]
unused = Neg(x)
s = Shape(x)
a = MatMul(x, w)
b = MatMul(x, w)
d = Whatever(b)
y = If(c) { t = Add(a, d) }
)");
  absl::StatusOr<Model> model = ParseModel(SharedBytes::Own(bytes), "");
  ASSERT_TRUE(model.ok()) << model.status();
  auto imported = ImportModel(std::make_shared<const Model>(*model));
  ASSERT_TRUE(imported.ok()) << imported.status();
  auto exported = ExportModel(*imported, imported->graph);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(*SerializeModel(exported->model), bytes);
  EXPECT_EQ(exported->kept, 6);
  EXPECT_EQ(exported->made, 0);
}

TEST(Export, MergedProductsLeaveAsOneProductAndOneSplit) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[2,3]
in v FLOAT[3,4]
in w FLOAT[3,5]
out y
out z
a = MatMul(x, v)
b = MatMul(x, w)
y = Relu(a)
z = Whatever(b)
)",
                      kMerge),
            R"(= in x FLOAT[2,3]
= in v FLOAT[3,4]
= in w FLOAT[3,5]
+ init isomer_4 INT64[2]
+ isomer_1 = Concat(v, w)
+ isomer_3 = MatMul(x, isomer_1)
+ a, b = Split(isomer_3, isomer_4)
= y = Relu(a)
= z = Whatever(b)
= out y
= out z
)");
}

TEST(Export, ConstantsAreFoldedAndOldOnesGo) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[2,3]
out y
init v FLOAT[3,3]
init w FLOAT[3,3]
init unused FLOAT[2]
a = MatMul(x, v)
y = MatMul(a, w)
)",
                      "matmul(matmul(x, y), z) => matmul(x, matmul(y, z))"),
            R"(= in x FLOAT[2,3]
= init unused FLOAT[2]
+ init isomer_0 FLOAT[3,3]
+ y = MatMul(x, isomer_0)
= out y
)");
}

constexpr absl::string_view kDistribute =
    "matmul(x, add(y, z)) => add(matmul(x, y), matmul(x, z))";

// ONNX broadcasts the batch of a product, and not the matrices.
TEST(Export, AProductIsGivenItsMatrices) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[2,3]
in w FLOAT[3,4]
in b FLOAT[4]
out y
s = Add(w, b)
y = MatMul(x, s)
)",
                      kDistribute),
            R"(= in x FLOAT[2,3]
= in w FLOAT[3,4]
= in b FLOAT[4]
+ init isomer_0 INT64[2]
+ isomer_2 = Expand(b, isomer_0)
+ isomer_4 = MatMul(x, w)
+ isomer_6 = MatMul(x, isomer_2)
+ y = Add(isomer_4, isomer_6)
= out y
)");
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[5,2,3]
in w FLOAT[5,3,4]
in b FLOAT[3,4]
out y
s = Add(w, b)
y = MatMul(x, s)
)",
                      kDistribute),
            R"(= in x FLOAT[5,2,3]
= in w FLOAT[5,3,4]
= in b FLOAT[3,4]
+ isomer_1 = MatMul(x, w)
+ isomer_3 = MatMul(x, b)
+ y = Add(isomer_1, isomer_3)
= out y
)");
}

// Of operands that are all repeated, one is, so that the result has its shape.
TEST(Export, WhatIsRepeatedIsWhole) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[3,1]
in b FLOAT[4]
in c FLOAT[1]
out y
s = Add(x, b)
y = Mul(s, c)
)",
                      "mul(add(x, y), z) => add(mul(x, z), mul(y, z))"),
            R"(= in x FLOAT[3,1]
= in b FLOAT[4]
= in c FLOAT[1]
+ init isomer_0 INT64[1]
+ init isomer_3 INT64[2]
+ init isomer_5 INT64[2]
+ init isomer_8 INT64[2]
+ init isomer_11 INT64[0]
+ isomer_2 = Reshape(x, isomer_0)
+ isomer_4 = Reshape(isomer_2, isomer_3)
+ isomer_7 = Expand(isomer_4, isomer_5)
+ isomer_10 = Expand(b, isomer_8)
+ isomer_13 = Reshape(c, isomer_11)
+ isomer_15 = Mul(isomer_7, isomer_13)
+ isomer_17 = Mul(isomer_10, isomer_13)
+ y = Add(isomer_15, isomer_17)
= out y
)");
}

// A product has its operands' dimensions, those that are 1 too.
TEST(Export, ARepeatedFactorIsWhole) {
  for (const std::string repeated : {"2", "1"}) {
    const std::string z = absl::StrCat("in z FLOAT[", repeated, ",1,2]\n");
    EXPECT_EQ(
        Rewritten(absl::StrCat("ir 8\nopset 17\nin x FLOAT[1,2]\n", z,
                               "in v FLOAT[2,4]\nout y\n"
                               "s = Add(x, z)\ny = MatMul(s, v)\n"),
                  "matmul(add(x, y), z) => add(matmul(x, z), matmul(y, z))"),
        absl::StrCat("= in x FLOAT[1,2]\n= ", z, R"(= in v FLOAT[2,4]
+ init isomer_0 INT64[3]
+ isomer_2 = Expand(x, isomer_0)
+ isomer_4 = MatMul(z, v)
+ isomer_6 = MatMul(isomer_2, v)
+ y = Add(isomer_4, isomer_6)
= out y
)"));
  }
}

TEST(Export, AnUntouchedConvolutionKeepsItsBias) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[1,2,4,4]
in w FLOAT[3,2,1,1]
in b FLOAT[3]
out y
c = Conv(x, w, b)
y = Relu(c)
)",
                      "relu(x) => max(x, 0)"),
            R"(= in x FLOAT[1,2,4,4]
= in w FLOAT[3,2,1,1]
= in b FLOAT[3]
+ init isomer_0 FLOAT[]
= c = Conv(x, w, b)
+ y = Max(c, isomer_0)
= out y
)");
}

TEST(Export, ABiasIsTakenIntoTheConvolution) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[1,2,4,4]
in w FLOAT[3,2,1,1]
in v FLOAT[3,2,1,1]
in b FLOAT[3]
out y
s = Add(w, v)
y = Conv(x, s, b)
)",
                      "conv2d(x, add(v, w), stride=s, pad=p, dilation=1, "
                      "group=1) => conv2d(x, add(w, v), stride=s, pad=p, "
                      "dilation=1, group=1)"),
            R"(= in x FLOAT[1,2,4,4]
= in w FLOAT[3,2,1,1]
= in v FLOAT[3,2,1,1]
= in b FLOAT[3]
+ isomer_1 = Add(v, w)
+ y = Conv(x, isomer_1, b)
= out y
)");
}

TEST(Export, ASubgraphKeepsTheNamesItCaptures) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[2]
in c BOOL[]
out y
a = Relu(x)
y = If(c) { t = Add(a, a) }
)",
                      "relu(x) => max(x, 0)"),
            R"(= in x FLOAT[2]
= in c BOOL
+ init isomer_0 FLOAT[]
+ a = Max(x, isomer_0)
= y = If(c) captures a
= out y
)");
}

TEST(Export, ANodeThatOnlyHandsItsInputOnIsKept) {
  EXPECT_EQ(Rewritten(R"(
ir 8
opset 17
in x FLOAT[2]
out y
a = Relu(x)
b = Sum(a)
y = Transpose(b)
)",
                      "relu(x) => max(x, 0)"),
            R"(= in x FLOAT[2]
+ init isomer_0 FLOAT[]
+ a = Max(x, isomer_0)
= b = Sum(a)
= y = Transpose(b)
= out y
)");
}

TEST(Export, ABoundDimensionStaysANumberIfNothingElseIsKnown) {
  const absl::string_view model = R"(
ir 8
opset 17
in x FLOAT[N,4]
out y
a = Relu(x)
y = Neg(a)
)";
  const std::string text =
      Rewritten(model, "relu(x) => max(x, 0)", 1, {.dims = {{"N", 3}}});
  // Nobody says how to find out whether what is new depends on it.
  EXPECT_NE(text.find("= in x FLOAT[3,4]"), std::string::npos) << text;
  EXPECT_EQ(Rewritten(model, "relu(x) => max(x, 0)"),
            ": node #0 (Relu): dimension 'N' of 'x' (--dim N=N) is not bound "
            "to a number");
}

TEST(Import, ErrorsNameTheNodeAndTheReason) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"ir 8\nopset 17\nin x FLOAT[2,3]\nout y\ny = MatMul(x, x)\n",
       ": node #0 (MatMul): matmul: inner dimensions differ (3 and 2): "
       "f32[2,3] and f32[2,3]"},
      {"ir 8\nopset 17\nin x FLOAT[2]\nin z FLOAT[3]\nout y\ny = Add(x, z)\n",
       ": node #0 (Add): shapes do not broadcast: [2] and [3]"},
      {"ir 8\nopset 17\nin x FLOAT[2]\nout y\ny = Add(x)\n",
       ": node #0 (Add): "},
  };
  for (const auto& [text, error] : cases) {
    absl::StatusOr<ImportedModel> model = Import(text);
    ASSERT_FALSE(model.ok()) << text;
    EXPECT_EQ(model.status().message().substr(0, error.size()), error)
        << model.status();
  }
}

TEST(Import, WhatIsNotModelledIsOpaqueWithAReason) {
  absl::StatusOr<ImportedModel> model = Import(R"(
ir 8
opset 17
in x FLOAT[2]
out y
a = Whatever(x)
b = Relu(a)
y = Add(b, x)
)");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->groups[0].opaque_reason, "unknown operator");
  EXPECT_EQ(model->groups[1].opaque_reason, "the type of 'a' is not known");
  EXPECT_EQ(model->groups[2].opaque_reason, "the type of 'b' is not known");
}

TEST(Import, ShapesMustFitTheModel) {
  const absl::string_view text =
      "ir 8\nopset 17\nin x FLOAT[N,4]\nout y\ny = Relu(x)\n";
  EXPECT_EQ(Import(text, {.shapes = {{"z", {1}}}}).status().message(),
            "--shape names 'z', which is not an input of the model; it has x");
  EXPECT_EQ(Import(text, {.shapes = {{"x", {1}}}}).status().message(),
            "--shape x: rank 1 given, the model says 2");
  EXPECT_EQ(Import(text, {.shapes = {{"x", {1, 5}}}}).status().message(),
            "--shape x: dimension 1 is 4 in the model, 5 given");
  EXPECT_TRUE(Import(text, {.shapes = {{"x", {7, 4}}}}).ok());
}

}  // namespace
}  // namespace isomer::onnx

// Dimensions that were bound at import: which of them get their names back
// when a model is written that a rule has changed.
#include "onnx/open_dims.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "gtest/gtest.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/model_testing.h"
#include "runtime/equal.h"

namespace isomer::onnx {
namespace {

// The dimensions that stay numbers when `rule` was applied once.
std::vector<std::string> FixedBy(absl::string_view rule, absl::string_view text,
                                 const ImportOptions& options) {
  auto read = ParseModel(SharedBytes::Own(BytesFromText(text)), "");
  EXPECT_TRUE(read.ok()) << read.status();
  auto model =
      ImportModel(std::make_shared<const Model>(*std::move(read)), options);
  EXPECT_TRUE(model.ok()) << model.status();
  auto rules = ir::ReadRuleBody(rule);
  EXPECT_TRUE(rules.ok()) << rules.status();
  const auto matches = ir::FindMatches(model->graph, (*rules)[0]);
  EXPECT_FALSE(matches.empty()) << rule;
  if (matches.empty()) return {"no match"};
  auto graph = ir::Apply(model->graph, (*rules)[0], matches[0]);
  EXPECT_TRUE(graph.ok()) << graph.status();
  auto out = ExportModel(*model, *graph, {.equal = runtime::EqualInDouble});
  EXPECT_TRUE(out.ok()) << out.status();
  for (const ValueEntry& v : out->model.graph.inputs) {
    for (const Dim& d : *v.dims) {
      auto* name = std::get_if<std::string>(&d);
      if (name == nullptr) continue;
      EXPECT_EQ(
          std::count(out->fixed_dims.begin(), out->fixed_dims.end(), *name), 0);
    }
  }
  return out->fixed_dims;
}

TEST(OpenDimsTest, ADimensionIsFixedOnlyIfSomethingNewDependsOnIt) {
  using Names = std::vector<std::string>;
  const absl::string_view model = R"(
ir 8
opset 17
in x FLOAT[N,M,4]
out y
a = Relu(x)
s = Shape(a)
r = Reshape(a, s)
y = Neg(r)
)";
  const ImportOptions sizes{.dims = {{"N", 3}, {"M", 6}}};
  EXPECT_EQ(FixedBy("relu(x) => max(x, 0)", model, sizes), Names());
  // New bounds, but of a dimension that is a number anyway.
  const absl::string_view halves =
      "relu(x) => concat(relu(slice(x, axis=2, from=0, to=1)), "
      "relu(slice(x, axis=2, from=1, to=end)), axis=2)";
  EXPECT_EQ(FixedBy(halves, model, sizes), Names());
  EXPECT_EQ(FixedBy(halves, model, {.shapes = {{"x", {3, 6, 4}}}}), Names());
  // The size is in a shape, in a bound, in a split, in a factor.
  EXPECT_EQ(FixedBy("relu(x) => reshape(reshape(relu(x), shape=[dim(x, 0) "
                    "(dim(x, 1) * 4)]), shape=[dim(x, 0) dim(x, 1) dim(x, 2)])",
                    model, sizes),
            Names({"M", "N"}));
  EXPECT_EQ(FixedBy("relu(x) => slice(concat(x, relu(x), axis=1), axis=1, "
                    "from=dim(x, 1), to=end)",
                    model, sizes),
            Names({"M"}));
  EXPECT_EQ(FixedBy("relu(x) => concat(relu(slice(x, axis=0, from=0, to=1)), "
                    "relu(slice(x, axis=0, from=1, to=end)), axis=0)",
                    model, sizes),
            Names({"N"}));
  EXPECT_EQ(
      FixedBy("relu(x) => mul(div(relu(x), real(dim(x, 1))), real(dim(x, 1)))",
              model, sizes),
      Names());
  EXPECT_EQ(FixedBy("reduce_mean(x, axes=[0 1]) => "
                    "div(reduce_sum(x, axes=[0 1]), real(dim(x, 1) * 2))",
                    R"(
ir 8
opset 17
in x FLOAT[2,M]
out y
y = ReduceMean(x)
)",
                    {.dims = {{"M", 6}}}),
            Names({"M"}));
}

TEST(OpenDimsTest, ADimensionThatCannotBeTriedStaysANumber) {
  EXPECT_EQ(FixedBy("relu(x) => max(x, 0)", R"(
ir 8
opset 17
in x FLOAT[N,4]
out y
a = Relu(x)
y = Whatever(a)
)",
                    {.dims = {{"N", 3}}}),
            std::vector<std::string>({"N"}));
}

}  // namespace
}  // namespace isomer::onnx

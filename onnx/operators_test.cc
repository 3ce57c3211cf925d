// Every operator leaves as ONNX and comes back with the same meaning, at the
// operator sets 11, 13, 17 and 20 where it exists.
#include <cstdio>
#include <map>

#include "graph/evaluate.h"
#include "gtest/gtest.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/writer.h"
#include "ops/example.h"
#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::onnx {
namespace {

// Deterministic values: floats in (0, 1], which every function takes; integers
// 0 or 1, which index everything.
Tensor Values(const TensorType& type, uint64_t& state) {
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 40;
  };
  if (!IsFloat(type.dtype)) {
    std::vector<int64_t> v(NumElements(type));
    for (int64_t& x : v) x = static_cast<int64_t>(next() % 2);
    return FromInts(type, v);
  }
  std::vector<double> v(NumElements(type));
  for (double& x : v) x = static_cast<double>(next() + 1) / (1 << 24);
  return FromDoubles(type, v);
}

absl::StatusOr<ir::Graph> GraphOf(const OpDef& op, const TypedCall& call) {
  ir::Graph g;
  std::vector<Value> inputs;
  for (const TensorType& t : call.inputs) {
    inputs.push_back(g.AddInput(absl::StrCat("x", inputs.size()), t));
  }
  ASSIGN_OR_RETURN(NodeId id, g.AddNode(op, inputs, call.attrs));
  for (int k = 0; k < g.node(id).num_outputs(); ++k) {
    g.AddOutput(absl::StrCat("y", k), {id, k});
  }
  return g;
}

absl::StatusOr<std::vector<Tensor>> RunOn(const ir::Graph& g, uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  for (NodeId id : g.inputs()) {
    inputs[*g.node(id).name] = Values(g.type({id, 0}), seed);
  }
  return ir::Evaluate(g, inputs);
}

// The graph after a trip through a model of that operator set.
absl::StatusOr<ir::Graph> ThereAndBack(const ir::Graph& g, int opset) {
  ASSIGN_OR_RETURN(Model model, ModelFromGraph(g, opset));
  ASSIGN_OR_RETURN(std::string bytes, SerializeModel(model));
  ASSIGN_OR_RETURN(Model again, ParseModel(SharedBytes::Own(bytes), ""));
  ASSIGN_OR_RETURN(
      ImportedModel imported,
      ImportModel(std::make_shared<const Model>(std::move(again))));
  for (const Group& group : imported.groups) {
    if (!group.opaque_reason.empty()) return Invalid(group.opaque_reason);
  }
  return std::move(imported.graph);
}

class OperatorTest : public testing::TestWithParam<std::string> {};

TEST_P(OperatorTest, RoundTripsThroughOnnx) {
  const OpDef& op = *Ops().Find(GetParam());
  if (op.parallel) GTEST_SKIP() << "device axes have no ONNX form";
  int tried = 0, unsupported = 0;
  std::string reason;
  for (const std::string& text : op.cases) {
    absl::StatusOr<TypedCall> call = ParseTypedCall(text);
    ASSERT_TRUE(call.ok()) << call.status();
    absl::StatusOr<ir::Graph> g = GraphOf(op, *call);
    ASSERT_TRUE(g.ok()) << text << ": " << g.status();
    absl::StatusOr<std::vector<Tensor>> want = RunOn(*g, 7);
    ASSERT_TRUE(want.ok()) << text << ": " << want.status();
    for (int opset : {11, 13, 17, 20}) {
      ++tried;
      absl::StatusOr<ir::Graph> back = ThereAndBack(*g, opset);
      if (absl::IsUnimplemented(back.status())) {
        ++unsupported;
        reason = std::string(back.status().message());
        continue;
      }
      ASSERT_TRUE(back.ok())
          << text << " at " << opset << ": " << back.status();
      absl::StatusOr<std::vector<Tensor>> got = RunOn(*back, 7);
      ASSERT_TRUE(got.ok()) << text << " at " << opset << ": " << got.status();
      for (size_t k = 0; k < want->size(); ++k) {
        EXPECT_EQ((*got)[k].type, (*want)[k].type) << text << " at " << opset;
        const std::vector<double> a = ToDoubles((*got)[k]);
        const std::vector<double> b = ToDoubles((*want)[k]);
        const double unit = (*want)[k].type.dtype == DType::kF16    ? 4e-3
                            : (*want)[k].type.dtype == DType::kBF16 ? 3e-2
                                                                    : 1e-5;
        for (size_t i = 0; i < b.size() && i < a.size(); ++i) {
          ASSERT_NEAR(a[i], b[i], unit * (1 + std::abs(b[i])))
              << text << " at " << opset;
        }
      }
    }
  }
  EXPECT_GT(tried, 0) << "the operator has no cases";
  EXPECT_LT(unsupported, tried) << "no opset has it: " << reason;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const OpDef* op : Ops().all()) names.push_back(op->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace isomer::onnx

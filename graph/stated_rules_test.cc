// Every rule that an operator states (its axioms and its expansion) checks and
// holds: on random instances both sides agree in the field, in double and,
// where the operators have one, in exact integers; and matching the source in
// a graph and rewriting it gives the target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/instance.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "graph/text.h"
#include "ops/example.h"
#include "ops/registry.h"

namespace isomer::ir {
namespace {

struct Stated {
  std::string op, text;
};

void PrintTo(const Stated& s, std::ostream* out) { *out << s.text; }

std::vector<Stated> AllStated() {
  std::vector<Stated> out;
  for (const OpDef* op : Ops().all()) {
    if (!op->expansion.empty()) out.push_back({op->name, op->expansion});
    for (const std::string& text : op->axioms) out.push_back({op->name, text});
  }
  return out;
}

// Multiples of 1/4 between -2 and 2; integers for indices; truth values.
std::map<std::string, Tensor> RandomInputs(const Graph& graph,
                                           std::mt19937_64& random,
                                           bool positive, Interp interp) {
  std::map<std::string, Tensor> out;
  for (NodeId id : graph.inputs()) {
    const TensorType& type = graph.type({id, 0});
    const int64_t n = NumElements(type);
    if (!IsFloat(type.dtype)) {
      std::vector<int64_t> values;
      for (int64_t i = 0; i < n; ++i) {
        values.push_back(type.dtype == DType::kBool ? random() % 2 : 0);
      }
      out.emplace(*graph.node(id).name, FromInts(type, values));
      continue;
    }
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) {
      double x = static_cast<double>(1 + random() % 8);
      if (interp != Interp::kInteger) x /= 4;
      values.push_back(!positive && random() % 2 ? -x : x);
    }
    out.emplace(*graph.node(id).name, FromDoubles(type, values, interp));
  }
  return out;
}

// "" if the tensors agree where the first is finite and, as integers, exists;
// else how they differ.
std::string Difference(const Tensor& a, const Tensor& b) {
  if (a.type != b.type) {
    return absl::StrCat(TypeText(a.type), " and ", TypeText(b.type));
  }
  if (std::holds_alternative<std::vector<Int>>(a.data)) {
    for (size_t i = 0; i < a.as<Int>().size(); ++i) {
      if (a.as<Int>()[i].ok() && !(a.as<Int>()[i] == b.as<Int>()[i])) {
        return absl::StrCat(TensorText(a), " and ", TensorText(b));
      }
    }
    return "";
  }
  if (!std::holds_alternative<std::vector<double>>(a.data)) {
    return a.data == b.data
               ? ""
               : absl::StrCat(TensorText(a), " and ", TensorText(b));
  }
  const auto &x = a.as<double>(), &y = b.as<double>();
  double size = 1;
  for (double v : x) {
    if (std::isfinite(v)) size = std::max(size, std::abs(v));
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) && !(std::abs(x[i] - y[i]) <= 1e-9 * size)) {
      return absl::StrCat(TensorText(a), " and ", TensorText(b));
    }
  }
  return "";
}

// Runs both graphs on the same inputs; false if there is no such evaluation.
bool Agree(const Graph& a, const Graph& b, Interp interp, bool positive,
           std::mt19937_64& random) {
  const auto inputs = RandomInputs(a, random, positive, interp);
  EvaluateOptions options;
  options.interp = interp;
  auto x = Evaluate(a, inputs, options), y = Evaluate(b, inputs, options);
  if (absl::IsUnimplemented(x.status()) || absl::IsUnimplemented(y.status())) {
    return false;
  }
  if (!x.ok() || !y.ok()) {
    ADD_FAILURE() << x.status() << "\n" << y.status() << "\n" << PrintGraph(a);
    return true;
  }
  for (size_t i = 0; i < x->size(); ++i) {
    EXPECT_EQ(Difference((*x)[i], (*y)[i]), "")
        << "interpretation " << static_cast<int>(interp) << "\n"
        << PrintGraph(a) << "\n"
        << PrintGraph(b);
  }
  return true;
}

// The graph after matching the rule at the source's outputs; there must be
// such a match.
void ExpectRewrites(const Rule& rule, const RuleInstance& instance) {
  bool found = false;
  for (Match m : FindMatches(instance.source, rule)) {
    for (size_t i = 0; i < m.attrs.size(); ++i) {
      if (!m.attrs[i]) m.attrs[i] = instance.attrs[i];
    }
    auto result = Apply(instance.source, rule, m);
    if (!result.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(result.status()))
          << result.status();
      continue;
    }
    found = found || Equal(*result, instance.target);
  }
  // A rule whose sides build the same graph changes nothing.
  EXPECT_TRUE(found || Equal(instance.source, instance.target))
      << PrintGraph(instance.source) << "\n"
      << PrintGraph(instance.target);
}

// Checks one instance each of a dozen cases of the rule.
void ExpectHolds(const Rule& rule, bool field_blind, uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t cases = rule.cases().size();
  const size_t stride = std::max<size_t>(1, cases / 12);
  int instances = 0, fields = 0;
  for (size_t i = 0; i < cases; i += stride) {
    auto instance =
        MakeInstance(rule, rule.cases()[i], random, {.floats = DType::kF64});
    if (!instance.ok()) continue;
    ++instances;
    for (bool positive : {false, true}) {
      if (!field_blind) {
        fields += Agree(instance->source, instance->target, Interp::kField,
                        positive, random);
      }
      Agree(instance->source, instance->target, Interp::kReal, positive,
            random);
      Agree(instance->source, instance->target, Interp::kInteger, positive,
            random);
    }
    ExpectRewrites(rule, *instance);
  }
  EXPECT_GT(instances, 0);
  EXPECT_TRUE(field_blind || fields > 0);
}

class StatedRulesTest : public testing::TestWithParam<Stated> {};

TEST_P(StatedRulesTest, ChecksAndHolds) {
  SCOPED_TRACE(GetParam().text);
  auto rules = ReadRuleBody(GetParam().text);
  ASSERT_TRUE(rules.ok()) << rules.status();
  // Laws about the order of numbers do not hold in the field, which has none.
  const bool field_blind = GetParam().op == "sign";
  for (const Rule& rule : *rules) ExpectHolds(rule, field_blind, 17);
}

std::string ParamName(const testing::TestParamInfo<Stated>& info) {
  return absl::StrCat(info.param.op, "_", info.index);
}

INSTANTIATE_TEST_SUITE_P(Operators, StatedRulesTest,
                         testing::ValuesIn(AllStated()), ParamName);

// A graph of one call, with inputs x0, x1, ... and outputs y0, y1, ...
absl::StatusOr<Graph> GraphOf(const OpDef& op,
                              const std::vector<TensorType>& inputs,
                              const Attrs& attrs) {
  Graph graph;
  std::vector<Value> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(graph.AddInput(absl::StrCat("x", i), inputs[i]));
  }
  auto id = graph.AddNode(op, operands, attrs);
  if (!id.ok()) return id.status();
  for (int k = 0; k < op.outputs; ++k) {
    graph.AddOutput(absl::StrCat("y", k), {*id, k});
  }
  return graph;
}

// The kernels of composites against their expansions, on the operators' own
// typed calls.
TEST(ExpansionTest, AgreesWithTheKernel) {
  std::mt19937_64 random(5);
  Expansions expansions;
  int compared = 0;
  for (const OpDef* op : Ops().all()) {
    if (op->expansion.empty()) continue;
    for (const std::string& text : op->cases) {
      SCOPED_TRACE(text);
      auto call = ParseTypedCall(text);
      ASSERT_TRUE(call.ok()) << call.status();
      for (TensorType& t : call->inputs) {
        if (IsFloat(t.dtype)) t.dtype = DType::kF64;
      }
      auto open = expansions.Expand(*op, call->inputs, call->attrs);
      ASSERT_TRUE(open.ok()) << open.status();
      auto closed = GraphOf(*op, call->inputs, call->attrs);
      ASSERT_TRUE(closed.ok()) << closed.status();
      EXPECT_TRUE(Agree(*closed, **open, Interp::kReal, true, random));
      ++compared;
    }
  }
  EXPECT_GT(compared, 10);
}

// Operators that are nothing but what is built of others.
TEST(ExpansionTest, ExamplesOfWhatIsBuiltHold) {
  int compared = 0;
  for (const OpDef* op : Ops().all()) {
    if (!op->build) continue;
    for (const std::string& text : op->examples) {
      SCOPED_TRACE(text);
      auto e = ParseExample(text);
      ASSERT_TRUE(e.ok()) << e.status();
      std::vector<TensorType> types;
      std::map<std::string, Tensor> inputs;
      for (const Tensor& t : e->inputs) {
        inputs[absl::StrCat("x", types.size())] = *Reinterpret(t, Interp::kRun);
        types.push_back(t.type);
      }
      auto graph = GraphOf(*op, types, e->attrs);
      ASSERT_TRUE(graph.ok()) << graph.status();
      auto got = Evaluate(*graph, inputs, {});
      ASSERT_TRUE(got.ok()) << got.status();
      for (size_t k = 0; k < got->size(); ++k) {
        ASSERT_EQ((*got)[k].type, e->outputs[k].type);
        const std::vector<double> a = ToDoubles((*got)[k]);
        const std::vector<double> b = ToDoubles(e->outputs[k]);
        for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 4);
}

TEST(ExpansionTest, PrimitivesHaveNone) {
  Expansions expansions;
  auto open =
      expansions.Expand(*Ops().Find("matmul"),
                        {{DType::kF32, {2, 3}}, {DType::kF32, {3, 4}}}, {});
  EXPECT_EQ(open.status().message(), "matmul: has no expansion");
}

}  // namespace
}  // namespace isomer::ir

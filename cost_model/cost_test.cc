// Plans of graphs given as text; plans brought up to date against plans made
// anew; and orderings that any sane cost has.
#include "cost_model/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cost_model/random_graph_testing.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace isomer::cost {
namespace {

CostModel ModelOf(absl::string_view target) {
  auto t = Target::Named(target);
  EXPECT_TRUE(t.ok()) << t.status();
  auto model = CostModel::Create(*t);
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

ir::Graph GraphOf(absl::string_view text) {
  auto g = ir::ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  return *g;
}

// The signatures of the launches, in order.
std::string Launches(absl::string_view text,
                     absl::string_view target = "h200") {
  const ir::Graph g = GraphOf(text);
  std::string out;
  for (const Kernel& k : ModelOf(target).MakePlan(g).Kernels(g)) {
    if (k.launches) absl::StrAppend(&out, k.signature, "\n");
  }
  return out;
}

TEST(PlanTest, EpilogueOfAProduct) {
  EXPECT_EQ(Launches(R"(input "x": f16[4,8]
const w: f16[8,16] = 0.5
const b: f16[16] = 1
input "r": f16[4,16]
v0 = matmul(x, w)
v1 = broadcast(b, shape=[4 16], dims=[1])
v2 = add(v0, v1)
v3 = add(v2, r)
v4 = relu(v3)
output y = v4
)"),
            "matmul relu(add(add(matmul(a,b),c),d)) a:f16[4,8] b:f16[8,16]* "
            "c:f16[4,16] d:f16[4,16]*\n");
}

TEST(PlanTest, OnnxRuntimeFusesNoChains) {
  EXPECT_EQ(Launches(R"(input "x": f32[4,8]
v0 = relu(x)
v1 = sigmoid(v0)
output y = v1
)",
                     "cpu-onnxruntime"),
            "pointwise relu(a) a:f32[4,8]\n"
            "pointwise sigmoid(a) a:f32[4,8]\n");
}

TEST(PlanTest, AnInnerValueIsStoredOnTheWay) {
  // A recurrent cell: c is read by this step and by the next one, which waits
  // for h anyway.
  const std::string text = R"(input "c0": f16[1,64]
input "h0": f16[1,64]
const w: f16[64,64] = 0.5
v0 = matmul(h0, w)
v1 = sigmoid(v0)
c1 = mul(c0, v1)
t1 = tanh(c1)
h1 = mul(t1, v1)
v2 = matmul(h1, w)
v3 = sigmoid(v2)
c2 = mul(c1, v3)
t2 = tanh(c2)
h2 = mul(t2, v3)
output h = h2
)";
  EXPECT_EQ(Launches(text),
            "matmul matmul(a,b) a:f16[1,64] b:f16[64,64]*\n"
            "pointwise x0=sigmoid(a) x1!=mul(x0,b) mul(x0,tanh(x1)) "
            "a:f16[1,64] b:f16[1,64]\n"
            "matmul x0=sigmoid(matmul(a,b)) mul(x0,tanh(mul(x0,c))) "
            "a:f16[1,64] b:f16[64,64]* c:f16[1,64]\n");
}

TEST(PlanTest, AResidualIsNotReadAroundAKernel) {
  // a and b cannot be in one kernel: b waits for the softmax of a.
  EXPECT_EQ(Launches(R"(input "x": f32[64,64]
const w: f32[64,64] = 0.5
a = relu(x)
v0 = matmul(a, w)
b = add(a, v0)
v1 = matmul(b, w)
c = add(b, v1)
output y = c
)"),
            "pointwise relu(a) a:f32[64,64]\n"
            "matmul add(matmul(a,b),a) a:f32[64,64] b:f32[64,64]*\n"
            "matmul add(matmul(a,b),a) a:f32[64,64] b:f32[64,64]*\n");
}

TEST(PlanTest, HeadsAreViewsForAttention) {
  EXPECT_EQ(
      Launches(R"(input "q": f16[1,16,64]
input "k": f16[1,16,64]
const w: f16[64,64] = 0.5
v0 = reshape(q, shape=[1 16 4 16])
v1 = transpose(v0, perm=[0 2 1 3])
v2 = reshape(k, shape=[1 16 4 16])
v3 = transpose(v2, perm=[0 2 1 3])
v4 = attention(v1, v3, v3, scale=0.25)
v5 = transpose(v4, perm=[0 2 1 3])
v6 = reshape(v5, shape=[1 16 64])
v7 = matmul(v6, w)
output y = v7
)"),
      "attention x0=transpose(reshape(b,shape=[1 16 4 16]),perm=[0 2 1 3]) "
      "reshape(transpose(attention(transpose(reshape(a,shape=[1 16 4 16]),"
      "perm=[0 2 1 3]),x0,x0,scale=0.25),perm=[0 2 1 3]),shape=[1 16 64]) "
      "a:f16[1,16,64] b:f16[1,16,64]\n"
      "matmul matmul(a,b) a:f16[1,16,64] b:f16[64,64]*\n");
}

TEST(PlanTest, AProductCannotReadHeadsThatLieApart) {
  // Without attention in front, putting the heads together is a copy.
  EXPECT_EQ(Launches(R"(input "q": f16[1,4,16,16]
const w: f16[64,64] = 0.5
v5 = transpose(q, perm=[0 2 1 3])
v6 = reshape(v5, shape=[1 16 64])
v7 = matmul(v6, w)
output y = v7
)"),
            "copy reshape(transpose(a,perm=[0 2 1 3]),shape=[1 16 64]) "
            "a:f16[1,4,16,16]\n"
            "matmul matmul(a,b) a:f16[1,16,64] b:f16[64,64]*\n");
}

TEST(PlanTest, AConcatIsWrittenInPlace) {
  EXPECT_EQ(Launches(R"(input "x": f16[4,64]
const w: f16[64,64] = 0.5
const u: f16[64,32] = 0.5
v0 = matmul(x, w)
v1 = matmul(x, u)
v2 = concat(v0, v1, axis=1)
output y = v2
)"),
            "matmul matmul(a,b) a:f16[4,64] b:f16[64,64]*\n"
            "matmul matmul(a,b) a:f16[4,64] b:f16[64,32]*\n");
}

TEST(PlanTest, ConstantsAreFolded) {
  const ir::Graph g = GraphOf(R"(input "x": f32[4,8]
const a: f32[8,8] = 0.5
const b: f32[8,8] = 0.25
const s: f32[8] = 2
v0 = matmul(a, b)
v1 = matmul(x, v0)
v2 = broadcast(s, shape=[4 8], dims=[1])
v3 = mul(v1, v2)
output y = v3
)");
  const Plan plan = ModelOf("h200").MakePlan(g);
  EXPECT_EQ(plan.cost().kernels, 1);
  // The product of the weights, and s as it is: not broadcast.
  EXPECT_EQ(plan.cost().weight_bytes, 4 * (64 + 8));
}

TEST(PlanTest, OpaqueNodesAndUnknownTypesHaveKernels) {
  EXPECT_EQ(Launches(R"(input "x": f32[4,8]
v0 = relu(x)
v1, v2 = opaque "com.x:Op" "key" (v0): f32[2], ?
v3 = relu(v1)
output y = v3
)"),
            "pointwise relu(a) a:f32[4,8]\n"
            "other com.x:Op(a) a:f32[4,8]\n"
            "pointwise relu(a) a:f32[2]\n");
}

TEST(PlanTest, EmptyTensorsAndEmptyGraphs) {
  EXPECT_EQ(Launches("input \"x\": f32[2]\noutput y = x\n"), "");
  EXPECT_EQ(Launches(R"(input "x": f32[0,8]
v0 = reshape(x, shape=[8 0])
v1 = relu(v0)
output y = v1
)"),
            "");
}

TEST(PlanTest, TheTableSaysWhereTheTimeGoes) {
  const ir::Graph g = GraphOf(R"(input "x": f32[4,8]
v0 = relu(x)
output y = v0
)");
  EXPECT_EQ(
      PlanTable(ModelOf("h200").MakePlan(g), g),
      "        us  share family     nodes  kernel\n"
      "     1.300 100.0% pointwise      1  pointwise relu(a) a:f32[4,8]\n"
      "     1.300 us in 1 kernels, 0% of it measured; weights 0.000 MB\n");
}

// ---- Memory

TEST(MemoryTest, CountsWhatLivesTogether) {
  const ir::Graph g = GraphOf(R"(input "x": f32[256]
const w: f32[256] = 0.5
v0 = relu(x)
v1 = softmax(v0)
v2 = softmax(v1)
v3 = mul(v2, w)
output y = v3
)");
  const CostModel model = ModelOf("cpu-onnxruntime");
  // The input and two values at any time, and the weight.
  EXPECT_EQ(PeakBytes(model.MakePlan(g), g), 4 * 1024);
}

TEST(MemoryTest, ViewsTakeNone) {
  const ir::Graph g = GraphOf(R"(input "x": f32[256]
v0 = reshape(x, shape=[16 16])
output y = v0
)");
  EXPECT_EQ(PeakBytes(ModelOf("h200").MakePlan(g), g), 1024);
}

// ---- What plans promise

// Every kernel finds what it reads, and outputs are there at the end.
void ExpectRuns(const Plan& plan, const ir::Graph& g) {
  std::set<Value> there;
  for (NodeId id : g.inputs()) there.insert({id, 0});
  auto available = [&](Value v) {
    return there.count(v) > 0 || g.IsConstant(v);
  };
  for (const Kernel& k : plan.Kernels(g)) {
    for (Value v : k.inputs) {
      EXPECT_TRUE(available(v)) << v.node.value << " read by " << k.signature;
    }
    // Within the kernel each node finds its operands, too.
    std::set<Value> inside(k.inputs.begin(), k.inputs.end());
    for (NodeId id : k.nodes) {
      for (Value v : g.node(id).inputs) EXPECT_TRUE(inside.count(v) > 0);
      for (int o = 0; o < g.node(id).num_outputs(); ++o) inside.insert({id, o});
    }
    for (Value v : k.outputs) there.insert(v);
  }
  for (const ir::Output& o : g.outputs()) EXPECT_TRUE(available(o.value));
}

TEST(PlanTest, RandomPlansRun) {
  for (const char* target : {"h200", "cpu-onnxruntime"}) {
    const CostModel model = ModelOf(target);
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const ir::Graph g = RandomGraph(seed, 40);
      ExpectRuns(model.MakePlan(g), g);
      if (testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << " for " << target << "\n"
               << ir::PrintGraph(g);
      }
    }
  }
}

TEST(PlanTest, IsTheSameEveryTime) {
  const CostModel used = ModelOf("h200");
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ir::Graph g = RandomGraph(seed, 40);
    const std::string table = PlanTable(used.MakePlan(g), g);
    EXPECT_EQ(PlanTable(used.MakePlan(g), g), table);
    EXPECT_EQ(PlanTable(ModelOf("h200").MakePlan(g), g), table);
  }
}

// ---- Bringing plans up to date

std::vector<ir::Rule> SomeRules() {
  std::vector<ir::Rule> rules;
  for (const char* text :
       {"add(x, y) => add(y, x)", "add(add(x, y), z) <=> add(x, add(y, z))",
        "mul(add(x, y), z) <=> add(mul(x, z), mul(y, z))",
        "matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)",
        "matmul(x, add(y, z)) <=> add(matmul(x, y), matmul(x, z))",
        "relu(relu(x)) => relu(x)", "add(x, x) <=> mul(x, 2)",
        "transpose(transpose(x, perm=[1 0]), perm=[1 0]) => x",
        "transpose(matmul(x, y), perm=[1 0]) <=> "
        "matmul(transpose(y, perm=[1 0]), transpose(x, perm=[1 0]))",
        "reshape(reshape(x, shape=s), shape=t) => reshape(x, shape=t)",
        "mul(x, x) <=> pow(x, 2)",
        "matmul(x, y), matmul(x, z) => "
        "let m = matmul(x, concat(y, z, axis=-1)) in "
        "slice(m, axis=-1, from=0, to=dim(y, -1)), "
        "slice(m, axis=-1, from=dim(y, -1), to=end)",
        "relu(transpose(x, perm=[1 0])) <=> transpose(relu(x), perm=[1 0])"}) {
    auto both = ir::ReadRuleBody(text);
    EXPECT_TRUE(both.ok()) << text << ": " << both.status();
    for (ir::Rule& r : *both) rules.push_back(std::move(r));
  }
  return rules;
}

std::vector<NodeId> Touched(const ir::Match& m) {
  std::vector<NodeId> touched;
  for (NodeId id : m.nodes) {
    if (id.value >= 0) touched.push_back(id);
  }
  for (Value v : m.tensors) touched.push_back(v.node);
  return touched;
}

TEST(ReplanTest, EqualsANewPlan) {
  const std::vector<ir::Rule> rules = SomeRules();
  std::mt19937_64 random(7);
  for (const char* target : {"h200", "cpu-onnxruntime"}) {
    const CostModel model = ModelOf(target);
    int steps = 0;
    for (uint64_t seed = 0; steps < 500; ++seed) {
      ir::Graph g = RandomGraph(seed, 25);
      Plan plan = model.MakePlan(g);
      for (int i = 0; i < 8; ++i) {
        const ir::Rule& rule = rules[random() % rules.size()];
        const std::vector<ir::Match> matches = ir::FindMatches(g, rule);
        if (matches.empty()) continue;
        const ir::Match& match = matches[random() % matches.size()];
        const auto next = ir::Apply(g, rule, match);
        if (!next.ok()) continue;
        const Plan fresh = model.MakePlan(*next);
        const Plan near = model.Replan(plan, g, *next, Touched(match));
        const Plan compared = model.Replan(plan, g, *next);
        ASSERT_EQ(PlanTable(near, *next), PlanTable(fresh, *next))
            << ir::PrintGraph(g) << "\nthen\n"
            << ir::PrintGraph(*next);
        ASSERT_TRUE(near.cost() == fresh.cost());
        ASSERT_EQ(PlanTable(compared, *next), PlanTable(fresh, *next));
        ASSERT_TRUE(compared.cost() == fresh.cost());
        g = *next;
        plan = near;
        ++steps;
      }
    }
  }
}

// ---- Sane orderings

int64_t Time(absl::string_view text, absl::string_view target = "h200") {
  const ir::Graph g = GraphOf(text);
  return ModelOf(target).MakePlan(g).cost().time_ps;
}

std::string Siblings(int rows, bool merged) {
  const std::string head = absl::StrCat("input \"x\": f16[", rows,
                                        ",512]\nconst w: f16[512,512] = 0.5\n"
                                        "const u: f16[512,512] = 0.25\n");
  if (!merged) {
    return absl::StrCat(head,
                        "v0 = matmul(x, w)\nv1 = matmul(x, u)\n"
                        "v2 = tanh(v0)\nv3 = sigmoid(v1)\nv4 = mul(v2, v3)\n"
                        "output y = v4\n");
  }
  return absl::StrCat(
      head,
      "c = concat(w, u, axis=1)\nm = matmul(x, c)\n"
      "v0 = slice(m, axes=[1], from=[0], to=[512])\n"
      "v1 = slice(m, axes=[1], from=[512], to=[1024])\n"
      "v2 = tanh(v0)\nv3 = sigmoid(v1)\nv4 = mul(v2, v3)\noutput y = v4\n");
}

TEST(OrderTest, MergedSiblingsAreCheaperAtBatchOne) {
  EXPECT_LT(Time(Siblings(1, true)), Time(Siblings(1, false)));
  EXPECT_LT(Time(Siblings(1, true), "a100"), Time(Siblings(1, false), "a100"));
}

TEST(OrderTest, AMergeThatCopiesIsNot) {
  // The operands are no constants, so putting them together is work.
  const std::string head = R"(input "x": f16[2048,64]
input "w": f16[64,4096]
input "u": f16[64,4096]
)";
  EXPECT_GT(Time(head + R"(c = concat(w, u, axis=1)
m = matmul(x, c)
v0 = slice(m, axes=[1], from=[0], to=[4096])
v1 = slice(m, axes=[1], from=[4096], to=[8192])
v2 = reshape(v0, shape=[4096 2048])
v3 = reshape(v1, shape=[4096 2048])
output y = v2
output z = v3
)"),
            Time(head + R"(v0 = matmul(x, w)
v1 = matmul(x, u)
v2 = reshape(v0, shape=[4096 2048])
v3 = reshape(v1, shape=[4096 2048])
output y = v2
output z = v3
)"));
}

TEST(OrderTest, MoreWorkTakesLonger) {
  auto product = [](int m, int k, int n) {
    return Time(absl::StrCat("input \"x\": f16[", m, ",", k, "]\nconst w: f16[",
                             k, ",", n,
                             "] = 0.5\nv = matmul(x, w)\noutput y = v\n"));
  };
  EXPECT_LT(product(1, 512, 512), product(1, 4096, 4096));
  EXPECT_LT(product(128, 1024, 1024), product(4096, 1024, 1024));
  EXPECT_LE(product(1, 512, 512), product(64, 512, 512));
  // Twice the width costs less than twice the time where there is room.
  EXPECT_LT(product(1, 512, 1024), 2 * product(1, 512, 512));
}

// Each step waits for the one before, however little it computes.
TEST(OrderTest, ARecurrentLayerTakesAsLongAsItsSteps) {
  auto layer = [](int steps) {
    return Time(absl::StrCat(
        "input \"x\": f32[", steps,
        ",1,8]\nconst w: f32[1,32,8] = 0.5\nconst b: f32[1,64] = 0\n"
        "const h: f32[1,1,8] = 0\n"
        "y, u, v = lstm(x, w, w, b, h, h)\noutput y = y\n"));
  };
  EXPECT_GT(layer(64), 50 * layer(1));
  EXPECT_LT(layer(64), 65 * layer(1));
}

TEST(OrderTest, FusionNeverCosts) {
  EXPECT_LT(Time("input \"x\": f16[64,64]\na = relu(x)\nb = tanh(a)\n"
                 "output y = b\n"),
            Time("input \"x\": f16[64,64]\na = relu(x)\noutput y = a\n") +
                Time("input \"x\": f16[64,64]\na = tanh(x)\noutput y = a\n"));
}

// ---- Profiles

// The costs of a target of whose kernels relu was measured.
absl::StatusOr<CostModel> WithRelu(int64_t time_ps) {
  auto target = Target::Named("cpu-onnxruntime");
  if (!target.ok()) return target.status();
  Profile profile("cpu-onnxruntime");
  const absl::Status added = profile.Add(
      "pointwise relu(a) a:f32[4,8]", {time_ps, "2026-11-15", "me", "by hand"});
  if (!added.ok()) return added;
  return CostModel::Create(*std::move(target), std::move(profile));
}

// Where kernels of a family take twice as long as estimated, so do those of it
// that were not measured.
TEST(ProfileTest, EstimatesAreFittedToWhatWasMeasured) {
  const ir::Graph known = GraphOf(R"(input "x": f32[4,8]
v0 = relu(x)
output y = v0
)");
  const ir::Graph other = GraphOf(R"(input "x": f32[4,8]
v0 = tanh(x)
v1 = softmax(v0)
output y = v0
output z = v1
)");
  auto target = Target::Named("cpu-onnxruntime");
  ASSERT_TRUE(target.ok());
  auto estimates = CostModel::Create(*target);
  ASSERT_TRUE(estimates.ok());
  const auto model = WithRelu(2 * estimates->MakePlan(known).cost().time_ps);
  ASSERT_TRUE(model.ok()) << model.status();
  const CostModel fitted = model->FittedTo(known);
  EXPECT_EQ(fitted.MakePlan(known).cost(), model->MakePlan(known).cost());
  const std::vector<Kernel> before = model->MakePlan(other).Kernels(other);
  const std::vector<Kernel> after = fitted.MakePlan(other).Kernels(other);
  ASSERT_EQ(after.size(), before.size());
  int scaled = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const bool fits = after[i].family == "pointwise";
    EXPECT_EQ(after[i].time_ps,
              std::llround((fits ? 2 * 1.02 : 1) *
                           static_cast<double>(before[i].time_ps)))
        << after[i].signature;
    scaled += fits;
  }
  EXPECT_EQ(scaled, 1);
  // Fitted once more it is the same: these kernels are estimated right now.
  EXPECT_EQ(fitted.FittedTo(known).MakePlan(other).cost(),
            fitted.MakePlan(other).cost());
}

// A product with something else behind it takes as many times as long as
// estimated as the same product does that was measured, whatever others do.
TEST(ProfileTest, EstimatesAreFittedToTheSameProduct) {
  auto graph = [](const std::string& behind, const std::string& also) {
    return GraphOf(absl::StrCat(R"(input "x": f32[64,64]
input "w": f32[64,64]
input "v": f32[64,512]
v0 = matmul(x, w)
v1 = )",
                                behind, "(v0)\noutput y = v1\n", also));
  };
  const ir::Graph known = graph("relu", "v2 = matmul(x, v)\noutput z = v2\n");
  auto target = Target::Named("h200");
  ASSERT_TRUE(target.ok());
  const auto estimates = CostModel::Create(*target);
  ASSERT_TRUE(estimates.ok());
  Profile profile("h200");
  const auto kernels = estimates->MakePlan(known).Kernels(known);
  ASSERT_EQ(kernels.size(), 2u);
  for (const Kernel& k : kernels) {
    const int64_t factor = absl::StrContains(k.signature, "relu") ? 2 : 5;
    ASSERT_TRUE(
        profile.Add(k.signature, {factor * k.time_ps, "2026-11-15", "me", "-"})
            .ok());
  }
  const auto model = CostModel::Create(*target, std::move(profile));
  ASSERT_TRUE(model.ok()) << model.status();
  const ir::Graph other = graph("tanh", "");
  const auto before = estimates->MakePlan(other).Kernels(other);
  const auto after = model->FittedTo(known).MakePlan(other).Kernels(other);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_FALSE(after[0].measured);
  EXPECT_EQ(after[0].time_ps,
            std::llround(2 * 1.02 * static_cast<double>(before[0].time_ps)));
}

TEST(ProfileTest, ShareAndMissingSignatures) {
  const ir::Graph g = GraphOf(R"(input "x": f32[4,8]
v0 = relu(x)
v1 = softmax(v0)
output y = v0
output z = v1
)");
  const auto model = WithRelu(5'000'000);
  ASSERT_TRUE(model.ok()) << model.status();
  const Plan plan = model->MakePlan(g);
  EXPECT_EQ(plan.cost().measured_ps, 5'000'000);
  EXPECT_GT(plan.cost().measured_share(), 0.1);
  EXPECT_LT(plan.cost().measured_share(), 0.9);
  const std::map<std::string, int64_t> missing = model->Unmeasured();
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing.begin()->first, "softmax softmax(a,axis=1) a:f32[4,8]");
  EXPECT_EQ(missing.begin()->second,
            plan.cost().time_ps - plan.cost().measured_ps);
}

TEST(ProfileTest, OfAnotherTargetIsAnError) {
  EXPECT_EQ(CostModel::Create(*Target::Named("h200"), Profile("a100"))
                .status()
                .message(),
            "a profile of a100 says nothing about h200");
}

}  // namespace
}  // namespace isomer::cost

// The cover of a region against all others, on the regions of random graphs.
#include "cost_model/cover.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "cost_model/random_graph_testing.h"
#include "cost_model/regions.h"
#include "cost_model/roofline.h"
#include "graph/text.h"
#include "gtest/gtest.h"

namespace isomer::cost {
namespace {

Target TargetNamed(absl::string_view name) {
  auto target = Target::Named(name);
  EXPECT_TRUE(target.ok()) << target.status();
  return *target;
}

// The time of the cheapest cover, by trying everything.
int64_t BestOfAll(const Target& target, const RegionProblem& region) {
  const size_t n = region.nodes.size();
  std::optional<int64_t> best;
  for (uint32_t bits = 0; bits < (1u << n); ++bits) {
    std::vector<char> results(n);
    for (size_t i = 0; i < n; ++i) results[i] = bits >> i & 1;
    const auto kernels = KernelsOf(region, results);
    if (!kernels) continue;
    int64_t total = 0;
    bool legal = true;
    for (const Fused& f : *kernels) {
      const std::optional<KernelShape> shape = ShapeOf(target, region, f);
      legal &= shape.has_value();
      if (!legal) break;
      total += RooflinePs(target, *shape);
    }
    if (legal && (!best || total < *best)) best = total;
  }
  return *best;
}

// All regions of a graph.
std::vector<RegionProblem> RegionsIn(const Target& target,
                                     const ir::Graph& graph) {
  Regions regions(target, graph, [&](NodeId id) {
    return graph.IsConstant({id, 0});
  });
  std::vector<RegionProblem> all;
  std::set<NodeId> seen;
  for (NodeId id : graph.Order()) {
    if (!regions.IsOwned(id) || seen.count(id) > 0) continue;
    all.push_back(regions.At(id));
    for (const RegionNode& n : all.back().nodes) {
      if (!n.recomputed) {
        EXPECT_TRUE(seen.insert(n.id).second) << "a node in two regions";
      }
    }
  }
  return all;
}

class CoverTest : public testing::TestWithParam<const char*> {};

TEST_P(CoverTest, IsTheBestOfAllOnSmallRegions) {
  const Target target = TargetNamed(GetParam());
  int checked = 0, largest = 0;
  for (uint64_t seed = 0; seed < 900; ++seed) {
    const ir::Graph g = RandomGraph(seed, 6 + static_cast<int>(seed % 40));
    for (const RegionProblem& region : RegionsIn(target, g)) {
      if (region.nodes.size() > 12) continue;
      const Cover cover = FindCover(target, {}, region);
      EXPECT_EQ(cover.time_ps, BestOfAll(target, region)) << ir::PrintGraph(g);
      checked += region.nodes.size() > 1;
      largest = std::max(largest, static_cast<int>(region.nodes.size()));
    }
  }
  EXPECT_GT(checked, 200);
  EXPECT_GE(largest, GetParam() == std::string("h200") ? 12 : 4);
}

INSTANTIATE_TEST_SUITE_P(Targets, CoverTest,
                         testing::Values("h200", "cpu-onnxruntime"));

// Nodes are in as many kernels as they may be, and what is read is stored.
TEST(CoverTest, CoversEveryNodeOnce) {
  const Target target = TargetNamed("h200");
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    const ir::Graph g = RandomGraph(seed, 30);
    for (const RegionProblem& region : RegionsIn(target, g)) {
      const Cover cover = FindCover(target, {}, region);
      std::vector<int> computed(region.nodes.size()),
          stored(region.nodes.size());
      for (const CoverKernel& k : cover.kernels) {
        for (int m : k.fused.members) ++computed[m];
        for (int s : k.fused.stored) ++stored[s];
      }
      for (size_t i = 0; i < region.nodes.size(); ++i) {
        const RegionNode& n = region.nodes[i];
        EXPECT_GE(computed[i], 1);
        if (!n.recomputed) {
          EXPECT_EQ(computed[i], 1);
        }
        if (n.outside) {
          EXPECT_EQ(stored[i], 1);
        }
      }
      for (const CoverKernel& k : cover.kernels) {
        for (const RegionInput& in : k.reads) {
          if (!in.leaf) {
            EXPECT_EQ(stored[in.index], 1);
          }
        }
      }
    }
  }
}

// The signatures of a graph's kernels.
std::vector<std::string> SignaturesOf(absl::string_view text) {
  const Target target = TargetNamed("h200");
  auto g = ir::ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  std::vector<std::string> out;
  if (!g.ok()) return out;
  for (const RegionProblem& r : RegionsIn(target, *g)) {
    for (const auto& k : FindCover(target, {}, r).kernels) {
      out.push_back(k.signature);
    }
  }
  return out;
}

// Sums are called the same in whatever order they are computed, with what is
// computed before what is read; other operators are not, and neither are sums
// of which a part is used twice.
TEST(CoverTest, TheOrderOfASumDoesNotMatter) {
  const std::string inputs =
      "input x: f16[8,16]\ninput w: f16[16,8]\ninput r: f16[8,8]\n"
      "const b: f16[8,8] = 0.5\nm = matmul(x, w)\n";
  const std::vector<std::string> want = {
      "matmul relu(add(add(matmul(a,b),c),d)) a:f16[8,16] b:f16[16,8] "
      "c:f16[8,8] d:f16[8,8]*"};
  for (const char* sum :
       {"s = add(m, r)\nt = add(s, b)\n", "s = add(b, m)\nt = add(r, s)\n",
        "s = add(m, b)\nt = add(s, r)\n"}) {
    EXPECT_EQ(
        SignaturesOf(absl::StrCat(inputs, sum, "y = relu(t)\noutput y = y\n")),
        want)
        << sum;
  }
  auto pointwise = [](absl::string_view text) {
    return SignaturesOf(
        absl::StrCat("input a: f32[8]\ninput b: i64[8]\ninput c: f32[8]\n"
                     "d = cast(b, to=f32)\n",
                     text, "output y = y\n"));
  };
  EXPECT_EQ(pointwise("s = mul(a, d)\ny = sub(s, c)\n"),
            pointwise("s = mul(d, a)\ny = sub(s, c)\n"));
  EXPECT_NE(pointwise("s = mul(a, d)\ny = sub(s, c)\n"),
            pointwise("s = mul(a, d)\ny = sub(c, s)\n"));
  EXPECT_NE(pointwise("s = mul(a, c)\ny = add(s, d)\n"),
            pointwise("s = add(a, c)\ny = mul(s, d)\n"));
  EXPECT_EQ(pointwise("s = add(a, c)\nt = mul(s, s)\ny = add(t, d)\n"),
            pointwise("s = add(c, a)\nt = mul(s, s)\ny = add(d, t)\n"));
  EXPECT_EQ(pointwise("s = add(a, c)\nt = add(s, d)\ny = add(s, t)\n"),
            (std::vector<std::string>{
                "pointwise x0=add(a,b) add(add(x0,x0),cast(c,to=f32)) "
                "a:f32[8] b:f32[8] c:i64[8]"}));
}

// Which kernels there are depends on estimates alone; what was measured of them
// is what they take.
TEST(CoverTest, AMeasuredTimeCounts) {
  const Target target = TargetNamed("h200");
  auto g = ir::ParseGraph(R"(input "x": f32[8,8]
a = relu(x)
b = sigmoid(a)
output y = b
)");
  ASSERT_TRUE(g.ok()) << g.status();
  const std::vector<RegionProblem> regions = RegionsIn(target, *g);
  ASSERT_EQ(regions.size(), 1u);
  const Cover estimated = FindCover(target, {}, regions[0]);
  ASSERT_EQ(estimated.kernels.size(), 1u);
  EXPECT_EQ(estimated.measured_ps, 0);
  const std::string fused = "pointwise sigmoid(relu(a)) a:f32[8,8]";
  for (const int64_t time_ps : {1000, 9'000'000}) {
    Profile profile("h200");
    ASSERT_TRUE(
        profile.Add(fused, {time_ps, "2026-11-15", "me", "by hand"}).ok());
    const Cover measured = FindCover(target, profile, regions[0]);
    ASSERT_EQ(measured.kernels.size(), 1u);
    EXPECT_EQ(measured.kernels[0].signature, fused);
    EXPECT_EQ(measured.kernels[0].estimate_ps, estimated.time_ps);
    EXPECT_EQ(measured.time_ps, time_ps);
    EXPECT_EQ(measured.measured_ps, time_ps);
  }
}

}  // namespace
}  // namespace isomer::cost

// Searches on many graphs: random ones, whose results must be equal to them,
// and all small ones, whose results must be the best that the rules reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "search/moves.h"
#include "search/optimize.h"
#include "search/search_testing.h"
#include "search/topology.h"

namespace isomer::search {
namespace {

SearchResult Find(const ir::Graph& g, const RuleBook& book,
                  const cost::CostModel& cost, const SearchOptions& options) {
  auto r = Optimize(g, book, cost, options);
  EXPECT_TRUE(r.ok()) << r.status();
  return *std::move(r);
}

// ---- At random

void TryRandomGraphs(uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const RuleBook& book = AllRules();
  const cost::CostModel cost = MakeCost();
  int improved = 0;
  for (int round = 0; round < count; ++round) {
    const ir::Graph g =
        RandomGraph(random, 4 + static_cast<int>(random() % 40));
    SearchOptions options;
    options.limits.expansions = 25;
    options.part_nodes = 12;
    const SearchResult r = Find(g, book, cost, options);
    improved += r.improved;
    ASSERT_EQ(Difference(g, r.graph), "") << ir::PrintGraph(g);
    ASSERT_LE(r.after.cost().time_ps, r.before.cost().time_ps);
    ASSERT_EQ(r.after.cost().time_ps, cost.MakePlan(r.graph).cost().time_ps);
  }
  EXPECT_GT(improved, count / 5);
}

TEST(RandomGraphsTest, ComeOutEqual) { TryRandomGraphs(11, 100); }

TEST(ManyRandomGraphsTest, ComeOutEqual) { TryRandomGraphs(12, 500); }

// ---- Optimality

int Running(const ir::Graph& g) {
  const Topology t(g);
  int n = 0;
  for (NodeId id : t.order) {
    n += g.node(id).op != nullptr && !t.constant[id.value];
  }
  return n;
}

// The lowest cost among all graphs that rules reach through graphs of at most
// `nodes` operators.
int64_t BruteForce(const ir::Graph& start, const RuleBook& book,
                   const cost::CostModel& cost, int nodes) {
  std::vector<ir::Graph> seen = {start};
  std::unordered_map<uint64_t, std::vector<size_t>> by_hash;
  by_hash[start.hash()].push_back(0);
  ir::ConstantFacts facts;
  int64_t best = cost.MakePlan(start).cost().time_ps;
  const MoveOptions all{.choices = 100, .together = false, .n_ary = false};
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const Step& step : FindSteps(seen[i], book, all, facts)) {
      auto taken = Take(seen[i], book, step, facts);
      if (!taken.ok() || Running(taken->graph) > nodes) continue;
      std::vector<size_t>& same = by_hash[taken->graph.hash()];
      if (std::any_of(same.begin(), same.end(), [&](size_t k) {
            return ir::Equal(seen[k], taken->graph);
          })) {
        continue;
      }
      same.push_back(seen.size());
      best = std::min(best, cost.MakePlan(taken->graph).cost().time_ps);
      seen.push_back(std::move(taken->graph));
    }
  }
  return best;
}

// Makes every graph of up to `nodes` operators over one input and two weights
// that has one output and no unused node, each once: of two neighbours that do
// not depend on each other the lesser one comes first.
class AllGraphs {
 public:
  explicit AllGraphs(int nodes) : nodes_(nodes) { Grow({}); }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  // An operator and its operands: -1 is x, others are nodes or weights.
  struct Made {
    int op = 0, a = -1, b = -1;
    friend auto operator<=>(const Made&, const Made&) = default;
  };
  static constexpr int kRelu = 0, kAdd = 1, kMatmul = 2;

  void Grow(const std::vector<Made>& so_far) {
    const int n = static_cast<int>(so_far.size());
    if (n > 0) Keep(so_far);
    if (n == nodes_) return;
    std::vector<Made> choices;
    for (int a = -1; a < n; ++a) {
      choices.push_back({kRelu, a, -1});
      for (int b = a; b < n; ++b) choices.push_back({kAdd, a, b});
      for (int w = 0; w < 2; ++w) choices.push_back({kMatmul, a, w});
    }
    for (const Made& m : choices) {
      if (n > 0) {
        const bool uses = m.a == n - 1 || (m.op == kAdd && m.b == n - 1);
        if (!uses && !(so_far.back() < m)) continue;
      }
      std::vector<Made> next = so_far;
      next.push_back(m);
      Grow(next);
    }
  }

  void Keep(const std::vector<Made>& all) {
    std::vector<bool> used(all.size(), false);
    used.back() = true;
    for (const Made& m : all) {
      if (m.a >= 0) used[m.a] = true;
      if (m.op == kAdd && m.b >= 0) used[m.b] = true;
    }
    if (std::find(used.begin(), used.end(), false) != used.end()) return;
    std::string text =
        "input x: f32[64,64]\nconst w0: f32[64,64] = 1\n"
        "const w1: f32[64,64] = 2\n";
    auto name = [](int v) { return v < 0 ? "x" : absl::StrCat("v", v); };
    for (size_t i = 0; i < all.size(); ++i) {
      const Made& m = all[i];
      absl::StrAppend(&text, "v", i, " = ");
      if (m.op == kRelu) absl::StrAppend(&text, "relu(", name(m.a), ")\n");
      if (m.op == kAdd) {
        absl::StrAppend(&text, "add(", name(m.a), ", ", name(m.b), ")\n");
      }
      if (m.op == kMatmul) {
        absl::StrAppend(&text, "matmul(", name(m.a), ", w", m.b, ")\n");
      }
    }
    texts_.push_back(absl::StrCat(text, "output y = v", all.size() - 1, "\n"));
  }

  const int nodes_;
  std::vector<std::string> texts_;
};

// Searches all graphs of so many nodes and compares with brute force.
void TryAllGraphs(int nodes) {
  const RuleBook book = MakeBook(R"(
rule assoc: matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)
rule distribute: matmul(x, add(y, z)) <=> add(matmul(x, y), matmul(x, z))
rule distribute_left: matmul(add(x, y), z) <=> add(matmul(x, z), matmul(y, z))
rule merge:
  matmul(x, y), matmul(x, z)
  => let m = matmul(x, concat(y, z, axis=-1)) in
     slice(m, axis=-1, from=0, to=dim(y, -1)),
     slice(m, axis=-1, from=dim(y, -1), to=end)
rule add_assoc: add(add(x, y), z) <=> add(x, add(y, z))
rule relu_twice: relu(relu(x)) => relu(x)
)");
  const cost::CostModel cost = MakeCost();
  const AllGraphs all(nodes);
  for (const std::string& text : all.texts()) {
    const ir::Graph g = MakeGraph(text);
    const SearchResult r = Find(g, book, cost, {});
    ASSERT_LE(r.after.cost().time_ps, BruteForce(g, book, cost, 8)) << text;
  }
}

TEST(SmallGraphsTest, AreOptimal) { TryAllGraphs(3); }

TEST(AllSmallGraphsTest, AreOptimal) { TryAllGraphs(4); }

}  // namespace
}  // namespace isomer::search

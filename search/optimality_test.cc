// On every small graph a search finds the cheapest graph that the rules reach.
//
// What rules reach from all of them through graphs of at most eight operators
// is one graph of graphs, in which each stands once. The cheapest that each
// reaches is found by going backwards from the cheap ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "graph/text.h"
#include "search/moves.h"
#include "search/optimize.h"
#include "search/search_testing.h"
#include "search/topology.h"

namespace isomer::search {
namespace {

// ---- All small graphs

constexpr char kLeaves[] =
    "input x: f32[64,64]\n"
    "const w0: f32[64,64] = 1\nconst w1: f32[64,64] = 2\n";

// Makes every graph of up to `nodes` operators over one input that has one
// output and no unused node, each once. Operators are given as text, with $0
// and, where there are two operands, $1; those of sums and products of elements
// may change places.
class AllGraphs {
 public:
  AllGraphs(int nodes, std::vector<std::string> operators)
      : nodes_(nodes), operators_(std::move(operators)) {
    std::vector<Made> none;
    Grow(none);
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  static constexpr int kInput = -1, kNone = -2;
  struct Made {
    int op, a, b;
    bool Uses(int v) const { return a == v || b == v; }
    friend auto operator<=>(const Made&, const Made&) = default;
  };

  void Grow(std::vector<Made>& made) {
    const int n = static_cast<int>(made.size());
    if (n > 0) Keep(made);
    if (n == nodes_) return;
    for (int op = 0; op < static_cast<int>(operators_.size()); ++op) {
      const bool two = absl::StrContains(operators_[op], "$1");
      const bool ordered = absl::StartsWith(operators_[op], "concat");
      for (int a = kInput; a < n; ++a) {
        for (int b = !two      ? kNone
                     : ordered ? kInput
                               : a;
             b < (two ? n : kInput); ++b) {
          // Of two neighbours that do not depend on each other the lesser one
          // comes first.
          const Made m{op, a, b};
          if (n > 0 && !m.Uses(n - 1) && !(made.back() < m)) continue;
          made.push_back(m);
          Grow(made);
          made.pop_back();
        }
      }
    }
  }

  void Keep(const std::vector<Made>& made) {
    const int last = static_cast<int>(made.size()) - 1;
    for (int i = 0; i < last; ++i) {
      if (std::none_of(made.begin(), made.end(),
                       [i](const Made& m) { return m.Uses(i); })) {
        return;
      }
    }
    std::vector<std::string> names(made.size());
    std::string text = kLeaves;
    const std::string y = Write(made, last, names, text);
    absl::StrAppend(&text, "output y = ", y, "\n");
    if (seen_.insert(text).second) texts_.push_back(std::move(text));
  }

  // Writes a node after what it needs, so that a graph has one text. Returns
  // its name.
  std::string Write(const std::vector<Made>& made, int v,
                    std::vector<std::string>& names, std::string& text) const {
    if (v == kInput) return "x";
    if (v == kNone || !names[v].empty()) return v == kNone ? "" : names[v];
    const std::string a = Write(made, made[v].a, names, text);
    const std::string b = Write(made, made[v].b, names, text);
    const auto written = std::count_if(
        names.begin(), names.end(), [](const auto& s) { return !s.empty(); });
    names[v] = absl::StrCat("v", written);
    absl::StrAppend(&text, names[v], " = ",
                    absl::Substitute(operators_[made[v].op], a, b), "\n");
    return names[v];
  }

  const int nodes_;
  const std::vector<std::string> operators_;
  absl::flat_hash_set<std::string> seen_;
  std::vector<std::string> texts_;
};

// ---- What rules reach

int Running(const ir::Graph& g) {
  const Topology t(g);
  return static_cast<int>(
      std::count_if(t.order.begin(), t.order.end(), [&](NodeId id) {
        return g.node(id).op != nullptr && !t.constant[id.value];
      }));
}

// The same graph with ids from 0 on: those of a graph that came by many
// rewrites are large, and much work is proportional to them.
ir::Graph Renumbered(const ir::Graph& graph) {
  ir::Graph out;
  std::vector<NodeId> now(graph.id_bound());
  for (NodeId id : graph.Order()) {
    const ir::Node& n = graph.node(id);
    if (n.kind == ir::Node::Kind::kInput) {
      now[id.value] = out.AddInput(*n.name, n.types->front()).node;
    } else if (n.kind == ir::Node::Kind::kConstant) {
      now[id.value] = out.AddConstant(n.constant).node;
    } else {
      std::vector<Value> inputs;
      for (Value v : n.inputs) inputs.push_back({now[v.node.value], v.output});
      now[id.value] = *out.AddNode(*n.op, inputs, *n.attrs);
    }
  }
  for (const ir::Output& o : graph.outputs()) {
    out.AddOutput(o.name, {now[o.value.node.value], o.value.output});
  }
  return out;
}

// All graphs that rules reach through graphs of at most so many operators.
class Closure {
 public:
  Closure(const RuleBook& book, const cost::CostModel& cost, int operators)
      : book_(book), cost_(cost), operators_(operators) {}

  // Adds a graph and what rules reach from it; returns its number.
  int Add(const ir::Graph& start) {
    const MoveOptions every{
        .choices = 100, .together = false, .n_ary = false, .both_orders = true};
    ir::ConstantFacts facts;
    std::vector<std::pair<int, ir::Graph>> todo;
    const int first = Enter(start, todo);
    while (!todo.empty()) {
      const auto [from, graph] = std::move(todo.back());
      todo.pop_back();
      for (const Step& step : FindSteps(graph, book_, every, facts)) {
        auto taken = Take(graph, book_, step, facts);
        if (!taken.ok() || Running(taken->graph) > operators_) continue;
        steps_.push_back({Enter(taken->graph, todo), from});
      }
    }
    return first;
  }

  // By number: the lowest cost of all graphs that a graph reaches.
  std::vector<int64_t> Lowest() {
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    std::vector<int> order(costs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return costs_[a] < costs_[b]; });
    std::vector<int64_t> lowest(costs_.size(), -1);
    for (int cheap : order) {
      std::vector<int> todo = {cheap};
      while (!todo.empty()) {
        const int at = todo.back();
        todo.pop_back();
        if (lowest[at] >= 0) continue;
        lowest[at] = costs_[cheap];
        for (auto s = std::lower_bound(steps_.begin(), steps_.end(),
                                       std::make_pair(at, 0));
             s != steps_.end() && s->first == at; ++s) {
          todo.push_back(s->second);
        }
      }
    }
    return lowest;
  }

  size_t size() const { return costs_.size(); }

 private:
  int Enter(const ir::Graph& graph,
            std::vector<std::pair<int, ir::Graph>>& todo) {
    const auto [it, is_new] =
        numbers_.emplace(KeyOf(graph), static_cast<int>(costs_.size()));
    if (is_new) {
      todo.push_back({it->second, Renumbered(graph)});
      costs_.push_back(cost_.MakePlan(todo.back().second).cost().time_ps);
    }
    return it->second;
  }

  // Nodes as the output asks for them, each with its operands: two graphs with
  // one output are equal if their keys are.
  std::string KeyOf(const ir::Graph& graph) {
    std::string key;
    std::vector<int> place(graph.id_bound());
    const std::vector<NodeId> order = graph.Order();
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i].value] = static_cast<int>(i);
      const ir::Node& n = graph.node(order[i]);
      const int label =
          labels_.emplace(n.label, static_cast<int>(labels_.size()))
              .first->second;
      key.push_back(static_cast<char>(label));
      key.push_back(static_cast<char>(label >> 8));
      for (Value v : n.inputs) {
        key.push_back(static_cast<char>(place[v.node.value]));
      }
    }
    return key;
  }

  const RuleBook& book_;
  const cost::CostModel& cost_;
  const int operators_;
  absl::flat_hash_map<uint64_t, int> labels_;
  absl::flat_hash_map<std::string, int> numbers_;  // of graphs, by key
  std::vector<int64_t> costs_;                     // by number
  std::vector<std::pair<int, int>> steps_;         // to, from
};

// ---- The comparison

struct Compared {
  int reached = 0;   // by rules, from all of the graphs
  int improved = 0;  // became cheaper
  int worse = 0;     // might have become cheaper still
};

// Searches the graphs, with the rules that come with Isomer, and compares with
// brute force.
Compared CompareAll(const std::vector<std::string>& texts, int operators) {
  const cost::CostModel cost = MakeCost();
  Closure closure(AllRules(), cost, operators);
  std::vector<int> starts;
  for (const std::string& text : texts) {
    starts.push_back(closure.Add(MakeGraph(text)));
  }
  const std::vector<int64_t> lowest = closure.Lowest();
  Compared out{.reached = static_cast<int>(closure.size())};
  for (size_t i = 0; i < starts.size(); ++i) {
    auto r = Optimize(MakeGraph(texts[i]), AllRules(), cost);
    EXPECT_TRUE(r.ok()) << r.status();
    // Of several concats a value is written into the first, by their ids.
    const cost::Plan plan = cost.MakePlan(Renumbered(r->graph));
    const bool worse = std::min(plan.cost().time_ps, r->after.cost().time_ps) >
                       lowest[starts[i]];
    // Of all that are worse, one is shown.
    if (worse && out.worse == 0) ADD_FAILURE() << texts[i];
    out.worse += worse;
    out.improved += r->improved;
  }
  return out;
}

// All graphs of up to so many nodes, through graphs of up to eight. Prints a
// row of a table.
void TryAllGraphs(int nodes, const std::vector<std::string>& operators) {
  const AllGraphs all(nodes, operators);
  const Compared found = CompareAll(all.texts(), 8);
  const int graphs = static_cast<int>(all.texts().size());
  EXPECT_GT(found.improved, graphs / 10);
  std::printf("| %s | %d | %d | %d | %d |\n",
              absl::StrJoin(operators, "; ").c_str(), nodes, graphs,
              found.reached, found.worse);
}

constexpr char kProduct[] = "matmul($0, w0)";
constexpr char kOther[] = "matmul($0, w1)";

TEST(SmallGraphsTest, OfProductsAreOptimal) {
  TryAllGraphs(4, {"relu($0)", "mul($0, $1)", kProduct, kOther});
}

TEST(SmallGraphsTest, OfTransposesAreOptimal) {
  TryAllGraphs(4, {"transpose($0, perm=[1 0])", "mul($0, $1)", kProduct});
}

TEST(SmallGraphsTest, OfConcatsAreOptimal) {
  TryAllGraphs(4, {"relu($0)", "concat($0, $1, axis=0)", kProduct});
}

TEST(SmallGraphsTest, OfSumsAreOptimal) {
  TryAllGraphs(3, {"relu($0)", "add($0, $1)", kProduct, kOther});
}

// Layers of attention without a softmax, as TASO's example has them.
std::string LinearAttention(int layers) {
  std::string text = "input in: f32[64,1024]\nx0 = relu(in)\n";
  for (int i = 0; i < layers; ++i) {
    int number = 4 * i;
    for (const char* w : {"q", "k", "v", "o"}) {
      absl::StrAppend(&text, "const w", w, i, ": f32[1024,1024] = ", ++number,
                      "\n");
    }
    for (const auto& [to, perm] :
         {std::pair("q", "1 0 2"), {"k", "1 2 0"}, {"v", "1 0 2"}}) {
      absl::StrAppend(&text, absl::Substitute(R"($0p$1 = matmul(x$1, w$0$1)
$0r$1 = reshape($0p$1, shape=[64 16 64])
$0$1 = transpose($0r$1, perm=[$2])
)",
                                              to, i, perm));
    }
    absl::StrAppend(&text, absl::Substitute(R"(s$0 = matmul(q$0, k$0)
m$0 = matmul(s$0, v$0)
t$0 = transpose(m$0, perm=[1 0 2])
j$0 = reshape(t$0, shape=[64 1024])
x$1 = matmul(j$0, wo$0)
)",
                                            i, i + 1));
  }
  return absl::StrCat(text, "output y = x", layers, "\n");
}

// No bound: what the rules reach from so many layers is all there is.
void TryAttention(int layers) {
  const Compared found = CompareAll({LinearAttention(layers)}, INT_MAX);
  EXPECT_EQ(found.improved, 1);
  std::printf("%d layers of attention reach %d graphs\n", layers,
              found.reached);
}

TEST(SmallGraphsTest, OfAttentionAreOptimal) { TryAttention(1); }

TEST(AllSmallGraphsTest, OfTwoLayersOfAttentionAreOptimal) { TryAttention(2); }

TEST(AllSmallGraphsTest, OfFiveAreOptimal) {
  TryAllGraphs(5, {"relu($0)", "mul($0, $1)", kProduct, kOther});
}

TEST(AllSmallGraphsTest, OfFiveWithTransposesAreOptimal) {
  TryAllGraphs(5, {"transpose($0, perm=[1 0])", "mul($0, $1)", kProduct});
}

TEST(AllSmallGraphsTest, OfFiveWithConcatsAreOptimal) {
  TryAllGraphs(5, {"relu($0)", "concat($0, $1, axis=0)", kProduct});
}

TEST(AllSmallGraphsTest, OfSixAreOptimal) {
  TryAllGraphs(6, {"relu($0)", "mul($0, $1)", kProduct});
}

}  // namespace
}  // namespace isomer::search

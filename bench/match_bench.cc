// All matches of 100 rules on a graph of 2,000 nodes, index included; and what
// it takes to read and check a rule.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/bench_graph_testing.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "graph/rule.h"

namespace isomer::ir {
namespace {

void BM_AllMatches(benchmark::State& state) {
  const Graph graph = TransformerGraph(2000);
  const std::vector<Rule> rules = HundredRules();
  ConstantFacts facts;
  size_t matches = 0;
  for (auto _ : state) {
    const OpIndex index(graph);
    matches = 0;
    for (const Rule& rule : rules) {
      matches += FindMatches(graph, index, rule, facts).size();
    }
    benchmark::DoNotOptimize(matches);
  }
  state.counters["nodes"] = graph.size();
  state.counters["rules"] = static_cast<double>(rules.size());
  state.counters["matches"] = static_cast<double>(matches);
}
BENCHMARK(BM_AllMatches)->Unit(benchmark::kMillisecond);

void BM_Index(benchmark::State& state) {
  const Graph graph = TransformerGraph(2000);
  for (auto _ : state) {
    OpIndex index(graph);
    benchmark::DoNotOptimize(index);
  }
}
BENCHMARK(BM_Index)->Unit(benchmark::kMicrosecond);

void BM_CheckRule(benchmark::State& state) {
  for (auto _ : state) {
    auto rule = ReadRuleBody(
        "matmul(x, y), matmul(x, z) => let m = matmul(x, concat(y, z, "
        "axis=-1)) in slice(m, axis=-1, from=0, to=dim(y, -1)), slice(m, "
        "axis=-1, from=dim(y, -1), to=end)");
    benchmark::DoNotOptimize(rule);
  }
}
BENCHMARK(BM_CheckRule)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isomer::ir

BENCHMARK_MAIN();

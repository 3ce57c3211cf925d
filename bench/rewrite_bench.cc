// One rewrite step with its new hash on a graph of 2,000 nodes: copy, target,
// uses, hash. Every match of 100 rules is one sample.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "bench/bench_graph_testing.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "graph/rewrite.h"
#include "graph/rule.h"

namespace isomer::ir {
namespace {

void BM_RewriteStep(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const Graph graph = TransformerGraph(2000);
  const std::vector<Rule> rules = HundredRules();
  std::vector<std::pair<const Rule*, Match>> all;
  for (const Rule& rule : rules) {
    for (Match& m : FindMatches(graph, rule)) {
      all.push_back({&rule, std::move(m)});
    }
  }
  std::vector<double> micros;
  size_t at = 0, applied = 0;
  for (auto _ : state) {
    const auto& [rule, match] = all[at++ % all.size()];
    const auto start = Clock::now();
    auto result = Apply(graph, *rule, match);
    uint64_t hash = result.ok() ? result->hash() : 0;
    benchmark::DoNotOptimize(hash);
    micros.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count());
    applied += result.ok();
  }
  std::sort(micros.begin(), micros.end());
  state.counters["p50_us"] = micros[micros.size() / 2];
  state.counters["p99_us"] = micros[micros.size() * 99 / 100];
  state.counters["applied"] =
      static_cast<double>(applied) / static_cast<double>(micros.size());
}
BENCHMARK(BM_RewriteStep)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace isomer::ir

BENCHMARK_MAIN();

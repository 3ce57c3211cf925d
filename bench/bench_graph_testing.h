// What the benchmarks of matching and rewriting run on: a graph of 2,000 nodes
// like a transformer's, and 100 rules.
#ifndef ISOMER_BENCH_BENCH_GRAPH_TESTING_H_
#define ISOMER_BENCH_BENCH_GRAPH_TESTING_H_

#include <vector>

#include "graph/graph.h"
#include "graph/rule.h"

namespace isomer::ir {

// Blocks of attention and perceptron, with different weights, until there are
// `nodes` nodes or a few more.
Graph TransformerGraph(int nodes);

// 100 rules about products, concats, slices and pointwise functions.
std::vector<Rule> HundredRules();

}  // namespace isomer::ir

#endif  // ISOMER_BENCH_BENCH_GRAPH_TESTING_H_

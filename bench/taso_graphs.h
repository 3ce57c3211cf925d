// The graphs that TASO's examples optimise, built from what is known of them,
// with constant weights; and a transformer of any depth, for growth.
#ifndef ISOMER_BENCH_TASO_GRAPHS_H_
#define ISOMER_BENCH_TASO_GRAPHS_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace isomer::bench {

// Attention without softmax, biases, norms or perceptron: products, reshapes
// and transposes. 64 tokens, width 1024, 16 heads.
ir::Graph Bert(int layers);
// Five steps of eight gates, with weights of their own.
ir::Graph NasRnn();
ir::Graph ResNext50();
ir::Graph NasNetA();
ir::Graph InceptionV3();

// The graphs by name, as TASO's examples call them.
std::vector<std::pair<std::string, ir::Graph>> TasoGraphs();

// Layers of attention and perceptron with biases, softmax, norms and residual
// sums.
ir::Graph Transformer(int layers);

}  // namespace isomer::bench

#endif  // ISOMER_BENCH_TASO_GRAPHS_H_

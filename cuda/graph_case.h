// Graphs for tests that compare what a program computes with the reference, on
// a GPU and without one.
#ifndef ISOMER_CUDA_GRAPH_CASE_H_
#define ISOMER_CUDA_GRAPH_CASE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cost_model/cost.h"
#include "graph/graph.h"
#include "ops/tensor.h"

namespace isomer::cuda {

// A graph with random inputs, and others to run in between.
struct GraphCase {
  ir::Graph graph;
  std::map<std::string, Tensor> inputs, others;

  // Inputs whose names start with "w_" are constants.
  static absl::StatusOr<GraphCase> Parse(absl::string_view text);
  // What it computes of the inputs, on the CPU.
  absl::StatusOr<std::vector<Tensor>> Evaluate() const;
};

// Every example of every operator, by its text.
std::vector<std::pair<std::string, GraphCase>> OperatorCases();

// A product and a function z of equal parts of its rows, some of which are
// first computed with as whole rows: `weights` is "w_", or "w_v" for weights
// that lie the other way. Of several results one is computed on the way to z.
struct PartsShape {
  int parts, rows, size, k;
  const char* type;
  bool several = false;
};
std::string PartsText(const PartsShape& shape, absl::string_view weights);

// Sums of rows, of which one stands in what the others add up, and results that
// read the rows again.
std::string SumsText(absl::string_view type, int rows, int n);

// Channels normed in groups, of images of two batches; `between` convolutions
// that want channels side by side.
std::string GroupsText(absl::string_view type, int groups, int channels,
                       int side, bool between);

// Sums and the largest elements of images, of which two are put together.
std::string ImageSumsText(absl::string_view type, int batch, int channels,
                          int side);

// A product of m rows, and what is computed of it with a row and a matrix.
std::string FewRowsText(absl::string_view type, int m, int n, int k);

// A recurrent layer of one batch, from `in` to `out` values a step, in so many
// directions.
std::string LayerText(absl::string_view type, absl::string_view direction,
                      int directions, int steps, int in, int out);

// Scores with a mask, in a graph with two batches.
std::string AttentionText(absl::string_view type, int heads, int queries,
                          int keys, int head);
// Several heads have the same keys and values, which come in two parts.
std::string SharedKeysText(int queries);
// A convolution of every channel by itself behind one of all, and what is
// computed of it; `how` are its other attributes.
std::string DepthwiseText(absl::string_view type, int channels, int kernel,
                          absl::string_view how);
// A pool and functions of it between two convolutions.
std::string PoolText(absl::string_view type, absl::string_view pool);

const cost::CostModel& H200();

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_GRAPH_CASE_H_

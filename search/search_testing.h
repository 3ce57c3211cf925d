// What the tests of search/ share: graphs from text with random weights, random
// graphs, and comparing two graphs in the field and in floats.
#ifndef ISOMER_SEARCH_SEARCH_TESTING_H_
#define ISOMER_SEARCH_SEARCH_TESTING_H_

#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cost_model/cost.h"
#include "graph/graph.h"
#include "search/rule_book.h"

namespace isomer::search {

// Reads a graph. A constant may be written `const w: f32[2,3] = random`.
ir::Graph MakeGraph(absl::string_view text);

// The expansions of operators and these rules, taken at their word.
RuleBook MakeBook(absl::string_view rules);
// The rules that come with Isomer, taken at their word.
const RuleBook& AllRules();

// The costs of a target that comes with Isomer.
cost::CostModel MakeCost(absl::string_view target = "h200");

// Why the graphs differ on random inputs, in the field or in floats; "" if they
// do not.
std::string Difference(const ir::Graph& a, const ir::Graph& b);

// Graphs that a well-known optimiser gets wrong: a merge of depthwise
// convolutions, a factor that is lost, a grouped convolution of unequal parts,
// a sum of depthwise convolutions.
absl::Span<const absl::string_view> Traps();

// A graph of random operators over small tensors: products, convolutions, sums,
// activations, concats, slices, transposes, norms; some weights are shared.
ir::Graph RandomGraph(std::mt19937_64& random, int nodes);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SEARCH_TESTING_H_

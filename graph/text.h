// The text form of a graph: for tests, for people, and for rules shown at work.
//
//   input "x": f32[2,3]
//   const w: f32[3,4] = 0.5            # all elements
//   v0 = matmul(x, w)
//   v1, v2 = topk(v0, k, axis=1, ...)
//   v3 = opaque "com.x:Op" "key" (v1): f32[2], ?
//   output y = v3
//
// Printing is canonical: it depends on the graph alone, not on the ids of its
// nodes. Parsing what was printed gives an equal graph.
#ifndef ISOMER_GRAPH_TEXT_H_
#define ISOMER_GRAPH_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace isomer::ir {

struct PrintOptions {
  // Larger constants print as `...`, for people; such a text cannot be read
  // back.
  int64_t max_constant = INT64_MAX;
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});

struct ParseOptions {
  // Elements of all constants together: a short text must not ask for more
  // memory than there is.
  int64_t max_elements = 1 << 24;
};

// Reads a graph; errors say line and column.
absl::StatusOr<Graph> ParseGraph(absl::string_view text,
                                 const ParseOptions& options = {});

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_TEXT_H_

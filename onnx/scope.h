// The rules about names in a graph: each value is defined once, and before it
// is used. A subgraph may also use names from outside; those are its free
// names.
#ifndef ISOMER_ONNX_SCOPE_H_
#define ISOMER_ONNX_SCOPE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/graph_entry.h"

namespace isomer::onnx {

// A name that a graph uses but does not define, and its first user as errors
// call it.
struct FreeName {
  std::string name;
  std::string user;
};

// Checks a graph's names and gives the free ones in order of first use. Errors:
// a value defined twice, or used before the graph itself defines it (the
// message says whether the nodes form a cycle or are merely out of order).
absl::StatusOr<std::vector<FreeName>> FreeNames(const GraphEntry& graph);

// The same for a graph with nothing around it: a free name is an error.
absl::Status CheckClosed(const GraphEntry& graph);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_SCOPE_H_

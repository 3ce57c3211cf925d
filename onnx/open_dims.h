// Which of the dimensions that got a number at import a rewritten graph leaves
// open. A rewrite may have put that number into something new: the bounds of a
// slice, the shape of a reshape, the scale that a mean has become. So the graph
// is taken to other sizes as it is, what was not touched as the model has it
// there, and a dimension is open if the graph still has its types, would be
// written in the same words, and computes what the model computes.
#ifndef ISOMER_ONNX_OPEN_DIMS_H_
#define ISOMER_ONNX_OPEN_DIMS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "onnx/import.h"

namespace isomer::onnx {

struct RewrittenModel {
  const ImportedModel& from;
  const ir::Graph& graph;
  const std::vector<bool>& kept;       // groups written back as they were
  const std::vector<NodeId>& written;  // nodes written anew; a split: one part
};

// Says whether two graphs with the same inputs compute the same.
using GraphsEqual = std::function<bool(const ir::Graph&, const ir::Graph&)>;

// The bound dimensions that are open: two other sizes of each were tried. One
// that could not be tried, because the model has opaque parts or is too large,
// is not among them.
std::set<std::string> OpenDims(const RewrittenModel& rewritten,
                               const GraphsEqual& equal);

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_OPEN_DIMS_H_

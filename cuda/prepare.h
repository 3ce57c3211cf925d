// Graphs made ready for kernels: operators opened that no kernel takes whole,
// and convolutions brought to sizes that fast kernels want.
#ifndef ISOMER_CUDA_PREPARE_H_
#define ISOMER_CUDA_PREPARE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/expand.h"
#include "graph/graph.h"

namespace isomer::cuda {

// The whole graph before it is planned. Attention is opened, a gather at one
// constant index becomes a slice, a concat of pieces that lie one after the
// other in the value that they are taken from a view of it. A convolution of
// 16-bit floats gets a multiple of 8 channels per group: neighbours of narrow
// images become channels (narrow_images.h), missing ones are zeros, narrow
// groups are put together with zeros between them. `values` says what became of
// each value, if it is given.
absl::StatusOr<ir::Graph> Prepare(const ir::Graph& graph,
                                  std::map<Value, Value>* values = nullptr);

// One kernel as a graph of its own.
struct KernelGraph {
  ir::Graph graph;
  std::vector<Value> inputs;   // in the kernel's graph, as they were given
  std::vector<Value> outputs;  // likewise
};

// `nodes` of `graph`, which read `inputs`, with composites opened in a form
// that does not overflow. Constants of one value become part of the graph;
// their entry in `inputs` is then not an input. Operators named in `whole` stay
// as they are. An operator without a kernel is an Unimplemented error that
// names it.
absl::StatusOr<KernelGraph> OpenKernel(const ir::Graph& graph,
                                       absl::Span<const NodeId> nodes,
                                       absl::Span<const Value> inputs,
                                       absl::Span<const Value> outputs,
                                       ir::Expansions& expansions,
                                       const std::set<std::string>& whole = {});

}  // namespace isomer::cuda

#endif  // ISOMER_CUDA_PREPARE_H_

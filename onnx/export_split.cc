// Finding the slices that make up a Split.
#include "onnx/export_split.h"

#include <algorithm>

namespace isomer::onnx {

namespace {

struct Part {
  int64_t axis, from, to;
  NodeId id;
};

// The slice of `source` along one axis with step 1 that `id` is.
std::optional<Part> AsPart(const ir::Graph& graph, NodeId id, Value source) {
  const ir::Node& n = graph.node(id);
  if (!n.Is("slice") || n.inputs[0] != source) return std::nullopt;
  const Attrs& a = *n.attrs;
  if (a.Ints("axes").size() != 1 || a.Ints("step")[0] != 1) return std::nullopt;
  return Part{a.Ints("axes")[0], a.Ints("from")[0], a.Ints("to")[0], id};
}

}  // namespace

std::optional<SplitForm> FindSplit(const ir::Graph& graph, NodeId id) {
  const ir::Node& n = graph.node(id);
  if (n.inputs.empty()) return std::nullopt;
  const Value source = n.inputs[0];
  const std::optional<Part> self = AsPart(graph, id, source);
  if (!self) return std::nullopt;
  std::vector<Part> parts;
  for (NodeId user : graph.users(source.node)) {
    std::optional<Part> part = AsPart(graph, user, source);
    if (part && part->axis == self->axis) parts.push_back(*part);
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.from != b.from ? a.from < b.from : a.id < b.id;
  });
  SplitForm split{source, self->axis, {}, {}};
  int64_t end = 0;
  for (const Part& part : parts) {
    if (part.from != end || part.to <= part.from) return std::nullopt;
    end = part.to;
    split.parts.push_back(part.id);
    split.sizes.push_back(part.to - part.from);
  }
  if (parts.size() < 2 || end != graph.type(source).shape[self->axis]) {
    return std::nullopt;
  }
  return split;
}

}  // namespace isomer::onnx

// All of them are one thing: a box of elements is copied from some places of
// an input, evenly spaced along each dimension, to such places of the result.
#include "graph/move_bytes.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ops/status.h"
#include "ops/tensor.h"

namespace isomer::ir {

namespace {

// A box of elements with the distances, in bytes, between neighbours along each
// dimension where it comes from and where it goes.
struct Box {
  std::vector<int64_t> shape, from, to;
};

// Distances between neighbours of a dense tensor.
std::vector<int64_t> Distances(const TensorType& type) {
  std::vector<int64_t> out = Strides(type.shape);
  for (int64_t& d : out) d *= ByteSize(type.dtype);
  return out;
}

// Copies elements of `size` bytes, a constant where this is inlined.
inline void CopyRow(const Box& box, size_t d, int64_t size, const char* from,
                    char* to) {
  for (int64_t i = 0; i < box.shape[d]; ++i) {
    std::memcpy(to + i * box.to[d], from + i * box.from[d], size);
  }
}

// Copies runs of `run` bytes along dimensions d to `last`.
void CopyRuns(const Box& box, size_t d, size_t last, int64_t run,
              const char* from, char* to) {
  if (d < last) {
    for (int64_t i = 0; i < box.shape[d]; ++i) {
      CopyRuns(box, d + 1, last, run, from + i * box.from[d],
               to + i * box.to[d]);
    }
    return;
  }
  switch (run) {
    case 1:
      return CopyRow(box, d, 1, from, to);
    case 2:
      return CopyRow(box, d, 2, from, to);
    case 4:
      return CopyRow(box, d, 4, from, to);
    case 8:
      return CopyRow(box, d, 8, from, to);
    default:
      return CopyRow(box, d, run, from, to);
  }
}

void CopyBox(Box box, int64_t element, const char* from, char* to) {
  // Inner dimensions that lie together on both sides are one run.
  int64_t run = element;
  while (!box.shape.empty() &&
         (box.shape.back() == 1 ||
          (box.from.back() == run && box.to.back() == run))) {
    run *= box.shape.back();
    box.shape.pop_back();
    box.from.pop_back();
    box.to.pop_back();
  }
  for (int64_t d : box.shape) run = d == 0 ? 0 : run;
  if (run == 0) return;
  if (box.shape.empty()) {
    std::memcpy(to, from, run);
    return;
  }
  CopyRuns(box, 0, box.shape.size() - 1, run, from, to);
}

std::string Concat(const Graph& graph, const Node& n,
                   absl::Span<const SharedBytes> inputs,
                   const TensorType& type) {
  std::string out(NumElements(type) * ByteSize(type.dtype), '\0');
  const std::vector<int64_t> to = Distances(type);
  const int64_t axis = n.attrs->Int("axis");
  char* at = out.data();
  for (size_t k = 0; k < inputs.size(); ++k) {
    const TensorType& in = graph.type(n.inputs[k]);
    CopyBox({in.shape, Distances(in), to}, ByteSize(type.dtype),
            inputs[k].view.data(), at);
    at += in.shape[axis] * to[axis];
  }
  return out;
}

std::string Slice(const Attrs& attrs, const TensorType& in,
                  absl::string_view bytes, const TensorType& type) {
  std::string out(NumElements(type) * ByteSize(type.dtype), '\0');
  Box box{type.shape, Distances(in), Distances(type)};
  const std::vector<int64_t> axes = attrs.Ints("axes"),
                             first = attrs.Ints("from"),
                             step = attrs.Ints("step");
  int64_t start = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    start += first[k] * box.from[axes[k]];
    box.from[axes[k]] *= step[k];
  }
  if (!out.empty()) {
    CopyBox(std::move(box), ByteSize(type.dtype), bytes.data() + start,
            out.data());
  }
  return out;
}

std::string Transpose(const Attrs& attrs, const TensorType& in,
                      absl::string_view bytes, const TensorType& type) {
  std::string out(bytes.size(), '\0');
  Box box{type.shape, {}, Distances(type)};
  const std::vector<int64_t> from = Distances(in);
  for (int64_t d : attrs.Ints("perm")) box.from.push_back(from[d]);
  CopyBox(std::move(box), ByteSize(type.dtype), bytes.data(), out.data());
  return out;
}

}  // namespace

bool OnlyMoves(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  return n.op != nullptr && graph.type({id, 0}).device.empty() &&
         (n.op->name == "concat" || n.op->name == "reshape" ||
          n.op->name == "slice" || n.op->name == "transpose");
}

SharedBytes MoveBytes(const Graph& graph, NodeId id,
                      absl::Span<const SharedBytes> inputs) {
  Check(OnlyMoves(graph, id), "the operator moves elements");
  const Node& n = graph.node(id);
  const TensorType& type = graph.type({id, 0});
  const TensorType& first = graph.type(n.inputs[0]);
  if (n.op->name == "reshape") return inputs[0];
  if (n.op->name == "concat") {
    return SharedBytes::Own(Concat(graph, n, inputs, type));
  }
  return SharedBytes::Own(
      n.op->name == "slice" ? Slice(*n.attrs, first, inputs[0].view, type)
                            : Transpose(*n.attrs, first, inputs[0].view, type));
}

SharedBytes WithSteps(const SharedBytes& bytes, const TensorType& type,
                      absl::Span<const int64_t> steps) {
  std::string out(bytes.view.size(), '\0');
  Box box{type.shape, Distances(type), {steps.begin(), steps.end()}};
  for (int64_t& d : box.to) d *= ByteSize(type.dtype);
  CopyBox(std::move(box), ByteSize(type.dtype), bytes.view.data(), out.data());
  return SharedBytes::Own(std::move(out));
}

}  // namespace isomer::ir

// A graph of a model file, entry by entry. Each entry is what its message says,
// next to the message's own bytes. An entry with bytes (`raw`) is written back
// verbatim, whatever its other members say; one without is written anew. Lists
// may be edited freely: the writer keeps the order of the file as far as the
// lists allow.
#ifndef ISOMER_ONNX_GRAPH_ENTRY_H_
#define ISOMER_ONNX_GRAPH_ENTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnx/tensor_entry.h"
#include "ops/onnx_node.h"

namespace isomer::onnx {

struct NodeEntry {
  OnnxNode node;
  // Names from outside that the node's subgraphs use, at any depth; sorted.
  // They are uses just as inputs are.
  std::vector<std::string> captured;
  // External files that tensors in attributes lie in, at any depth; sorted.
  std::vector<std::string> external;
  SharedBytes raw;
  int order = -1;  // place among the file's nodes; -1: new
};

// A dimension: unknown, a number, or a named parameter.
using Dim = std::variant<std::monostate, int64_t, std::string>;

// An input, an output or an inner value with its type.
struct ValueEntry {
  std::string name;
  int32_t elem_type = 0;  // 0: not a dense tensor, or no type given
  std::optional<std::vector<Dim>> dims;  // nullopt: not even the rank is known
  SharedBytes raw;
  int order = -1;
};

struct SparseEntry {
  TensorEntry values;  // its name is the name of the whole
  TensorEntry indices;
  std::vector<int64_t> dims;
  SharedBytes raw;
  int order = -1;
};

// Which tensors hold the quantization parameters of a tensor.
struct AnnotationEntry {
  std::string tensor_name;
  std::vector<std::string> parameters;  // names of tensors
  SharedBytes raw;
  int order = -1;
};

// One field of a message in file order. Fields that belong to a list have no
// bytes here: the n-th slot of such a field is the list's entry of order n.
struct Slot {
  int field = 0;
  SharedBytes raw;
};

struct GraphEntry {
  std::string name;
  std::vector<NodeEntry> nodes;
  std::vector<TensorEntry> initializers;
  std::vector<SparseEntry> sparse_initializers;
  std::vector<ValueEntry> inputs;
  std::vector<ValueEntry> outputs;
  std::vector<ValueEntry> value_infos;
  std::vector<AnnotationEntry> annotations;
  // For the writer: the message as it was read, and its fields in file order.
  SharedBytes message;
  std::vector<Slot> layout;
};

// How errors call a node: node 'conv1' (Conv), or by position without a name.
inline std::string NodeText(const OnnxNode& node, int64_t position) {
  if (node.name.empty()) {
    return absl::StrCat("node #", position, " (", node.op_type, ")");
  }
  return absl::StrCat("node '", node.name, "' (", node.op_type, ")");
}

// A node of the given contents; `captured` matters if it has subgraphs.
inline NodeEntry NewNode(OnnxNode node,
                         std::vector<std::string> captured = {}) {
  NodeEntry entry;
  entry.node = std::move(node);
  entry.captured = std::move(captured);
  return entry;
}

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_GRAPH_ENTRY_H_

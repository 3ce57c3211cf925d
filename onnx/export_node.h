// How one graph node leaves as ONNX: which values its ONNX form reads (a
// broadcast that ONNX does itself is skipped, a bias is taken in), and the
// nodes and constants it becomes.
#ifndef ISOMER_ONNX_EXPORT_NODE_H_
#define ISOMER_ONNX_EXPORT_NODE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "ops/onnx_mapping.h"

namespace isomer::onnx {

// True if the value is a subgraph of constants that export computes. What is
// cheaper to make than to store (broadcasts, fills, ...) is left alone, unless
// it is small.
bool MayFold(const ir::Graph& graph, Value v);

// The form in which a node leaves.
struct NodeForm {
  NodeForm(const ir::Graph& graph, NodeId id);

  NodeId id;
  // The node whose ONNX mapping is used: `id` itself, or the one whose bias
  // addition `id` is.
  NodeId core;
  // What the ONNX form reads. A value is given the shape (with ones put in)
  // from which ONNX's broadcasting does the rest; a filled tensor is read as a
  // scalar of its value.
  struct Operand {
    Value value;
    TensorType type;
    std::optional<double> literal = {};
  };
  std::vector<Operand> operands;
};

class NodeWriter : public OnnxExport {
 public:
  NodeWriter(const ir::Graph& graph, const NodeForm& form, int64_t opset,
             std::function<std::string(Value)> name,
             std::function<std::string()> fresh);

  // Emits the node and returns the names of its outputs.
  Exported Write();
  std::vector<OnnxNode>& nodes() { return nodes_; }
  const std::vector<std::pair<std::string, Tensor>>& constants() const {
    return constants_;
  }

  int opset() const override { return opset_; }
  const Attrs& attrs() const override;
  int size() const override { return static_cast<int>(form_.operands.size()); }
  std::string In(int i) override;
  const TensorType& in_type(int i) const override {
    return form_.operands[i].type;
  }
  const TensorType& out_type(int i) const override;
  std::vector<std::string> Emit(absl::string_view op_type,
                                std::vector<std::string> inputs,
                                std::vector<OnnxAttr> attrs,
                                int outputs) override;
  std::string Constant(const Tensor& tensor) override;

 private:
  const ir::Graph& graph_;
  const NodeForm& form_;
  int opset_;
  std::function<std::string(Value)> name_;
  std::function<std::string()> fresh_;
  std::vector<OnnxNode> nodes_;
  std::vector<std::pair<std::string, Tensor>> constants_;
};

}  // namespace isomer::onnx

#endif  // ISOMER_ONNX_EXPORT_NODE_H_

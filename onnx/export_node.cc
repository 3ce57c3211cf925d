// One node's ONNX form.
#include "onnx/export_node.h"

#include <algorithm>
#include <optional>

#include "ops/status.h"

namespace isomer::onnx {

using ir::Graph;
using ir::Node;

namespace {

// Constants up to this many elements are folded whatever makes them.
constexpr int64_t kSmall = 4096;

// What a broadcast reads, and the shape with ones that ONNX broadcasts from.
struct Unbroadcast {
  Value source;
  std::vector<int64_t> shape;
};

// The broadcast that made `v`, unless it changes one of the last `own`
// dimensions.
std::optional<Unbroadcast> SkipBroadcast(const Graph& graph, Value v,
                                         size_t own) {
  const Node& n = graph.node(v.node);
  if (!n.Is("broadcast")) return std::nullopt;
  const std::vector<int64_t>& dims = n.attrs->Ints("dims");
  const std::vector<int64_t>& out = n.attrs->Ints("shape");
  for (size_t d = out.size() - own; d < out.size(); ++d) {
    if (std::count(dims.begin(), dims.end(), d) == 0) return std::nullopt;
  }
  if (dims.empty()) return Unbroadcast{n.inputs[0], {}};
  // Leading ones need not be written.
  std::vector<int64_t> shape(out.size() - dims[0], 1);
  for (int64_t d : dims) shape[d - dims[0]] = out[d];
  return Unbroadcast{n.inputs[0], std::move(shape)};
}

// The bias that an addition gives to the other operand's node, if that node's
// ONNX form takes one: add(f(...), broadcast(b, dims=[d])).
std::optional<Value> BiasFor(const Graph& graph, const Node& add, int core) {
  const Value c = add.inputs[core], b = add.inputs[1 - core];
  const Node& n = graph.node(c.node);
  if (n.kind != Node::Kind::kOp || !n.op->onnx.bias_dim ||
      graph.users(c.node).size() != 1 || graph.output_uses(c.node) > 0) {
    return std::nullopt;
  }
  std::vector<TensorType> types;
  for (Value v : n.inputs) types.push_back(graph.type(v));
  const std::optional<int64_t> dim = n.op->onnx.bias_dim(types);
  const Node& broadcast = graph.node(b.node);
  if (!dim || !broadcast.Is("broadcast") ||
      broadcast.attrs->Ints("dims") != std::vector<int64_t>{*dim}) {
    return std::nullopt;
  }
  return broadcast.inputs[0];
}

NodeForm::Operand OperandFor(const Graph& graph, const Node& n, Value v) {
  const TensorType& type = graph.type(v);
  if (!n.op->onnx.broadcasts) return {v, type};
  const size_t own = n.op->onnx.own_dims;
  const Node& made = graph.node(v.node);
  if (made.Is("fill") && own == 0) {
    return {v, {type.dtype, {}}, made.attrs->Float("value")};
  }
  std::optional<Unbroadcast> skip = SkipBroadcast(graph, v, own);
  if (!skip) return {v, type};
  // Where a Reshape would be needed a constant is better stored as it is.
  const bool as_it_is = graph.type(skip->source).shape == skip->shape;
  if (!as_it_is && MayFold(graph, v)) return {v, type};
  return {skip->source, {type.dtype, std::move(skip->shape)}};
}

// True if ONNX broadcasts operands to the shape, but for the last `own`
// dimensions.
bool BroadcastTo(const std::vector<NodeForm::Operand>& operands,
                 const std::vector<int64_t>& shape, size_t own) {
  for (size_t from_end = own + 1; from_end <= shape.size(); ++from_end) {
    const bool there = std::any_of(
        operands.begin(), operands.end(), [&](const NodeForm::Operand& o) {
          const std::vector<int64_t>& s = o.type.shape;
          return s.size() >= from_end &&
                 s.end()[-from_end] == shape.end()[-from_end];
        });
    if (!there) return false;
  }
  return true;
}

// Gives one operand as it is where they would not be broadcast to the whole
// shape otherwise: the largest of those that are whole then.
void KeepShape(const Graph& graph, const Node& n,
               std::vector<NodeForm::Operand>& operands) {
  if (!n.op->onnx.broadcasts) return;
  int rank = 0;
  for (Value v : n.inputs) rank = std::max(rank, graph.type(v).rank());
  std::optional<size_t> whole;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (graph.type(n.inputs[i]).rank() < rank) continue;
    if (!whole ||
        NumElements(operands[i].type) > NumElements(operands[*whole].type)) {
      whole = i;
    }
  }
  if (!whole) return;
  const Value v = n.inputs[*whole];
  if (!BroadcastTo(operands, graph.type(v).shape, n.op->onnx.own_dims)) {
    operands[*whole] = {v, graph.type(v)};
  }
}

}  // namespace

bool MayFold(const Graph& graph, Value v) {
  const Node& n = graph.node(v.node);
  if (n.kind != Node::Kind::kOp || !graph.IsConstant(v)) return false;
  if (NumElements(graph.type(v)) <= kSmall) return true;
  int64_t read = 0;
  for (Value in : n.inputs) read += NumElements(graph.type(in));
  return read >= NumElements(graph.type(v));
}

NodeForm::NodeForm(const Graph& graph, NodeId node) : id(node), core(node) {
  const Node* n = &graph.node(node);
  std::optional<Value> bias;
  if (n->Is("add")) {
    for (int k = 0; k < 2 && !bias; ++k) {
      bias = BiasFor(graph, *n, k);
      if (bias) core = n->inputs[k].node;
    }
    n = &graph.node(core);
  }
  for (Value v : n->inputs) operands.push_back(OperandFor(graph, *n, v));
  KeepShape(graph, *n, operands);
  if (bias) operands.push_back({*bias, graph.type(*bias)});
}

NodeWriter::NodeWriter(const Graph& graph, const NodeForm& form, int64_t opset,
                       std::function<std::string(Value)> name,
                       std::function<std::string()> fresh)
    : graph_(graph),
      form_(form),
      opset_(static_cast<int>(opset)),
      name_(std::move(name)),
      fresh_(std::move(fresh)) {}

Exported NodeWriter::Write() {
  const OpDef& op = *graph_.node(form_.core).op;
  if (!op.onnx.to) return Unsupported(op.name, ": has no ONNX form");
  return op.onnx.to(*this);
}

const Attrs& NodeWriter::attrs() const {
  return *graph_.node(form_.core).attrs;
}

const TensorType& NodeWriter::out_type(int i) const {
  return graph_.type({form_.core, i});
}

std::string NodeWriter::In(int i) {
  const NodeForm::Operand& o = form_.operands[i];
  if (o.literal) return Scalar(o.type.dtype, *o.literal);
  const std::string name = name_(o.value);
  if (graph_.type(o.value).shape == o.type.shape) return name;
  return Emit("Reshape", {name, Ints(o.type.shape)}, {}, 1)[0];
}

std::vector<std::string> NodeWriter::Emit(absl::string_view op_type,
                                          std::vector<std::string> inputs,
                                          std::vector<OnnxAttr> attrs,
                                          int outputs) {
  OnnxNode node;
  node.op_type = std::string(op_type);
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (int k = 0; k < outputs; ++k) node.outputs.push_back(fresh_());
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

std::string NodeWriter::Constant(const Tensor& tensor) {
  constants_.emplace_back(fresh_(), tensor);
  return constants_.back().first;
}

}  // namespace isomer::onnx

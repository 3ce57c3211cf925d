// Both are copies of a graph, node by node, in which some nodes are replaced.
#include "cuda/prepare.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "cuda/element_code.h"
#include "cuda/narrow_images.h"
#include "ops/status.h"

namespace isomer::cuda {

namespace {

using Values = std::map<Value, Value>;
using Ints = std::vector<int64_t>;

std::vector<Value> Mapped(const ir::Node& node, const Values& values) {
  std::vector<Value> out;
  for (Value in : node.inputs) out.push_back(values.at(in));
  return out;
}

// Copies an input or a constant.
Value CopyLeaf(const ir::Graph& from, NodeId id, ir::Graph& to) {
  const ir::Node& node = from.node(id);
  if (node.kind == ir::Node::Kind::kConstant) {
    return to.AddConstant(node.constant);
  }
  return to.AddInput(*node.name, (*node.types)[0]);
}

// Adds a node of an expansion, with its operands in the new graph.
using AddInner = absl::FunctionRef<absl::StatusOr<Value>(
    const ir::Node& node, std::vector<Value> operands)>;

// Adds what an operator expands to; returns its outputs.
absl::StatusOr<std::vector<Value>> AddExpansion(const OpDef& op,
                                                const Attrs& attrs,
                                                const std::vector<Value>& in,
                                                ir::Expansions& expansions,
                                                ir::Graph& out, AddInner add) {
  std::vector<TensorType> types;
  for (Value v : in) types.push_back(out.type(v));
  ASSIGN_OR_RETURN(const auto opened, expansions.Expand(op, types, attrs));
  Values values;
  for (size_t i = 0; i < in.size(); ++i) {
    values[{opened->inputs()[i], 0}] = in[i];
  }
  for (NodeId id : opened->Order()) {
    const ir::Node& n = opened->node(id);
    if (n.kind == ir::Node::Kind::kInput) continue;
    if (n.kind == ir::Node::Kind::kConstant) {
      values[{id, 0}] = out.AddConstant(n.constant);
      continue;
    }
    ASSIGN_OR_RETURN(const Value made, add(n, Mapped(n, values)));
    values[{id, 0}] = made;
  }
  std::vector<Value> made;
  for (const ir::Output& o : opened->outputs()) {
    made.push_back(values.at(o.value));
  }
  return made;
}

// ---- Prepare

class Preparation {
 public:
  explicit Preparation(const ir::Graph& graph) : graph_(graph) {}

  absl::StatusOr<ir::Graph> Run() {
    for (NodeId id : graph_.inputs()) {
      values_[{id, 0}] = CopyLeaf(graph_, id, out_);
    }
    for (NodeId id : graph_.Order()) {
      const ir::Node& node = graph_.node(id);
      if (node.kind == ir::Node::Kind::kInput) continue;
      if (node.kind == ir::Node::Kind::kConstant) {
        values_[{id, 0}] = CopyLeaf(graph_, id, out_);
        continue;
      }
      if (node.kind == ir::Node::Kind::kOpaque) {
        return Unsupported("CUDA: ", node.opaque->op, " ('", node.opaque->key,
                           "') has no kernel: it is not modelled");
      }
      RETURN_IF_ERROR(Copy(id));
    }
    for (const ir::Output& o : graph_.outputs()) {
      out_.AddOutput(o.name, values_.at(o.value));
    }
    for (NodeId id : opened_) {
      if (out_.Has(id)) out_.RemoveIfUnused(id);
    }
    return std::move(out_);
  }

  // What became of each.
  const Values& values() const { return values_; }

 private:
  absl::Status Copy(NodeId id) {
    const ir::Node& node = graph_.node(id);
    const std::vector<Value> in = Mapped(node, values_);
    if (node.Is("attention") || node.Is("masked_attention") || node.op->build) {
      ASSIGN_OR_RETURN(const std::vector<Value> made, Open(node, in));
      for (int k = 0; k < node.num_outputs(); ++k) {
        values_[{id, k}] = made[k];
        opened_.push_back(made[k].node);
      }
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::optional<Value> v, Instead(id, in));
    if (v) {
      values_[{id, 0}] = *v;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const NodeId made,
                     out_.AddNode(*node.op, in, *node.attrs));
    for (int k = 0; k < node.num_outputs(); ++k) {
      values_[{id, k}] = {made, k};
    }
    return absl::OkStatus();
  }

  // What is computed in place of a node; nothing if it stays.
  absl::StatusOr<std::optional<Value>> Instead(NodeId id,
                                               const std::vector<Value>& in) {
    const ir::Node& node = graph_.node(id);
    if (node.Is("gather")) return Slice(id, in);
    if (node.Is("concat")) return Adjoining(node, in);
    if (node.Is("conv2d")) return Convolution(id, in);
    if (graph_.IsConstant({id, 0}) && IsElementwise(node)) {
      return BeforeRepeat(node, in);
    }
    return std::nullopt;
  }

  static bool IsElementwise(const ir::Node& node) {
    for (absl::string_view op :
         {"add", "sub", "mul", "div", "neg", "sqrt", "reciprocal", "cast"}) {
      if (node.Is(op)) return true;
    }
    return false;
  }

  // A pointwise function of constants that repeat something along the same
  // dimensions: computed of what is repeated, and then repeated. Images of
  // constants take long to fold.
  absl::StatusOr<std::optional<Value>> BeforeRepeat(
      const ir::Node& node, const std::vector<Value>& in) {
    const ir::Node* repeat = nullptr;  // one that repeats more than a scalar
    for (Value v : in) {
      const ir::Node& n = out_.node(v.node);
      if (!n.Is("broadcast")) return std::nullopt;
      if (out_.type(n.inputs[0]).rank() > 0) repeat = &n;
    }
    if (repeat == nullptr) return std::nullopt;
    const Attrs attrs = *repeat->attrs;
    const Ints shape = out_.type(repeat->inputs[0]).shape;
    std::vector<Value> sources;
    for (Value v : in) {
      const ir::Node& n = out_.node(v.node);
      const Value source = n.inputs[0];
      const TensorType type = out_.type(source);
      if (type.rank() == 0) {
        ASSIGN_OR_RETURN(const Value same,
                         out_.Add("broadcast", {source},
                                  {{"shape", shape}, {"dims", Ints{}}}));
        sources.push_back(same);
      } else if (type.shape == shape &&
                 n.attrs->Ints("dims") == attrs.Ints("dims")) {
        sources.push_back(source);
      } else {
        return std::nullopt;
      }
    }
    ASSIGN_OR_RETURN(const NodeId once,
                     out_.AddNode(*node.op, sources, *node.attrs));
    ASSIGN_OR_RETURN(const Value v, out_.Add("broadcast", {{once, 0}},
                                             {{"shape", attrs.Ints("shape")},
                                              {"dims", attrs.Ints("dims")}}));
    return v;
  }

  // A gather at one constant index is a slice, which is a view.
  absl::StatusOr<std::optional<Value>> Slice(NodeId id,
                                             const std::vector<Value>& in) {
    const ir::Node& node = graph_.node(id);
    const ir::Node& index = graph_.node(node.inputs[1].node);
    if (index.kind != ir::Node::Kind::kConstant ||
        NumElements(index.constant->type()) != 1) {
      return std::nullopt;
    }
    const int64_t axis = node.attrs->Int("axis");
    const int64_t size = out_.type(in[0]).shape[axis];
    const int64_t at = Mod(index.constant->ToTensor().as<int64_t>()[0], size);
    ASSIGN_OR_RETURN(Value v, out_.Add("slice", {in[0]},
                                       {{"axes", Ints{axis}},
                                        {"from", Ints{at}},
                                        {"to", Ints{at + 1}}}));
    ASSIGN_OR_RETURN(
        v, out_.Add("reshape", {v}, {{"shape", graph_.type({id, 0}).shape}}));
    return v;
  }

  // So many elements of a value, one after the other, row by row.
  struct Piece {
    Value of;
    int64_t from = 0, count = 0;
  };

  static bool IsOneRow(const Ints& shape, int64_t axis) {
    for (int64_t d = 0; d < axis; ++d) {
      if (shape[d] != 1) return false;
    }
    return true;
  }

  // The value that reshapes and slices take v from, as one piece.
  Piece PieceOf(Value v) const {
    Piece piece{v, 0, NumElements(out_.type(v))};
    for (;;) {
      const ir::Node& node = out_.node(piece.of.node);
      if (node.Is("slice")) {
        const Ints& shape = out_.type(node.inputs[0]).shape;
        const Ints &axes = node.attrs->Ints("axes"),
                   &step = node.attrs->Ints("step");
        if (axes.size() != 1 || step[0] != 1 || !IsOneRow(shape, axes[0])) {
          return piece;
        }
        int64_t inner = 1;
        for (size_t d = axes[0] + 1; d < shape.size(); ++d) inner *= shape[d];
        piece.from += node.attrs->Ints("from")[0] * inner;
      } else if (!node.Is("reshape")) {
        return piece;
      }
      piece.of = node.inputs[0];
    }
  }

  // A concat of pieces that lie one after the other is a view.
  absl::StatusOr<std::optional<Value>> Adjoining(const ir::Node& node,
                                                 const std::vector<Value>& in) {
    if (in.size() == 1) return in[0];
    Ints shape = out_.type(in[0]).shape;
    const int64_t axis = node.attrs->Int("axis");
    if (!IsOneRow(shape, axis)) return std::nullopt;
    Piece all = PieceOf(in[0]);
    if (all.of == in[0]) return std::nullopt;
    for (size_t i = 1; i < in.size(); ++i) {
      const Piece next = PieceOf(in[i]);
      if (!(next.of == all.of) || next.from != all.from + all.count) {
        return std::nullopt;
      }
      all.count += next.count;
      shape[axis] += out_.type(in[i]).shape[axis];
    }
    const int64_t size = NumElements(out_.type(all.of));
    Value v = all.of;
    if (all.count < size) {
      ASSIGN_OR_RETURN(v, out_.Add("reshape", {v}, {{"shape", Ints{size}}}));
      ASSIGN_OR_RETURN(v, out_.Add("slice", {v},
                                   {{"axes", Ints{0}},
                                    {"from", Ints{all.from}},
                                    {"to", Ints{all.from + all.count}}}));
    }
    ASSIGN_OR_RETURN(v, out_.Add("reshape", {v}, {{"shape", shape}}));
    return v;
  }

  absl::StatusOr<std::vector<Value>> Open(const ir::Node& node,
                                          const std::vector<Value>& in) {
    const auto add = [&](const ir::Node& n,
                         std::vector<Value> operands) -> absl::StatusOr<Value> {
      ASSIGN_OR_RETURN(const NodeId made,
                       out_.AddNode(*n.op, operands, *n.attrs));
      return Value{made, 0};
    };
    return AddExpansion(*node.op, *node.attrs, in, expansions_, out_, add);
  }

  absl::StatusOr<Value> Convolution(NodeId id, std::vector<Value> in) {
    const ir::Node& node = graph_.node(id);
    const TensorType w = out_.type(in[1]);
    const int64_t groups = node.attrs->Int("group"), channels = w.shape[1];
    Attrs attrs = *node.attrs;
    const bool fast = (w.dtype == DType::kF16 || w.dtype == DType::kBF16) &&
                      channels % kChannelChunk != 0 && w.shape.size() <= 4;
    if (fast && groups == 1 && channels < 64) {
      ASSIGN_OR_RETURN(const std::optional<Value> blocks,
                       ConvolutionOfBlocks(out_, attrs, in[0], in[1],
                                           graph_.type({id, 0}).shape));
      if (blocks) return *blocks;
      for (Value& v : in) {
        ASSIGN_OR_RETURN(v, InChunks(out_, v));
      }
    } else if (groups > 1 && channels > 1 && channels < 32 &&
               w.shape.size() <= 4 && IsFloat(w.dtype) &&
               ByteSize(w.dtype) == 2) {
      int64_t together = 1;
      while (together * channels < 32 && groups % (together * 2) == 0) {
        together *= 2;
      }
      if (together > 1 && together * channels % kChannelChunk == 0) {
        ASSIGN_OR_RETURN(in[1], Together(in[1], groups, together));
        attrs.Set("group", groups / together);
      }
    }
    ASSIGN_OR_RETURN(const NodeId made, out_.AddNode(*node.op, in, attrs));
    return Value{made, 0};
  }

  // The filters of groups/n groups that do what those of `groups` groups do.
  absl::StatusOr<Value> Together(Value w, int64_t groups, int64_t n) {
    const TensorType type = out_.type(w);
    const int64_t per = type.shape[0] / groups, channels = type.shape[1];
    std::vector<Value> parts;
    for (int64_t j = 0; j < groups; ++j) {
      ASSIGN_OR_RETURN(Value part, out_.Add("slice", {w},
                                            {{"axes", Ints{0}},
                                             {"from", Ints{j * per}},
                                             {"to", Ints{(j + 1) * per}}}));
      ASSIGN_OR_RETURN(part, PaddedChannels(out_, part, j % n * channels,
                                            (n - 1 - j % n) * channels));
      parts.push_back(part);
    }
    return out_.Add("concat", parts, {{"axis", int64_t{0}}});
  }

  const ir::Graph& graph_;
  ir::Graph out_;
  Values values_;
  std::vector<NodeId> opened_;  // what became of operators that were opened
  ir::Expansions expansions_;
};

// ---- OpenKernel

class KernelCopy {
 public:
  KernelCopy(const ir::Graph& graph, ir::Expansions& expansions,
             const std::set<std::string>& whole)
      : graph_(graph), expansions_(expansions), whole_(whole) {}

  void AddInput(Value v) {
    if (values_.count(v)) return;
    const ir::Node& node = graph_.node(v.node);
    if (node.kind == ir::Node::Kind::kConstant &&
        NumElements(node.constant->type()) == 1) {
      values_[v] = out_.AddConstant(node.constant);
      return;
    }
    values_[v] =
        out_.AddInput(absl::StrCat("x", values_.size()), graph_.type(v));
  }

  absl::Status AddNode(NodeId id) {
    const ir::Node& node = graph_.node(id);
    for (Value in : node.inputs) AddInput(in);
    ASSIGN_OR_RETURN(const std::vector<Value> made,
                     AddOp(*node.op, Mapped(node, values_), *node.attrs));
    for (size_t k = 0; k < made.size(); ++k) {
      values_[{id, static_cast<int32_t>(k)}] = made[k];
    }
    return absl::OkStatus();
  }

  Value At(Value v) const { return values_.at(v); }
  ir::Graph Take() { return std::move(out_); }

 private:
  absl::StatusOr<std::vector<Value>> AddOp(const OpDef& op,
                                           std::vector<Value> in,
                                           const Attrs& attrs) {
    if (op.element || HasCarefulFunction(op.name) || whole_.count(op.name)) {
      ASSIGN_OR_RETURN(const NodeId id, out_.AddNode(op, in, attrs));
      return std::vector<Value>{{id, 0}};
    }
    if (op.expansion.empty()) {
      return Unsupported("CUDA: operator ", op.name, " has no kernel");
    }
    if (op.name == "softmax" || op.name == "log_softmax") {
      ASSIGN_OR_RETURN(in[0], BelowZero(in[0], attrs.Int("axis")));
    }
    const auto add = [&](const ir::Node& n,
                         std::vector<Value> operands) -> absl::StatusOr<Value> {
      ASSIGN_OR_RETURN(const std::vector<Value> made,
                       AddOp(*n.op, std::move(operands), *n.attrs));
      return made[0];
    };
    return AddExpansion(op, attrs, in, expansions_, out_, add);
  }

  // x minus its largest element along the axis, which changes no softmax and
  // keeps every exponential from overflowing.
  absl::StatusOr<Value> BelowZero(Value x, int64_t axis) {
    const TensorType type = out_.type(x);
    ASSIGN_OR_RETURN(Value most,
                     out_.Add("reduce_max", {x}, {{"axes", Ints{axis}}}));
    Ints dims;
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (d != axis) dims.push_back(d);
    }
    ASSIGN_OR_RETURN(most, out_.Add("broadcast", {most},
                                    {{"shape", type.shape}, {"dims", dims}}));
    return out_.Add("sub", {x, most});
  }

  const ir::Graph& graph_;
  ir::Graph out_;
  Values values_;
  ir::Expansions& expansions_;
  const std::set<std::string>& whole_;
};

}  // namespace

absl::StatusOr<ir::Graph> Prepare(const ir::Graph& graph,
                                  std::map<Value, Value>* values) {
  Preparation preparation(graph);
  ASSIGN_OR_RETURN(ir::Graph prepared, preparation.Run());
  if (values != nullptr) *values = preparation.values();
  return prepared;
}

absl::StatusOr<KernelGraph> OpenKernel(const ir::Graph& graph,
                                       absl::Span<const NodeId> nodes,
                                       absl::Span<const Value> inputs,
                                       absl::Span<const Value> outputs,
                                       ir::Expansions& expansions,
                                       const std::set<std::string>& whole) {
  KernelCopy copy(graph, expansions, whole);
  for (Value v : inputs) copy.AddInput(v);
  for (NodeId id : nodes) RETURN_IF_ERROR(copy.AddNode(id));
  KernelGraph out;
  for (Value v : inputs) out.inputs.push_back(copy.At(v));
  for (Value v : outputs) out.outputs.push_back(copy.At(v));
  out.graph = copy.Take();
  return out;
}

}  // namespace isomer::cuda

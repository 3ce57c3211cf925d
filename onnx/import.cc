// The importer: binds dimensions, then takes the model's nodes in order.
#include "onnx/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "onnx/mappings.h"
#include "ops/onnx_mapping.h"
#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

using ir::Graph;

// Values up to these sizes are computed at import when all inputs are known:
// shape arithmetic, and the scales of a resize.
constexpr int64_t kKnownInts = 1024;
constexpr int64_t kKnownFloats = 16;

// Turns the dimensions of the model's values into numbers.
class Binder {
 public:
  Binder(const Model& model, const ImportOptions& options)
      : model_(model), options_(options), dims_(options.dims) {}

  // Matches the given shapes against the inputs' named dimensions.
  absl::Status Bind() {
    for (const auto& [name, shape] : options_.shapes) {
      const ValueEntry* input = FindInput(name);
      if (input == nullptr) {
        return Invalid("--shape names '", name,
                       "', which is not an input of the model; it has ",
                       InputNames());
      }
      RETURN_IF_ERROR(BindShape(*input, shape));
    }
    return absl::OkStatus();
  }

  // The type of a value; nothing if it is no dense tensor of a known element
  // type, or a dimension is not bound, which `unbound` then names.
  std::optional<TensorType> TypeOf(const ValueEntry& v,
                                   std::string* unbound) const {
    const auto dtype = FromOnnxDType(v.elem_type);
    if (!dtype.ok()) return std::nullopt;
    TensorType type{*dtype, {}};
    if (auto it = options_.shapes.find(v.name); it != options_.shapes.end()) {
      type.shape = it->second;
      return type;
    }
    if (!v.dims) {
      *unbound = absl::StrCat("the rank of '", v.name, "'");
      return std::nullopt;
    }
    for (const Dim& d : *v.dims) {
      if (auto* n = std::get_if<int64_t>(&d); n != nullptr && *n >= 0) {
        type.shape.push_back(*n);
        continue;
      }
      auto* name = std::get_if<std::string>(&d);
      auto it = name ? dims_.find(*name) : dims_.end();
      if (it == dims_.end()) {
        *unbound = name ? absl::StrCat("dimension '", *name, "' of '", v.name,
                                       "' (--dim ", *name, "=N)")
                        : absl::StrCat("a dimension of '", v.name, "'");
        return std::nullopt;
      }
      type.shape.push_back(it->second);
    }
    return type;
  }

  const ImportOptions& options() const { return options_; }
  const std::map<std::string, int64_t>& dims() const { return dims_; }

 private:
  const ValueEntry* FindInput(absl::string_view name) const {
    for (const ValueEntry& v : model_.graph.inputs) {
      if (v.name == name) return &v;
    }
    return nullptr;
  }
  std::string InputNames() const {
    return absl::StrJoin(model_.graph.inputs, ", ",
                         [](std::string* out, const ValueEntry& v) {
                           absl::StrAppend(out, v.name);
                         });
  }
  absl::Status BindShape(const ValueEntry& input,
                         const std::vector<int64_t>& shape) {
    if (!input.dims) return absl::OkStatus();
    if (input.dims->size() != shape.size()) {
      return Invalid("--shape ", input.name, ": rank ", shape.size(),
                     " given, the model says ", input.dims->size());
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      const Dim& dim = (*input.dims)[d];
      if (auto* n = std::get_if<int64_t>(&dim); n && *n >= 0) {
        if (*n == shape[d]) continue;
        return Invalid("--shape ", input.name, ": dimension ", d, " is ", *n,
                       " in the model, ", shape[d], " given");
      }
      if (auto* name = std::get_if<std::string>(&dim)) {
        auto [it, fresh] = dims_.emplace(*name, shape[d]);
        if (fresh || it->second == shape[d]) continue;
        return Invalid("--shape ", input.name, ": dimension '", *name,
                       "' is given as ", it->second, " and as ", shape[d]);
      }
    }
    return absl::OkStatus();
  }

  const Model& model_;
  const ImportOptions& options_;
  std::map<std::string, int64_t> dims_;
};

// A value of the model on its way into the graph.
struct Named {
  Value value;
  // Why the type is not known, for inputs with an unbound dimension.
  std::string unbound;
};

class Importer;

// One node's view of the importer. It works on a copy of the graph, which is
// taken over only when the whole node has been imported.
class NodeImport : public OnnxImport {
 public:
  NodeImport(const Importer& importer, const Graph& graph, const OnnxNode& node,
             int opset)
      : importer_(importer), graph_(graph), node_(node), opset_(opset) {}

  const OnnxNode& node() const override { return node_; }
  int opset() const override { return opset_; }
  absl::StatusOr<Value> In(int i) override;
  const TensorType& type(Value v) const override { return graph_.type(v); }
  std::optional<Tensor> Known(int i) override;
  absl::StatusOr<Value> Add(absl::string_view op, std::vector<Value> inputs,
                            Attrs attrs) override {
    ASSIGN_OR_RETURN(Value v, graph_.Add(op, inputs, attrs));
    nodes_.push_back(v.node);
    return v;
  }
  absl::StatusOr<Value> Constant(Tensor tensor) override {
    Value v = graph_.AddConstant(ir::Constant::FromTensor(tensor));
    nodes_.push_back(v.node);
    return v;
  }

  Graph TakeGraph() { return std::move(graph_); }
  std::vector<NodeId> TakeNodes() { return std::move(nodes_); }

 private:
  const Importer& importer_;
  Graph graph_;
  const OnnxNode& node_;
  int opset_;
  std::vector<NodeId> nodes_;
};

class Importer {
 public:
  Importer(std::shared_ptr<const Model> model, const ImportOptions& options)
      : model_(std::move(model)), binder_(*model_, options) {}

  absl::StatusOr<ImportedModel> Run() {
    RETURN_IF_ERROR(binder_.Bind());
    RETURN_IF_ERROR(AddLeaves());
    for (const ValueEntry& v : model_->graph.value_infos) infos_[v.name] = &v;
    for (const ValueEntry& v : model_->graph.outputs) infos_[v.name] = &v;
    for (const FunctionEntry& f : model_->functions) {
      functions_.insert({f.domain, f.name});
    }
    const auto& nodes = model_->graph.nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      absl::Status s = AddNode(nodes[i], static_cast<int64_t>(i));
      if (!s.ok()) {
        return Prefixed(
            absl::StrCat(model_->path, ": ", NodeText(nodes[i].node, i), ": "),
            s);
      }
    }
    for (const ValueEntry& v : model_->graph.outputs) {
      graph_.AddOutput(v.name, values_.at(v.name).value);
    }
    return ImportedModel{model_,
                         std::move(graph_),
                         std::move(groups_),
                         std::move(names_),
                         binder_.options(),
                         binder_.dims()};
  }

  const Named* Find(absl::string_view name) const {
    auto it = values_.find(std::string(name));
    return it == values_.end() ? nullptr : &it->second;
  }
  const Tensor* Known(Value v) const {
    auto it = known_.find(v);
    return it == known_.end() ? nullptr : &it->second;
  }

 private:
  void Define(const std::string& name, Value value, std::string unbound = "") {
    graph_.SetMark(value, static_cast<int32_t>(names_.size()));
    names_.push_back(name);
    values_[name] = {value, std::move(unbound)};
  }

  absl::Status AddLeaves() {
    std::set<std::string> initialized;
    for (const TensorEntry& t : model_->graph.initializers) {
      initialized.insert(t.name);
    }
    // From IR 4 on, an initializer that is also an input is only a default
    // that the caller may override, so it is no constant.
    std::set<std::string> overridable;
    for (const ValueEntry& v : model_->graph.inputs) {
      if (initialized.count(v.name) && model_->ir_version < 4) continue;
      overridable.insert(v.name);
      std::string unbound;
      std::optional<TensorType> type = binder_.TypeOf(v, &unbound);
      Define(v.name, graph_.AddInput(v.name, std::move(type)), unbound);
    }
    for (const TensorEntry& t : model_->graph.initializers) {
      if (overridable.count(t.name)) continue;
      RETURN_IF_ERROR(AddInitializer(t));
    }
    for (const SparseEntry& t : model_->graph.sparse_initializers) {
      AddOpaqueLeaf("sparse initializer", t.values.name);
    }
    return absl::OkStatus();
  }

  void AddOpaqueLeaf(absl::string_view what, const std::string& name) {
    NodeId id = graph_.AddOpaque({std::string(what), name}, {}, {std::nullopt});
    Define(name, {id, 0});
  }

  absl::Status AddInitializer(const TensorEntry& t) {
    const auto dtype = FromOnnxDType(t.dtype);
    if (!dtype.ok() || t.place == TensorEntry::Place::kStrings) {
      AddOpaqueLeaf("initializer", t.name);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(SharedBytes bytes, TensorBytes(t));
    ASSIGN_OR_RETURN(auto constant,
                     ir::Constant::FromBytes({*dtype, t.dims}, bytes, t.name));
    Define(t.name, graph_.AddConstant(std::move(constant)));
    return absl::OkStatus();
  }

  absl::Status AddNode(const NodeEntry& entry, int64_t position) {
    const OnnxNode& node = entry.node;
    ASSIGN_OR_RETURN(std::string reason, TryModel(node));
    if (!reason.empty()) AddOpaqueNode(entry, position, std::move(reason));
    const Group& group = groups_.back();
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].empty()) continue;
      Define(node.outputs[k], group.outputs[k]);
    }
    return absl::OkStatus();
  }

  // Adds the node's group; returns why it could not be modelled, "" if it was.
  absl::StatusOr<std::string> TryModel(const OnnxNode& node) {
    const int64_t opset = model_->OpsetVersion(node.domain);
    if (functions_.count({node.domain, node.op_type})) {
      return std::string("a function of the model");
    }
    const FromOnnx* from = FindImport(node.domain, node.op_type);
    if (from == nullptr) return std::string("unknown operator");
    if (node.IsOnnxDomain() && (opset < kMinOpset || opset > kMaxOpset)) {
      return absl::StrCat("operator set ", opset, " is not in [", kMinOpset,
                          ", ", kMaxOpset, "]");
    }
    NodeImport import(*this, graph_, node, static_cast<int>(opset));
    Imported outputs = (*from)(import);
    if (absl::IsUnimplemented(outputs.status())) {
      return std::string(outputs.status().message());
    }
    RETURN_IF_ERROR(outputs.status());
    for (size_t k = outputs->size(); k < node.outputs.size(); ++k) {
      if (!node.outputs[k].empty()) {
        return absl::StrCat("output ", k, " is not modelled");
      }
    }
    outputs->resize(node.outputs.size());
    const Graph grown = import.TakeGraph();
    ASSIGN_OR_RETURN(bool folded, FoldKnown(node, grown, *outputs));
    if (folded) return std::string();
    graph_ = grown;
    groups_.push_back({Distinct(import.TakeNodes()), *std::move(outputs), ""});
    return std::string();
  }

  static std::vector<NodeId> Distinct(std::vector<NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  // Where all inputs of a node are known and its outputs small, computes them
  // in `grown` and lets constants stand for the node.
  absl::StatusOr<bool> FoldKnown(const OnnxNode& node, const Graph& grown,
                                 const std::vector<Value>& outputs) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.HasInput(i)) continue;
      const Value v = Find(node.inputs[i])->value;
      if (!KnownTensor(grown, v)) return false;
    }
    std::vector<Tensor> tensors;
    for (Value v : outputs) {
      if (v.node.value < 0) {
        tensors.emplace_back();
        continue;
      }
      if (!SmallEnough(grown.type(v))) return false;
      absl::StatusOr<Tensor> t = Compute(grown, v);
      if (absl::IsUnimplemented(t.status())) return false;
      RETURN_IF_ERROR(t.status());
      tensors.push_back(*std::move(t));
    }
    Group group{{}, outputs, ""};
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].node.value < 0) continue;
      group.outputs[k] =
          graph_.AddConstant(ir::Constant::FromTensor(tensors[k]));
      known_[group.outputs[k]] = std::move(tensors[k]);
    }
    groups_.push_back(std::move(group));
    return true;
  }

  static bool SmallEnough(const TensorType& t) {
    return NumElements(t) <= (IsFloat(t.dtype) ? kKnownFloats : kKnownInts);
  }

  const Tensor* KnownTensor(const Graph& graph, Value v) {
    if (const Tensor* t = Known(v)) return t;
    const ir::Node& n = graph.node(v.node);
    if (n.kind != ir::Node::Kind::kConstant || !SmallEnough(graph.type(v))) {
      return nullptr;
    }
    // Only what is in the importer's own graph keeps its id.
    if (!graph_.Has(v.node)) return nullptr;
    return &(known_[v] = n.constant->ToTensor());
  }

  // Evaluates a value of `graph` from known ones.
  absl::StatusOr<Tensor> Compute(const Graph& graph, Value v) {
    if (const Tensor* t = KnownTensor(graph, v)) return *t;
    const ir::Node& n = graph.node(v.node);
    if (n.kind == ir::Node::Kind::kConstant) return n.constant->ToTensor();
    if (n.kind != ir::Node::Kind::kOp) return Unsupported("not computable");
    std::vector<Tensor> inputs;
    for (Value in : n.inputs) {
      ASSIGN_OR_RETURN(Tensor t, Compute(graph, in));
      inputs.push_back(std::move(t));
    }
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : inputs) pointers.push_back(&t);
    ASSIGN_OR_RETURN(std::vector<Tensor> out,
                     EvalOp(*n.op, pointers, *n.attrs, Interp::kRun));
    return std::move(out[v.output]);
  }

  void AddOpaqueNode(const NodeEntry& entry, int64_t position,
                     std::string reason) {
    const OnnxNode& node = entry.node;
    std::vector<Value> inputs;
    for (const std::string& name : node.inputs) {
      if (!name.empty()) inputs.push_back(Find(name)->value);
    }
    for (const std::string& name : entry.captured) {
      inputs.push_back(Find(name)->value);
    }
    std::vector<std::optional<TensorType>> types;
    for (const std::string& name : node.outputs) {
      auto it = infos_.find(name);
      std::string unbound;
      types.push_back(it == infos_.end()
                          ? std::nullopt
                          : binder_.TypeOf(*it->second, &unbound));
    }
    std::string op = node.IsOnnxDomain()
                         ? node.op_type
                         : absl::StrCat(node.domain, ":", node.op_type);
    std::string key =
        node.outputs.empty() ? absl::StrCat("#", position) : node.outputs[0];
    NodeId id = graph_.AddOpaque({std::move(op), std::move(key)}, inputs,
                                 std::move(types));
    Group group{{id}, {}, std::move(reason)};
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      group.outputs.push_back({id, static_cast<int32_t>(k)});
    }
    groups_.push_back(std::move(group));
  }

  std::shared_ptr<const Model> model_;
  Binder binder_;
  Graph graph_;
  std::vector<Group> groups_;
  std::vector<std::string> names_;
  std::map<std::string, Named> values_;
  std::map<Value, Tensor> known_;
  std::map<std::string, const ValueEntry*> infos_;
  std::set<std::pair<std::string, std::string>> functions_;
};

absl::StatusOr<Value> NodeImport::In(int i) {
  if (!Has(i)) return Invalid("input ", i, " is missing");
  const Named* named = importer_.Find(node_.inputs[i]);
  if (graph_.FindType(named->value) != nullptr) return named->value;
  if (!named->unbound.empty()) {
    return Invalid(named->unbound, " is not bound to a number");
  }
  return Unsupported("the type of '", node_.inputs[i], "' is not known");
}

std::optional<Tensor> NodeImport::Known(int i) {
  if (!Has(i)) return std::nullopt;
  const Value v = importer_.Find(node_.inputs[i])->value;
  if (const Tensor* t = importer_.Known(v)) return *t;
  const ir::Node& n = graph_.node(v.node);
  if (n.kind != ir::Node::Kind::kConstant) return std::nullopt;
  return n.constant->ToTensor();
}

}  // namespace

absl::StatusOr<ImportedModel> ImportModel(std::shared_ptr<const Model> model,
                                          const ImportOptions& options) {
  return Importer(std::move(model), options).Run();
}

absl::StatusOr<ImportedModel> ImportFile(const std::string& path,
                                         const ImportOptions& options) {
  ASSIGN_OR_RETURN(Model model, ReadModel(path));
  return ImportModel(std::make_shared<const Model>(std::move(model)), options);
}

}  // namespace isomer::onnx

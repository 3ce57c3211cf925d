// The exporter. Everything that is to be written is an item: a group of the
// original model kept verbatim, a graph node written anew, or a constant
// subgraph folded. Items are found from what must be there (outputs, opaque
// nodes, values that were unused from the start), ordered, and written.
#include "onnx/export.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "graph/fold.h"
#include "onnx/encode.h"
#include "onnx/export_node.h"
#include "onnx/export_split.h"
#include "ops/onnx_mapping.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

using ir::Graph;
using ir::Node;

struct Item {
  enum Kind { kLeaf, kGroup, kNode, kSplit, kFold } kind = kLeaf;
  int32_t index = -1;  // group number, or node id; kSplit: of the first part
  int32_t output = 0;  // kFold: which output
  friend auto operator<=>(const Item&, const Item&) = default;
};

class Exporter {
 public:
  Exporter(const ImportedModel& imported, const Graph& graph,
           const ExportOptions& options)
      : in_(imported),
        model_(*imported.model),
        graph_(graph),
        options_(options) {}

  absl::StatusOr<ExportedModel> Run() {
    FindNames();
    FindKept();
    for (const Item& item : Ordered(Demanded())) {
      RETURN_IF_ERROR(Write(item));
    }
    for (const ValueEntry& v : model_.graph.outputs) {
      RETURN_IF_ERROR(WriteOutput(v.name));
    }
    return Finish();
  }

 private:
  // ---- What the names of the model stand for now

  void FindNames() {
    for (int32_t i = 0; i < graph_.id_bound(); ++i) {
      if (!graph_.Has({i})) continue;
      for (const ir::Mark& m : graph_.marks({i})) {
        const Value v{{i}, m.output};
        current_[in_.names[m.mark]] = v;
        names_of_[v].push_back(in_.names[m.mark]);
      }
    }
    for (size_t g = 0; g < in_.groups.size(); ++g) {
      const OnnxNode& node = model_.graph.nodes[g].node;
      for (const std::string& name : node.outputs) {
        if (!name.empty()) producer_[name] = static_cast<int32_t>(g);
      }
      for (const std::string& name : UsesOf(g)) used_.insert(name);
    }
    for (const ValueEntry& v : model_.graph.outputs) used_.insert(v.name);
    for (const TensorEntry& t : model_.graph.initializers) {
      leaves_.insert(t.name);
    }
    for (const SparseEntry& t : model_.graph.sparse_initializers) {
      leaves_.insert(t.values.name);
    }
    for (const ValueEntry& v : model_.graph.inputs) leaves_.insert(v.name);
    taken_ = leaves_;
    for (const auto& [name, g] : producer_) taken_.insert(name);
    for (const ValueEntry& v : model_.graph.outputs) taken_.insert(v.name);
  }

  std::vector<std::string> UsesOf(size_t group) const {
    const NodeEntry& entry = model_.graph.nodes[group];
    std::vector<std::string> uses;
    for (const std::string& name : entry.node.inputs) {
      if (!name.empty()) uses.push_back(name);
    }
    uses.insert(uses.end(), entry.captured.begin(), entry.captured.end());
    return uses;
  }

  // A group is kept if its nodes are all there and each of its names still
  // stands for its own output.
  void FindKept() {
    kept_.resize(in_.groups.size());
    for (size_t g = 0; g < in_.groups.size(); ++g) {
      const Group& group = in_.groups[g];
      const OnnxNode& node = model_.graph.nodes[g].node;
      bool kept = !options_.rebuild || !group.opaque_reason.empty();
      for (NodeId id : group.nodes) kept &= graph_.Has(id);
      for (size_t k = 0; kept && k < node.outputs.size(); ++k) {
        if (node.outputs[k].empty() || group.nodes.empty()) continue;
        auto it = current_.find(node.outputs[k]);
        kept = it != current_.end() && it->second == group.outputs[k];
      }
      kept_[g] = kept;
    }
  }

  // The group that still makes what the model calls `name`; -1 if none does.
  int32_t KeptGroup(const std::string& name) const {
    auto it = producer_.find(name);
    return it != producer_.end() && kept_[it->second] ? it->second : -1;
  }

  // True if the group computes `v` itself: one that only hands its input on (a
  // Reshape to the same shape) does not.
  bool Makes(int32_t g, Value v) const {
    const std::vector<NodeId>& own = in_.groups[g].nodes;
    if (own.empty()) {
      return graph_.node(v.node).kind == Node::Kind::kConstant;
    }
    return std::binary_search(own.begin(), own.end(), v.node);
  }

  // A name of the model that gives `v` with nothing written anew: that of a
  // leaf or of a kept group that makes it. Null if there is none.
  const std::string* StandingName(Value v) const {
    auto names = names_of_.find(v);
    if (names == names_of_.end()) return nullptr;
    for (const std::string& name : names->second) {
      if (leaves_.count(name)) return &name;
      const int32_t g = KeptGroup(name);
      if (g >= 0 && Makes(g, v)) return &name;
    }
    return nullptr;
  }

  // ---- Items and what they depend on

  Item ItemOf(const std::string& name) const {
    if (leaves_.count(name)) return {};
    const int32_t g = KeptGroup(name);
    return g >= 0 ? Item{Item::kGroup, g} : ItemOf(current_.at(name));
  }

  Item ItemOf(Value v) const {
    const Node& n = graph_.node(v.node);
    if (n.kind == Node::Kind::kInput) return {};
    if (const std::string* name = StandingName(v)) return ItemOf(*name);
    if (n.kind == Node::Kind::kConstant || MayFold(graph_, v)) {
      return {Item::kFold, v.node.value, v.output};
    }
    if (std::optional<SplitForm> split = FindSplit(graph_, v.node);
        split && std::none_of(split->parts.begin(), split->parts.end(),
                              [&](NodeId part) {
                                return StandingName({part, 0});
                              })) {
      return {Item::kSplit, split->parts[0].value};
    }
    return {Item::kNode, v.node.value};
  }

  std::vector<Item> Dependencies(const Item& item) const {
    std::vector<Item> out;
    if (item.kind == Item::kGroup) {
      for (const std::string& name : UsesOf(item.index)) {
        out.push_back(ItemOf(name));
      }
    } else if (item.kind == Item::kNode) {
      for (const auto& o : NodeForm(graph_, {item.index}).operands) {
        if (!o.literal) out.push_back(ItemOf(o.value));
      }
    } else if (item.kind == Item::kSplit) {
      out.push_back(ItemOf(graph_.node({item.index}).inputs[0]));
    }
    return out;
  }

  // All items that must be written.
  std::set<Item> Demanded() const {
    std::vector<Item> todo;
    for (const ValueEntry& v : model_.graph.outputs) {
      todo.push_back(ItemOf(v.name));
    }
    for (size_t g = 0; g < in_.groups.size(); ++g) {
      const OnnxNode& node = model_.graph.nodes[g].node;
      const bool unused =
          std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](const std::string& o) { return used_.count(o); });
      if (kept_[g] && (unused || !in_.groups[g].opaque_reason.empty())) {
        todo.push_back({Item::kGroup, static_cast<int32_t>(g)});
      }
    }
    std::set<Item> seen;
    while (!todo.empty()) {
      const Item item = todo.back();
      todo.pop_back();
      if (item.kind == Item::kLeaf || !seen.insert(item).second) continue;
      for (const Item& d : Dependencies(item)) todo.push_back(d);
    }
    return seen;
  }

  // The items, each after those it depends on, groups in their old order as
  // far as that allows.
  std::vector<Item> Ordered(const std::set<Item>& items) const {
    std::vector<Item> order;
    std::set<Item> seen;
    for (const Item& root : items) {  // groups sort first, by number
      std::vector<std::pair<Item, std::vector<Item>>> stack;
      auto push = [&](const Item& item) {
        if (item.kind == Item::kLeaf || !seen.insert(item).second) return;
        std::vector<Item> deps = Dependencies(item);
        std::reverse(deps.begin(), deps.end());
        stack.push_back({item, std::move(deps)});
      };
      push(root);
      while (!stack.empty()) {
        if (stack.back().second.empty()) {
          order.push_back(stack.back().first);
          stack.pop_back();
          continue;
        }
        const Item next = stack.back().second.back();
        stack.back().second.pop_back();
        push(next);
      }
    }
    return order;
  }

  // ---- Writing

  absl::Status Write(const Item& item) {
    switch (item.kind) {
      case Item::kLeaf:
        return absl::OkStatus();
      case Item::kGroup:
        return WriteGroup(item.index);
      case Item::kNode:
        anew_.push_back({item.index});
        return WriteNode({item.index});
      case Item::kSplit:
        anew_.push_back({item.index});
        return WriteSplit(*FindSplit(graph_, {item.index}));
      case Item::kFold:
        return WriteFold({{item.index}, item.output});
    }
    return absl::OkStatus();
  }

  // The name under which a value of the model is found in the output.
  std::string NameNow(const std::string& name) {
    if (leaves_.count(name)) {
      read_.insert(name);
      return name;
    }
    return KeptGroup(name) >= 0 ? name : NameNow(current_.at(name));
  }

  std::string NameNow(Value v) {
    if (auto it = written_.find(v); it != written_.end()) return it->second;
    if (const std::string* name = StandingName(v)) return NameNow(*name);
    return *graph_.node(v.node).name;  // a graph input
  }

  absl::Status WriteGroup(int32_t g) {
    NodeEntry entry = model_.graph.nodes[g];
    for (const std::string& name : entry.captured) {
      // A subgraph cannot be renamed; an Identity brings the old name back.
      if (NameNow(name) != name) WriteIdentity(NameNow(name), name);
    }
    std::vector<std::string> inputs = entry.node.inputs;
    for (std::string& name : inputs) {
      if (!name.empty()) name = NameNow(name);
    }
    if (inputs != entry.node.inputs) {
      entry = Rewired(entry, std::move(inputs), entry.node.outputs);
      ++result_.renamed;
    }
    nodes_.push_back(std::move(entry));
    ++result_.kept;
    return absl::OkStatus();
  }

  // A name for a new value: the one it has in the model, if nobody has it.
  std::string NewName(Value v) {
    for (const std::string& name : names_of_[v]) {
      if (given_.insert(name).second) return name;
    }
    return FreshName();
  }
  std::string FreshName() {
    while (true) {
      std::string name = absl::StrCat("isomer_", counter_++);
      if (taken_.insert(name).second) return name;
    }
  }

  absl::Status WriteNode(NodeId id) {
    const NodeForm form(graph_, id);
    NodeWriter writer(
        graph_, form, model_.OpsetVersion(""),
        [&](Value v) { return NameNow(v); }, [&] { return FreshName(); });
    ASSIGN_OR_RETURN(std::vector<std::string> made, writer.Write());
    std::set<std::string> emitted;
    for (const OnnxNode& node : writer.nodes()) {
      emitted.insert(node.outputs.begin(), node.outputs.end());
    }
    std::map<std::string, std::string> rename;
    for (size_t k = 0; k < made.size(); ++k) {
      const Value v{id, static_cast<int32_t>(k)};
      written_[v] = made[k];  // an operand itself, where nothing was needed
      if (emitted.count(made[k])) rename[made[k]] = written_[v] = NewName(v);
    }
    for (OnnxNode& node : writer.nodes()) {
      for (auto* list : {&node.inputs, &node.outputs}) {
        for (std::string& name : *list) {
          if (auto it = rename.find(name); it != rename.end()) {
            name = it->second;
          }
        }
      }
      nodes_.push_back(NewNode(std::move(node)));
      ++result_.made;
    }
    for (auto& [name, tensor] : writer.constants()) {
      AddInitializer(name, tensor);
    }
    return absl::OkStatus();
  }

  absl::Status WriteSplit(const SplitForm& split) {
    OnnxNode node;
    node.op_type = "Split";
    node.inputs = {NameNow(split.source)};
    node.attrs = {{"axis", split.axis}};
    if (model_.OpsetVersion("") < 13) {
      node.attrs.push_back({"split", split.sizes});
    } else {
      node.inputs.push_back(FreshName());
      AddInitializer(
          node.inputs[1],
          FromInts({DType::kI64, {static_cast<int64_t>(split.sizes.size())}},
                   split.sizes));
    }
    for (NodeId part : split.parts) {
      node.outputs.push_back(written_[{part, 0}] = NewName({part, 0}));
    }
    nodes_.push_back(NewNode(std::move(node)));
    ++result_.made;
    return absl::OkStatus();
  }

  void AddInitializer(const std::string& name, const Tensor& t) {
    initializers_.push_back(NewTensor(name, OnnxDType(t.type.dtype),
                                      t.type.shape,
                                      SharedBytes::Own(ToBytes(t))));
  }

  absl::Status WriteFold(Value v) {
    const Node& n = graph_.node(v.node);
    const std::string name = NewName(v);
    written_[v] = name;
    if (n.kind == Node::Kind::kConstant) {
      const TensorType& type = n.constant->type();
      initializers_.push_back(NewTensor(name, OnnxDType(type.dtype), type.shape,
                                        n.constant->bytes()));
      return absl::OkStatus();
    }
    SharedBytes bytes;
    if (!options_.nodes_only) {
      ASSIGN_OR_RETURN(bytes, ir::FoldConstant(graph_, v, options_.run));
    }
    const TensorType& type = graph_.type(v);
    initializers_.push_back(
        NewTensor(name, OnnxDType(type.dtype), type.shape, std::move(bytes)));
    ++result_.folded;
    return absl::OkStatus();
  }

  void WriteIdentity(const std::string& from, const std::string& to) {
    if (!identities_.insert(to).second) return;
    OnnxNode node;
    node.op_type = "Identity";
    node.inputs = {from};
    node.outputs = {to};
    nodes_.push_back(NewNode(std::move(node)));
    ++result_.made;
  }

  absl::Status WriteOutput(const std::string& name) {
    const std::string now = NameNow(name);
    if (now != name) WriteIdentity(now, name);
    return absl::OkStatus();
  }

  // ---- Putting the model together

  absl::StatusOr<ExportedModel> Finish() {
    Model& out = result_.model;
    out = model_;
    out.graph.nodes = std::move(nodes_);
    // An initializer goes when all that used it went; new ones come last.
    // Before IR version 4 each was listed as an input too, which goes with it;
    // later such an input has the initializer as its default and keeps it.
    const bool listed = model_.ir_version < 4;
    std::set<std::string> inputs, gone;
    for (const ValueEntry& v : model_.graph.inputs) inputs.insert(v.name);
    std::vector<TensorEntry> initializers;
    for (const TensorEntry& t : model_.graph.initializers) {
      if (read_.count(t.name) || !used_.count(t.name) ||
          (!listed && inputs.count(t.name))) {
        initializers.push_back(t);
      } else {
        gone.insert(t.name);
      }
    }
    std::erase_if(out.graph.inputs,
                  [&](const ValueEntry& v) { return gone.count(v.name) > 0; });
    out.graph.initializers = std::move(initializers);
    for (TensorEntry& t : initializers_) {
      onnx::AddInitializer(std::move(t), &out);
    }
    DropInfosOfGoneValues(out.graph);
    RETURN_IF_ERROR(FixDims(out.graph));
    if (!options_.nodes_only) RETURN_IF_ERROR(CheckModel(out));
    return std::move(result_);
  }

  void DropInfosOfGoneValues(GraphEntry& g) const {
    std::set<std::string> defined;
    for (const NodeEntry& n : g.nodes) {
      defined.insert(n.node.outputs.begin(), n.node.outputs.end());
    }
    std::erase_if(g.value_infos, [&](const ValueEntry& v) {
      return producer_.count(v.name) && !defined.count(v.name);
    });
  }

  // A bound dimension keeps its name if what is new does not depend on it.
  absl::Status FixDims(GraphEntry& g) {
    if (in_.bound.empty() || result_.made + result_.folded == 0) {
      return absl::OkStatus();
    }
    std::set<std::string> open;
    if (options_.equal) {
      open = OpenDims({in_, graph_, kept_, anew_}, options_.equal);
    }
    std::set<std::string> fixed;
    for (auto* list : {&g.inputs, &g.outputs, &g.value_infos}) {
      for (ValueEntry& v : *list) {
        if (!v.dims) continue;
        std::vector<Dim> dims = *v.dims;
        for (Dim& d : dims) {
          auto* name = std::get_if<std::string>(&d);
          if (name == nullptr || !in_.bound.count(*name)) continue;
          if (open.count(*name)) continue;
          fixed.insert(*name);
          d = in_.bound.at(*name);
        }
        if (dims == *v.dims) continue;
        ASSIGN_OR_RETURN(v, WithDims(v, std::move(dims)));
      }
    }
    result_.fixed_dims.assign(fixed.begin(), fixed.end());
    return absl::OkStatus();
  }

  const ImportedModel& in_;
  const Model& model_;
  const Graph& graph_;
  const ExportOptions& options_;
  std::map<std::string, Value> current_;
  std::map<Value, std::vector<std::string>> names_of_;
  std::map<std::string, int32_t> producer_;  // name -> group
  std::set<std::string> leaves_;             // inputs and initializers
  std::set<std::string> used_;               // names that the model uses
  std::vector<bool> kept_;
  std::vector<NodeId> anew_;  // nodes written anew

  ExportedModel result_;
  std::vector<NodeEntry> nodes_;
  std::vector<TensorEntry> initializers_;
  std::map<Value, std::string> written_;
  std::set<std::string> read_;   // leaves that the output uses
  std::set<std::string> taken_;  // names that are not free
  std::set<std::string> given_;  // old names given to new values
  std::set<std::string> identities_;
  int counter_ = 0;
};

}  // namespace

absl::StatusOr<ExportedModel> ExportModel(const ImportedModel& imported,
                                          const Graph& graph,
                                          const ExportOptions& options) {
  return Exporter(imported, graph, options).Run();
}

namespace {

ValueEntry EntryOf(const std::string& name, const TensorType& type) {
  ValueEntry entry;
  entry.name = name;
  entry.elem_type = OnnxDType(type.dtype);
  entry.dims.emplace(type.shape.begin(), type.shape.end());
  return entry;
}

// The IR version that came with an operator set, near enough.
int64_t IrVersionFor(int64_t opset) { return opset < 15 ? 7 : 8; }

}  // namespace

absl::StatusOr<Model> ModelFromGraph(const Graph& graph, int64_t opset,
                                     const ExportOptions& options) {
  ASSIGN_OR_RETURN(Model model,
                   NewModel(IrVersionFor(opset), {{"", opset}}, "isomer"));
  Graph named = graph;
  std::vector<std::string> names;
  for (NodeId id : graph.inputs()) {
    const TensorType* type = graph.FindType({id, 0});
    const std::string& name = *graph.node(id).name;
    if (type == nullptr) return Invalid("input '", name, "' has no known type");
    model.graph.inputs.push_back(EntryOf(name, *type));
    named.SetMark({id, 0}, static_cast<int32_t>(names.size()));
    names.push_back(name);
  }
  for (NodeId id : graph.Order()) {
    if (graph.node(id).kind == Node::Kind::kOpaque) {
      return Invalid("'", graph.node(id).opaque->key, "' (",
                     graph.node(id).opaque->op,
                     ") is opaque and has no form outside its model");
    }
  }
  for (const ir::Output& o : graph.outputs()) {
    model.graph.outputs.push_back(EntryOf(o.name, graph.type(o.value)));
    named.SetMark(o.value, static_cast<int32_t>(names.size()));
    names.push_back(o.name);
  }
  const ImportedModel empty{std::make_shared<const Model>(std::move(model)),
                            named,
                            {},
                            std::move(names),
                            {},
                            {}};
  ASSIGN_OR_RETURN(ExportedModel out, ExportModel(empty, named, options));
  return std::move(out.model);
}

}  // namespace isomer::onnx

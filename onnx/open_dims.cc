// All dimensions are tried together at small sizes first, which is cheap and
// mostly settles it; then each alone, the others at the sizes they have.
#include "onnx/open_dims.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/copy.h"
#include "graph/evaluate.h"
#include "onnx/encode.h"
#include "onnx/export_node.h"
#include "onnx/export_split.h"
#include "ops/status.h"

namespace isomer::onnx {

namespace {

using ir::Graph;
using Sizes = std::map<std::string, int64_t>;

// Other sizes are tried on models of up to so many operations (about a second),
// until it was done so many times.
constexpr int64_t kMostFlops = 2'000'000'000;
constexpr int kTrials = 2;

// What the options of an import become when its dimensions have these sizes.
ImportOptions OptionsAt(const ImportedModel& from, const Sizes& sizes) {
  ImportOptions options = from.options;
  for (const auto& [name, size] : sizes) options.dims[name] = size;
  for (const ValueEntry& v : from.model->graph.inputs) {
    auto it = options.shapes.find(v.name);
    if (it == options.shapes.end() || !v.dims) continue;
    for (size_t d = 0; d < v.dims->size(); ++d) {
      auto* name = std::get_if<std::string>(&(*v.dims)[d]);
      if (name == nullptr) continue;
      if (auto s = sizes.find(*name); s != sizes.end()) {
        it->second[d] = s->second;
      }
    }
  }
  return options;
}

int64_t FlopsOf(const Graph& g) {
  int64_t flops = 0;
  for (NodeId id : g.Order()) {
    const ir::Node& n = g.node(id);
    if (n.op != nullptr) flops += ir::FlopsOf(g, id);
  }
  return flops;
}

// The nodes of kept groups at other sizes, and constants by their names.
class Elsewhere {
 public:
  Elsewhere(const RewrittenModel& rewritten, const ImportedModel& other)
      : graph_(rewritten.graph), other_(other) {
    const ImportedModel& from = rewritten.from;
    for (size_t g = 0; g < from.groups.size(); ++g) {
      const std::vector<NodeId>&here = from.groups[g].nodes,
            &there = other.groups[g].nodes;
      if (!rewritten.kept[g] || here.size() != there.size()) continue;
      for (size_t k = 0; k < here.size(); ++k) nodes_[here[k]] = there[k];
    }
    std::map<std::string, NodeId> constants;
    for (NodeId id : other.graph.Order()) {
      if (other.graph.node(id).constant == nullptr) continue;
      for (const ir::Mark& m : other.graph.marks(id)) {
        constants[other.names[m.mark]] = id;
      }
    }
    for (NodeId id : graph_.Order()) {
      if (graph_.node(id).constant == nullptr) continue;
      for (const ir::Mark& m : graph_.marks(id)) {
        auto it = constants.find(from.names[m.mark]);
        if (it != constants.end()) nodes_[id] = it->second;
      }
    }
    for (NodeId id : other.graph.inputs()) {
      inputs_[*other.graph.node(id).name] = id;
    }
  }

  // The rewritten graph there.
  absl::StatusOr<ir::GraphCopy> Copy() {
    return ir::CopyGraph(
        graph_, [this](NodeId id, absl::Span<const Value> in, Graph& copy) {
          return Replace(id, in, copy);
        });
  }

 private:
  using Replacement = absl::StatusOr<std::optional<NodeId>>;

  Replacement Replace(NodeId id, absl::Span<const Value> in, Graph& copy) {
    const ir::Node& n = graph_.node(id);
    if (n.kind == ir::Node::Kind::kInput) {
      const ir::Node& there = other_.graph.node(inputs_.at(*n.name));
      return copy.AddInput(*n.name, (*there.types)[0]).node;
    }
    if (auto it = nodes_.find(id); it != nodes_.end()) {
      const ir::Node& there = other_.graph.node(it->second);
      if (there.constant) return copy.AddConstant(there.constant).node;
      if (there.op == nullptr) return std::nullopt;
      return copy.AddNode(*there.op, in, *there.attrs);
    }
    if (n.op == nullptr) return std::nullopt;
    if (n.op->onnx.broadcasts) return Stretched(n, in, copy);
    if (!n.Is("fill") && !n.Is("broadcast")) return std::nullopt;
    // What ONNX's broadcasting does gets its shape where it is used; whoever
    // else uses it finds the shape it has here, or a type that is wrong.
    stretched_[id] = {in.begin(), in.end()};
    absl::StatusOr<NodeId> made = copy.AddNode(*n.op, in, *n.attrs);
    return made.ok() ? *made : in[0].node;
  }

  // An operator some of whose operands are stretched to the shape of another.
  Replacement Stretched(const ir::Node& n, absl::Span<const Value> in,
                        Graph& copy) {
    const std::vector<int64_t>* shape = nullptr;
    for (size_t i = 0; i < in.size() && shape == nullptr; ++i) {
      if (stretched_.count(n.inputs[i].node)) continue;
      const TensorType* type = copy.FindType(in[i]);
      if (type == nullptr) return std::nullopt;
      shape = &type->shape;
    }
    if (shape == nullptr) return std::nullopt;
    const std::vector<int64_t> wanted = *shape;
    std::vector<Value> operands(in.begin(), in.end());
    for (size_t i = 0; i < in.size(); ++i) {
      auto it = stretched_.find(n.inputs[i].node);
      if (it == stretched_.end()) continue;
      const ir::Node& small = graph_.node(it->first);
      Attrs attrs = *small.attrs;
      attrs.Set("shape", wanted);
      ASSIGN_OR_RETURN(NodeId made, copy.AddNode(*small.op, it->second, attrs));
      operands[i] = {made, 0};
    }
    return copy.AddNode(*n.op, operands, *n.attrs);
  }

  const Graph& graph_;
  const ImportedModel& other_;
  // Fills and broadcasts with what they read there.
  std::map<NodeId, std::vector<Value>> stretched_;
  std::map<NodeId, NodeId> nodes_;
  std::map<std::string, NodeId> inputs_;
};

// What would be written for a node, names left out.
absl::StatusOr<std::string> WordsFor(const Graph& g, NodeId id, int64_t opset) {
  if (std::optional<SplitForm> split = FindSplit(g, id)) {
    return absl::StrCat("Split ", split->axis, ":",
                        absl::StrJoin(split->sizes, ","));
  }
  const NodeForm form(g, id);
  NodeWriter writer(
      g, form, opset, [](Value) { return "x"; }, [] { return "y"; });
  RETURN_IF_ERROR(writer.Write().status());
  std::string words;
  for (const OnnxNode& node : writer.nodes()) {
    absl::StrAppend(&words, EncodeNode(node), "\n");
  }
  for (const auto& [name, tensor] : writer.constants()) {
    absl::StrAppend(&words, ToBytes(tensor), "\n");
  }
  return words;
}

enum class Outcome { kHolds, kFails, kNoTrial };

// Takes the rewritten graph to other sizes; kNoTrial if the model itself does
// not go there.
Outcome Try(const RewrittenModel& r, const Sizes& sizes,
            const GraphsEqual& equal) {
  const ImportedModel& from = r.from;
  absl::StatusOr<ImportedModel> other =
      ImportModel(from.model, OptionsAt(from, sizes));
  if (!other.ok()) return Outcome::kNoTrial;
  for (size_t g = 0; g < from.groups.size(); ++g) {
    if (!other->groups[g].opaque_reason.empty()) return Outcome::kNoTrial;
  }
  if (FlopsOf(other->graph) > kMostFlops) return Outcome::kNoTrial;
  absl::StatusOr<ir::GraphCopy> copy = Elsewhere(r, *other).Copy();
  if (!copy.ok()) return Outcome::kFails;
  const int64_t opset = from.model->OpsetVersion("");
  for (NodeId id : r.written) {
    const NodeId to = copy->to[id.value];
    if (r.graph.node(id).op != copy->graph.node(to).op) return Outcome::kFails;
    auto here = WordsFor(r.graph, id, opset);
    auto there = WordsFor(copy->graph, to, opset);
    if (!here.ok() || !there.ok() || *here != *there) return Outcome::kFails;
  }
  return equal(other->graph, copy->graph) ? Outcome::kHolds : Outcome::kFails;
}

// True if `sizes(k)`, k = 0, 1, ..., which ends with nothing, has enough sizes
// that could be tried and all of them hold.
template <class F>
bool Holds(const RewrittenModel& r, const GraphsEqual& equal, F sizes) {
  int held = 0;
  for (int k = 0; held < kTrials; ++k) {
    const std::optional<Sizes> trial = sizes(k);
    if (!trial) return false;
    switch (Try(r, *trial, equal)) {
      case Outcome::kHolds:
        ++held;
        break;
      case Outcome::kFails:
        return false;
      case Outcome::kNoTrial:
        break;
    }
  }
  return true;
}

// The k-th other size to try for a dimension, nothing after the last one: small
// ones, then such as a model with fixed strides can take.
std::optional<int64_t> OtherSize(int64_t size, int k) {
  std::vector<int64_t> sizes;
  for (int64_t s : {int64_t{2}, int64_t{3}, int64_t{5}, size + 1, 2 * size,
                    size + 32, 3 * size}) {
    if (s != size) sizes.push_back(s);
  }
  if (k >= static_cast<int>(sizes.size())) return std::nullopt;
  return sizes[k];
}

}  // namespace

std::set<std::string> OpenDims(const RewrittenModel& rewritten,
                               const GraphsEqual& equal) {
  const Sizes& bound = rewritten.from.bound;
  auto together = [&](int k) -> std::optional<Sizes> {
    Sizes sizes;
    for (const auto& [name, size] : bound) {
      // Different dimensions get different sizes.
      std::optional<int64_t> s =
          OtherSize(size, k + static_cast<int>(sizes.size()) % 2);
      if (!s) return std::nullopt;
      sizes[name] = *s;
    }
    return sizes;
  };
  std::set<std::string> open;
  if (Holds(rewritten, equal, together)) {
    for (const auto& [name, size] : bound) open.insert(name);
    return open;
  }
  for (const auto& [name, size] : bound) {
    auto alone = [&, name = name, size = size](int k) -> std::optional<Sizes> {
      std::optional<int64_t> s = OtherSize(size, k);
      if (!s) return std::nullopt;
      Sizes sizes = bound;
      sizes[name] = *s;
      return sizes;
    };
    if (Holds(rewritten, equal, alone)) open.insert(name);
  }
  return open;
}

}  // namespace isomer::onnx

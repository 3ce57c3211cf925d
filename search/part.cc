// The values that the whole graph will look for are marked in the part's graph:
// marks follow a value when it is replaced by an equal one.
#include "search/part.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::search {

namespace {

// Marks of boundary values are above all marks of the model.
constexpr int32_t kBoundary = 1 << 29;

class Taker {
 public:
  Taker(const ir::Graph& whole, const Topology& topology,
        absl::Span<const NodeId> inner)
      : whole_(whole), topology_(topology), inner_(inner.begin(), inner.end()) {
    part_.inner.assign(inner.begin(), inner.end());
  }

  Part Run() {
    FindRing();
    // The order of the whole graph restricted to the part, so that equal parts
    // get equal ids.
    for (NodeId id : Ordered()) Copy(id);
    Mark();
    AddOutputs();
    return std::move(part_);
  }

  // The same without the part's graph: its ids are known beforehand.
  std::vector<uint64_t> Signature() {
    build_ = false;
    return Run().signature;
  }

 private:
  bool IsOp(NodeId id) const {
    return whole_.node(id).kind == ir::Node::Kind::kOp;
  }
  bool Inner(NodeId id) const { return inner_.count(id) > 0; }

  void FindRing() {
    for (NodeId id : part_.inner) {
      for (Value in : whole_.node(id).inputs) {
        if (!Inner(in.node) && IsOp(in.node) &&
            !topology_.constant[in.node.value]) {
          ring_.insert(in.node);
        }
      }
      for (NodeId user : whole_.users(id)) {
        if (!Inner(user) && IsOp(user)) {
          ring_.insert(user);
          below_.insert(user);
        }
      }
    }
  }

  // Inner and ring nodes in the whole's order, each preceded by the constants
  // it uses.
  std::vector<NodeId> Ordered() const {
    std::vector<NodeId> out;
    std::set<NodeId> seen;
    std::vector<std::pair<NodeId, size_t>> stack;
    auto constants = [&](NodeId root) {
      if (!topology_.constant[root.value] || !seen.insert(root).second) return;
      stack.push_back({root, 0});
      while (!stack.empty()) {
        auto& [id, next] = stack.back();
        const ir::Node& n = whole_.node(id);
        if (next == n.inputs.size()) {
          out.push_back(id);
          stack.pop_back();
          continue;
        }
        const NodeId in = n.inputs[next++].node;
        if (seen.insert(in).second) stack.push_back({in, 0});
      }
    };
    std::vector<std::pair<int, NodeId>> nodes;
    // Only the part's nodes are looked at, not the whole order.
    for (NodeId id : inner_) nodes.push_back({topology_.place[id.value], id});
    for (NodeId id : ring_) nodes.push_back({topology_.place[id.value], id});
    absl::c_sort(nodes);
    for (const auto& [place, id] : nodes) {
      for (Value in : whole_.node(id).inputs) constants(in.node);
      out.push_back(id);
    }
    return out;
  }

  void Sign(uint64_t x) { part_.signature.push_back(x); }
  void Sign(const TensorType& type) {
    Sign(static_cast<uint64_t>(type.dtype));
    Sign(type.shape.size() + 16 * type.device.size());
    for (int64_t d : type.shape) Sign(d);
    for (const auto& axis : type.device) {
      Sign(ir::HashText(axis.name));
      Sign(axis.size);
    }
  }

  // Counts ids as the part's graph does. Nodes of one graph differ, so no two
  // of them become one there.
  NodeId NextId() { return {next_id_++}; }
  NodeId Made(NodeId id) {
    Check(id == NextId(), "a part has as many nodes as were copied");
    return id;
  }

  void Map(NodeId id, NodeId to, bool frozen) {
    local_[id] = to;
    Note(to, {id, 0}, frozen);
  }
  void Note(NodeId local, Value whole, bool frozen) {
    part_.whole.resize(std::max<size_t>(part_.whole.size(), local.value + 1));
    part_.frozen.resize(part_.whole.size(), true);
    part_.whole[local.value] = whole;
    part_.frozen[local.value] = frozen;
  }

  // The part's value for an operand; a new input where it comes from outside.
  Value Local(Value v) {
    if (auto it = local_.find(v.node); it != local_.end()) {
      return {it->second, v.output};
    }
    if (auto it = inputs_.find(v); it != inputs_.end()) return it->second;
    const TensorType& type = whole_.type(v);
    const Value in = {
        build_ ? Made(part_.graph
                          .AddInput(absl::StrCat("in", inputs_.size()), type)
                          .node)
               : NextId(),
        0};
    Sign(type);
    Note(in.node, v, true);
    inputs_[v] = in;
    return in;
  }

  void Copy(NodeId id) {
    const ir::Node& n = whole_.node(id);
    if (n.kind == ir::Node::Kind::kConstant) {
      Sign(n.constant->type());
      Map(id,
          build_ ? Made(part_.graph.AddConstant(n.constant).node) : NextId(),
          true);
      return;
    }
    std::vector<Value> inputs;
    for (Value v : n.inputs) inputs.push_back(Local(v));
    const NodeId copy = build_ ? Made(Added(n, inputs)) : NextId();
    Sign(n.label);
    for (Value v : inputs) {
      Sign(static_cast<uint64_t>(v.node.value) * 64 + v.output);
    }
    Sign(Inner(id) ? 1 : ring_.count(id) > 0 ? 2 : 3);
    Map(id, copy, !Inner(id));
  }

  NodeId Added(const ir::Node& n, const std::vector<Value>& inputs) {
    absl::StatusOr<NodeId> copy = part_.graph.AddNode(*n.op, inputs, *n.attrs);
    Check(copy.ok(), "a node of a graph can be added to another");
    return *copy;
  }

  void Mark() {
    std::set<Value> boundary;
    for (NodeId id : part_.inner) {
      for (const ir::Mark& m : whole_.marks(id)) {
        if (build_) part_.graph.SetMark({local_.at(id), m.output}, m.mark);
      }
      for (NodeId user : whole_.users(id)) {
        if (Inner(user)) continue;
        for (Value v : whole_.node(user).inputs) {
          if (v.node == id) boundary.insert(v);
        }
      }
    }
    for (const ir::Output& o : whole_.outputs()) {
      if (Inner(o.value.node)) boundary.insert(o.value);
    }
    // By local id, so that equal parts agree.
    for (Value v : boundary) part_.boundary.push_back(v);
    absl::c_sort(part_.boundary, [&](Value a, Value b) {
      return std::make_pair(local_.at(a.node), a.output) <
             std::make_pair(local_.at(b.node), b.output);
    });
    for (size_t i = 0; i < part_.boundary.size(); ++i) {
      const Value v = part_.boundary[i];
      if (build_) {
        part_.graph.SetMark({local_.at(v.node), v.output},
                            kBoundary + static_cast<int32_t>(i));
      }
      Sign(static_cast<uint64_t>(local_.at(v.node).value) * 64 + v.output);
    }
  }

  // What is used beyond the ring, or by what the part does not show.
  void AddOutputs() {
    std::set<Value> out;  // in the part's graph
    for (const auto& [id, local] : local_) {
      if (topology_.constant[id.value]) continue;
      const ir::Node& n = whole_.node(id);
      for (int k = 0; k < n.num_outputs() && below_.count(id) > 0; ++k) {
        out.insert({local, k});
      }
      for (NodeId user : whole_.users(id)) {
        if (local_.count(user) > 0) continue;
        for (Value v : whole_.node(user).inputs) {
          if (v.node == id) out.insert({local, v.output});
        }
      }
    }
    for (const ir::Output& o : whole_.outputs()) {
      const auto it = local_.find(o.value.node);
      if (it != local_.end()) out.insert({it->second, o.value.output});
    }
    int i = 0;
    for (Value v : out) {
      if (build_) part_.graph.AddOutput(absl::StrCat("out", i++), v);
      Sign(static_cast<uint64_t>(v.node.value) * 64 + v.output);
    }
  }

  const ir::Graph& whole_;
  const Topology& topology_;
  std::set<NodeId> inner_;
  std::set<NodeId> ring_, below_;
  std::map<NodeId, NodeId> local_;
  std::map<Value, Value> inputs_;
  bool build_ = true;
  int32_t next_id_ = 0;
  Part part_;
};

// Puts the nodes of a better graph into the whole one.
class Putter {
 public:
  Putter(const ir::Graph& whole, const Part& part, const ir::Graph& better)
      : whole_(whole), part_(part), better_(better) {
    for (NodeId id : part.inner) {
      if (!whole.users(id).empty() || whole.output_uses(id) > 0) {
        used_.insert(id);
      }
    }
  }

  absl::StatusOr<ir::Graph> Run() {
    const std::vector<NodeId> order = better_.Order();
    values_.resize(better_.id_bound());
    for (NodeId id : order) RETURN_IF_ERROR(Add(id));
    std::vector<std::optional<Value>> found(part_.boundary.size());
    std::map<int32_t, Value> holder;  // of the model's marks, now
    for (NodeId id : order) {
      for (const ir::Mark& m : better_.marks(id)) {
        const Value v = WholeOf({id, m.output});
        if (m.mark >= kBoundary) {
          found[m.mark - kBoundary] = v;
        } else {
          holder[m.mark] = v;
        }
      }
    }
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) return Invalid("a value that others use has vanished");
      Replace(part_.boundary[i], *found[i]);
    }
    MoveMarks(holder);
    // What the model itself leaves unused stays.
    for (auto id = part_.inner.rbegin(); id != part_.inner.rend(); ++id) {
      if (used_.count(*id) > 0) whole_.RemoveIfUnused(*id);
    }
    return std::move(whole_);
  }

 private:
  bool Old(NodeId id) const {
    return static_cast<size_t>(id.value) < part_.whole.size();
  }
  Value WholeOf(Value local) const {
    const Value at = values_[local.node.value];
    return better_.node(local.node).kind == ir::Node::Kind::kInput
               ? at
               : Value{at.node, local.output};
  }

  absl::Status Add(NodeId id) {
    if (Old(id) && part_.frozen[id.value]) {
      values_[id.value] = part_.whole[id.value];
      return absl::OkStatus();
    }
    const ir::Node& n = better_.node(id);
    if (n.kind == ir::Node::Kind::kConstant) {
      values_[id.value] = whole_.AddConstant(n.constant);
      return absl::OkStatus();
    }
    std::vector<Value> inputs;
    for (Value v : n.inputs) inputs.push_back(WholeOf(v));
    ASSIGN_OR_RETURN(NodeId made, whole_.AddNode(*n.op, inputs, *n.attrs));
    values_[id.value] = {made, 0};
    made_.push_back(made);
    return absl::OkStatus();
  }

  void Replace(Value from, Value to) {
    if (from != to) whole_.ReplaceUses(from, to, made_);
  }

  // A name goes to the value that stands for it now, unless the value it was
  // on is still there.
  void MoveMarks(const std::map<int32_t, Value>& holder) {
    std::vector<std::pair<Value, Value>> moves;
    for (NodeId id : part_.inner) {
      if (!whole_.Has(id) || absl::c_linear_search(made_, id)) continue;
      for (const ir::Mark& m : whole_.marks(id)) {
        const auto it = holder.find(m.mark);
        if (it != holder.end()) moves.push_back({{id, m.output}, it->second});
      }
    }
    for (const auto& [from, to] : moves) {
      if (whole_.Has(from.node) && whole_.Has(to.node)) Replace(from, to);
    }
  }

  ir::Graph whole_;
  const Part& part_;
  const ir::Graph& better_;
  std::set<NodeId> used_;      // inner nodes that had a use before
  std::vector<Value> values_;  // by id in better_
  std::vector<NodeId> made_;
};

}  // namespace

Part TakeOut(const ir::Graph& whole, const Topology& topology,
             absl::Span<const NodeId> inner) {
  return Taker(whole, topology, inner).Run();
}

std::vector<uint64_t> SignatureOf(const ir::Graph& whole,
                                  const Topology& topology,
                                  absl::Span<const NodeId> inner) {
  return Taker(whole, topology, inner).Signature();
}

absl::StatusOr<ir::Graph> PutBack(const ir::Graph& whole, const Part& part,
                                  const ir::Graph& better) {
  return Putter(whole, part, better).Run();
}

bool Convex(const ir::Graph& whole, const Topology& topology,
            absl::Span<const NodeId> inner) {
  enum : char { kBefore, kInside, kAfter };
  std::vector<char> where(whole.id_bound(), kBefore);
  const auto [first, last] = topology.Span(inner);
  for (NodeId id : inner) where[id.value] = kInside;
  // What comes before the first node does not depend on the set, and what comes
  // after the last one does not lead back.
  for (int i = first; i <= last; ++i) {
    const NodeId id = topology.order[i];
    bool left = false;  // depends on something that depends on the set
    bool on_set = false;
    for (Value v : whole.node(id).inputs) {
      left = left || where[v.node.value] == kAfter;
      on_set = on_set || where[v.node.value] == kInside;
    }
    if (where[id.value] == kInside) {
      if (left) return false;
    } else if (left || on_set) {
      where[id.value] = kAfter;
    }
  }
  return true;
}

}  // namespace isomer::search

// The graph: hash-consing, use lists, incremental hashing, equality.
#include "graph/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/hashing.h"
#include "ops/registry.h"
#include "ops/status.h"

namespace isomer::ir {

namespace {

uint64_t HashAttrs(const Attrs& attrs) {
  uint64_t h = 1;
  for (const auto& [name, value] : attrs.entries()) {
    h = HashCombine(h, HashText(name));
    if (auto* i = std::get_if<int64_t>(&value)) {
      h = HashCombine(h, static_cast<uint64_t>(*i));
    } else if (auto* v = std::get_if<std::vector<int64_t>>(&value)) {
      for (int64_t x : *v) h = HashCombine(h, static_cast<uint64_t>(x));
      h = HashCombine(h, v->size());
    } else {
      h = HashCombine(h, HashText(AttrText<int64_t>(value)));
    }
  }
  return h;
}

bool SameNode(const Node& a, const Node& b) {
  if (a.label != b.label || a.kind != b.kind || a.inputs != b.inputs) {
    return false;
  }
  switch (a.kind) {
    case Node::Kind::kOp:
      return a.op == b.op && (a.attrs == b.attrs || *a.attrs == *b.attrs);
    case Node::Kind::kConstant:
      return a.constant->SameAs(*b.constant);
    case Node::Kind::kInput:
    case Node::Kind::kOpaque:
      return false;
  }
  return false;
}

std::shared_ptr<const std::vector<std::optional<TensorType>>> ShareTypes(
    std::vector<TensorType> types) {
  std::vector<std::optional<TensorType>> out;
  for (TensorType& t : types) out.emplace_back(std::move(t));
  return std::make_shared<const std::vector<std::optional<TensorType>>>(
      std::move(out));
}

}  // namespace

// ---- Building

Value Graph::AddInput(absl::string_view name, std::optional<TensorType> type) {
  Node n{.kind = Node::Kind::kInput};
  n.name = std::make_shared<const std::string>(name);
  n.label = HashCombine(HashText(name), HashText(type ? TypeText(*type) : "?"));
  n.types = std::make_shared<const std::vector<std::optional<TensorType>>>(
      1, std::move(type));
  const NodeId id = Insert(std::move(n));
  inputs_.push_back(id);
  return {id, 0};
}

Value Graph::AddConstant(std::shared_ptr<const Constant> constant) {
  Node n{.kind = Node::Kind::kConstant};
  n.types = ShareTypes({constant->type()});
  n.label = constant->digest();
  n.constant = std::move(constant);
  if (auto found = FindEqual(n)) return {*found, 0};
  return {Insert(std::move(n)), 0};
}

absl::StatusOr<NodeId> Graph::AddNode(const OpDef& op,
                                      absl::Span<const Value> inputs,
                                      const Attrs& attrs) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (Value v : inputs) {
    const TensorType* t = FindType(v);
    if (t == nullptr) {
      return Unsupported(op.name, ": the type of an operand is not known");
    }
    types.push_back(*t);
  }
  ASSIGN_OR_RETURN(Inferred<int64_t> inferred, InferOp(op, types, attrs));
  return AddInferred(op, inputs, std::move(inferred));
}

NodeId Graph::AddInferred(const OpDef& op, absl::Span<const Value> inputs,
                          Inferred<int64_t> inferred) {
  Node n{.kind = Node::Kind::kOp, .inputs = {inputs.begin(), inputs.end()}};
  n.op = &op;
  n.label = HashCombine(HashText(op.name), HashAttrs(inferred.attrs));
  n.attrs = std::make_shared<const Attrs>(std::move(inferred.attrs));
  if (auto found = FindEqual(n)) return *found;
  n.types = ShareTypes(std::move(inferred.outputs));
  return Insert(std::move(n));
}

absl::StatusOr<Value> Graph::Add(absl::string_view op,
                                 absl::Span<const Value> inputs,
                                 const Attrs& attrs) {
  const OpDef* def = Ops().Find(op);
  if (def == nullptr) return Invalid("there is no operator '", op, "'");
  ASSIGN_OR_RETURN(NodeId id, AddNode(*def, inputs, attrs));
  return Value{id, 0};
}

NodeId Graph::AddOpaque(Opaque opaque, absl::Span<const Value> inputs,
                        std::vector<std::optional<TensorType>> types) {
  Node n{.kind = Node::Kind::kOpaque, .inputs = {inputs.begin(), inputs.end()}};
  n.label = HashCombine(HashText(opaque.op), HashText(opaque.key));
  n.opaque = std::make_shared<const Opaque>(std::move(opaque));
  n.types = std::make_shared<const std::vector<std::optional<TensorType>>>(
      std::move(types));
  return Insert(std::move(n));
}

void Graph::AddOutput(absl::string_view name, Value value) {
  outputs_.push_back({std::string(name), value});
}

void Graph::SetMark(Value value, int32_t mark) {
  auto& marks = slots_.Edit(value.node.value).marks;
  auto changed = marks ? *marks : std::vector<Mark>();
  changed.push_back({value.output, mark});
  marks = std::make_shared<const std::vector<Mark>>(std::move(changed));
}

// ---- Reading

absl::Span<const Mark> Graph::marks(NodeId id) const {
  const Slot& s = slot(id);
  if (s.marks == nullptr) return {};
  return *s.marks;
}

bool Graph::Has(NodeId id) const {
  const Slot* s = slots_.Find(id.value);
  return s != nullptr && s->node != nullptr;
}

const Node& Graph::node(NodeId id) const { return *slot(id).node; }

const TensorType& Graph::type(Value v) const {
  return *(*node(v.node).types)[v.output];
}

const TensorType* Graph::FindType(Value v) const {
  const auto& t = (*node(v.node).types)[v.output];
  return t ? &*t : nullptr;
}

absl::Span<const NodeId> Graph::users(NodeId id) const {
  const Slot& s = slot(id);
  if (s.users == nullptr) return {};
  return *s.users;
}

int Graph::output_uses(NodeId id) const {
  return static_cast<int>(
      std::count_if(outputs_.begin(), outputs_.end(),
                    [&](const Output& o) { return o.value.node == id; }));
}

std::vector<NodeId> Graph::Order() const {
  std::vector<NodeId> order;
  order.reserve(size_);
  std::vector<bool> seen(next_id_, false);
  std::vector<std::pair<NodeId, size_t>> stack;  // node, next input to visit
  auto visit = [&](NodeId root) {
    if (seen[root.value]) return;
    seen[root.value] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& n = node(id);
      if (next == n.inputs.size()) {
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId in = n.inputs[next++].node;
      if (seen[in.value]) continue;
      seen[in.value] = true;
      stack.push_back({in, 0});
    }
  };
  for (const Output& o : outputs_) visit(o.value.node);
  for (int32_t i = 0; i < next_id_; ++i) {
    if (Has({i})) visit({i});
  }
  return order;
}

bool Graph::IsConstant(Value v) const {
  std::vector<NodeId> todo = {v.node};
  std::set<NodeId> seen = {v.node};
  while (!todo.empty()) {
    const Node& n = node(todo.back());
    todo.pop_back();
    if (n.kind == Node::Kind::kInput || n.kind == Node::Kind::kOpaque) {
      return false;
    }
    for (const Value& in : n.inputs) {
      if (seen.insert(in.node).second) todo.push_back(in.node);
    }
  }
  return true;
}

// ---- Hash-consing

int64_t Graph::BucketOf(const Node& node) {
  uint64_t h = node.label;
  for (const Value& v : node.inputs) {
    h = HashCombine(h, static_cast<uint64_t>(v.node.value) * 64 + v.output);
  }
  return static_cast<int64_t>(h & 0xfff);
}

std::optional<NodeId> Graph::FindEqual(const Node& node) const {
  const Bucket* bucket = buckets_.Find(BucketOf(node));
  if (bucket == nullptr) return std::nullopt;
  for (NodeId id : *bucket) {
    if (SameNode(this->node(id), node)) return id;
  }
  return std::nullopt;
}

void Graph::Enter(const Node& node, NodeId id) {
  buckets_.Edit(BucketOf(node)).push_back(id);
}

void Graph::Leave(const Node& node, NodeId id) {
  Bucket& bucket = buckets_.Edit(BucketOf(node));
  bucket.erase(std::find(bucket.begin(), bucket.end(), id));
}

NodeId Graph::Insert(Node node) {
  const NodeId id{next_id_++};
  Check(next_id_ < PersistentArray<Slot>::kCapacity, "graph is too large");
  Enter(node, id);
  for (const Value& v : node.inputs) AddUser(v.node, id);
  slots_.Edit(id.value).node = std::make_shared<const Node>(std::move(node));
  ++size_;
  Rehash(id);
  return id;
}

// ---- Use lists

void Graph::AddUser(NodeId of, NodeId user) {
  auto& users = slots_.Edit(of.value).users;
  if (users == nullptr) {
    users = std::make_shared<std::vector<NodeId>>();
  } else {
    if (std::find(users->begin(), users->end(), user) != users->end()) return;
    if (users.use_count() > 1) {
      users = std::make_shared<std::vector<NodeId>>(*users);
    }
  }
  users->push_back(user);
}

void Graph::DropUser(NodeId of, NodeId user) {
  auto& users = slots_.Edit(of.value).users;
  auto it = std::find(users->begin(), users->end(), user);
  if (it == users->end()) return;  // an operand that occurs twice
  if (users.use_count() > 1) {
    const auto at = it - users->begin();
    users = std::make_shared<std::vector<NodeId>>(*users);
    it = users->begin() + at;
  }
  users->erase(it);
}

// ---- Hashing

uint64_t Graph::Round(const Slot& s, int round) const {
  uint64_t h = s.node->label;
  for (const Value& v : s.node->inputs) {
    const Slot& in = slot(v.node);
    const uint64_t below = round == 0 ? in.node->label : in.hash[round - 1];
    h = HashCombine(h, below + static_cast<uint64_t>(v.output));
  }
  return h;
}

// Recomputes what a change of `id` reaches: its first-round hash, the second
// round of its users, the third of theirs.
void Graph::Rehash(NodeId id) {
  std::vector<NodeId> ball = {id};
  for (int round = 0; round < kRounds; ++round) {
    for (NodeId n : ball) {
      Slot& s = slots_.Edit(n.value);
      const uint64_t h = Round(s, round);
      if (round == kRounds - 1) {
        if (s.hash[round] != 0) sum_ -= HashMix(s.hash[round]);
        sum_ += HashMix(h);
      }
      s.hash[round] = h;
    }
    if (round == kRounds - 1) break;
    const size_t old = ball.size();
    for (size_t i = 0; i < old; ++i) {
      for (NodeId u : users(ball[i])) ball.push_back(u);
    }
    std::sort(ball.begin(), ball.end());
    ball.erase(std::unique(ball.begin(), ball.end()), ball.end());
  }
}

uint64_t Graph::HashOfAll() const {
  uint64_t h = sum_;
  for (const Output& o : outputs_) {
    h = HashCombine(h, HashText(o.name));
    h = HashCombine(h, slot(o.value.node).hash[kRounds - 1] +
                           static_cast<uint64_t>(o.value.output));
  }
  return h;
}

// ---- Changing

void Graph::SetInputs(NodeId id, Node::Inputs inputs) {
  const Node& old = node(id);
  Leave(old, id);
  for (const Value& v : old.inputs) DropUser(v.node, id);
  for (const Value& v : inputs) AddUser(v.node, id);
  Node changed = old;
  changed.inputs = std::move(inputs);
  Enter(changed, id);
  slots_.Edit(id.value).node = std::make_shared<const Node>(std::move(changed));
  Rehash(id);
}

void Graph::MoveMarks(Value from, Value to) {
  std::vector<Mark> stay;
  const absl::Span<const Mark> all = marks(from.node);
  for (const Mark& m : std::vector<Mark>(all.begin(), all.end())) {
    if (m.output == from.output) {
      SetMark(to, m.mark);
    } else {
      stay.push_back(m);
    }
  }
  if (all.empty()) return;
  slots_.Edit(from.node.value).marks =
      std::make_shared<const std::vector<Mark>>(std::move(stay));
}

void Graph::ReplaceUses(Value from, Value to, absl::Span<const NodeId> except) {
  std::vector<std::pair<Value, Value>> todo = {{from, to}};
  while (!todo.empty()) {
    const auto [old_value, new_value] = todo.back();
    todo.pop_back();
    for (Output& o : outputs_) {
      if (o.value == old_value) o.value = new_value;
    }
    MoveMarks(old_value, new_value);
    const absl::Span<const NodeId> now = users(old_value.node);
    for (NodeId user : std::vector<NodeId>(now.begin(), now.end())) {
      if (std::find(except.begin(), except.end(), user) != except.end()) {
        continue;
      }
      Node moved = node(user);
      std::replace(moved.inputs.begin(), moved.inputs.end(), old_value,
                   new_value);
      if (moved.inputs == node(user).inputs) continue;
      const std::optional<NodeId> twin = FindEqual(moved);
      SetInputs(user, std::move(moved.inputs));
      if (!twin) continue;
      for (int k = 0; k < node(user).num_outputs(); ++k) {
        todo.push_back({{user, k}, {*twin, k}});
      }
    }
    // A user that was merged with its twin is unused now.
    if (old_value != from) RemoveIfUnused(old_value.node);
  }
}

void Graph::Remove(NodeId id) {
  Slot& s = slots_.Edit(id.value);
  sum_ -= HashMix(s.hash[kRounds - 1]);
  Leave(*s.node, id);
  s = Slot();
  --size_;
}

void Graph::RemoveIfUnused(NodeId id) {
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    if (!Has(at) || !users(at).empty() || output_uses(at) > 0) continue;
    const Node& n = node(at);
    if (n.kind == Node::Kind::kInput || n.kind == Node::Kind::kOpaque ||
        (n.kind == Node::Kind::kConstant && !marks(at).empty())) {
      continue;
    }
    const Node::Inputs inputs = n.inputs;
    for (const Value& v : inputs) DropUser(v.node, at);
    Remove(at);
    for (const Value& v : inputs) todo.push_back(v.node);
  }
}

// ---- Equality

namespace {

// Walks both graphs from corresponding values and keeps the pairing of nodes.
class Pairing {
 public:
  Pairing(const Graph& a, const Graph& b)
      : a_(&a), b_(&b), to_(a.id_bound()), from_(b.id_bound()) {}

  bool Pair(NodeId x, NodeId y) {
    std::vector<std::pair<NodeId, NodeId>> todo = {{x, y}};
    while (!todo.empty()) {
      const auto [p, q] = todo.back();
      todo.pop_back();
      NodeId& forward = to_[p.value];
      NodeId& backward = from_[q.value];
      if (forward == q && backward == p) continue;
      if (forward.value >= 0 || backward.value >= 0) return false;
      const Node &m = a_->node(p), &n = b_->node(q);
      if (!SameButInputs(m, n)) return false;
      forward = q;
      backward = p;
      for (size_t i = 0; i < m.inputs.size(); ++i) {
        if (m.inputs[i].output != n.inputs[i].output) return false;
        todo.push_back({m.inputs[i].node, n.inputs[i].node});
      }
    }
    return true;
  }
  bool Paired(NodeId x) const { return to_[x.value].value >= 0; }
  bool Taken(NodeId y) const { return from_[y.value].value >= 0; }

 private:
  static bool SameButInputs(const Node& m, const Node& n) {
    if (m.kind != n.kind || m.label != n.label || *m.types != *n.types ||
        m.inputs.size() != n.inputs.size()) {
      return false;
    }
    switch (m.kind) {
      case Node::Kind::kInput:
        return *m.name == *n.name;
      case Node::Kind::kConstant:
        return m.constant->SameAs(*n.constant);
      case Node::Kind::kOp:
        return m.op == n.op && *m.attrs == *n.attrs;
      case Node::Kind::kOpaque:
        return m.opaque->op == n.opaque->op && m.opaque->key == n.opaque->key;
    }
    return false;
  }

  const Graph* a_;
  const Graph* b_;
  std::vector<NodeId> to_, from_;
};

}  // namespace

bool Equal(const Graph& a, const Graph& b) {
  if (a.hash() != b.hash() || a.size() != b.size() ||
      a.outputs().size() != b.outputs().size()) {
    return false;
  }
  Pairing pairing(a, b);
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    const Output &x = a.outputs()[i], &y = b.outputs()[i];
    if (x.name != y.name || x.value.output != y.value.output ||
        !pairing.Pair(x.value.node, y.value.node)) {
      return false;
    }
  }
  // What no output reaches: pair what pairs, last nodes first.
  const std::vector<NodeId> order_a = a.Order(), order_b = b.Order();
  for (auto p = order_a.rbegin(); p != order_a.rend(); ++p) {
    if (pairing.Paired(*p)) continue;
    bool found = false;
    for (auto q = order_b.rbegin(); q != order_b.rend() && !found; ++q) {
      if (pairing.Taken(*q)) continue;
      Pairing attempt = pairing;
      if (attempt.Pair(*p, *q)) {
        pairing = std::move(attempt);
        found = true;
      }
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace isomer::ir

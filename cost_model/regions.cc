// Transparent nodes, live edges, and the regions they make.
#include "cost_model/regions.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cost_model/layout.h"
#include "graph/hashing.h"

namespace isomer::cost {

namespace {

// How far kernels are followed from one reader of a node to where they could
// end, and how far back an ancestor is looked for.
constexpr int kJoinSteps = 5;
constexpr int kAncestorSteps = 8;
static_assert(kJoinSteps + kAncestorSteps + 1 <= Regions::kReach);

}  // namespace

int64_t BytesOf(const ir::Graph& graph, Value v) {
  const TensorType* t = graph.FindType(v);
  return t == nullptr ? 0 : NumElements(*t) * ByteSize(t->dtype);
}

bool IsUnfolded(const ir::Node& node) {
  if (node.op == nullptr) return false;
  const OpClass c = OpPlanOf(node.op->name).op_class;
  return c == OpClass::kGenerate || c == OpClass::kBroadcast;
}

bool MayBeRecomputed(const ir::Node& node) {
  if (node.op == nullptr) return false;
  const OpPlan plan = OpPlanOf(node.op->name);
  return IsRecomputed(plan.op_class) || plan.slice_at_constant;
}

// ---- Transparent nodes

OpPlan Regions::PlanOf(NodeId id) const {
  const ir::Node& n = graph_.node(id);
  if (n.op == nullptr) return {};
  OpPlan plan = OpPlanOf(n.op->name);
  if (plan.slice_at_constant && is_constant_(n.inputs[1].node) &&
      NumElements(graph_.type(n.inputs[1])) == 1) {
    plan.op_class = OpClass::kSlice;
  }
  return plan;
}

bool Regions::IsRecomputable(NodeId id) const {
  return IsRecomputed(PlanOf(id).op_class);
}

bool Regions::Runs(NodeId id) const {
  const ir::Node& n = graph_.node(id);
  return n.kind != ir::Node::Kind::kInput && !is_constant_(id);
}

bool Regions::IsTransparent(NodeId id) {
  const auto it = transparent_.find(id.value);
  if (it != transparent_.end()) return it->second;
  const bool transparent =
      Runs(id) && IsRecomputable(id) && graph_.output_uses(id) == 0 &&
      !graph_.users(id).empty() &&
      absl::c_all_of(graph_.users(id),
                     [&](NodeId user) { return TakesIn(user, id); });
  transparent_[id.value] = transparent;
  return transparent;
}

bool Regions::IsOwned(NodeId id) { return Runs(id) && !IsTransparent(id); }

// True if kernels that hold `reader` also hold the view below it.
bool Regions::TakesIn(NodeId reader, NodeId view) {
  const ir::Node& n = graph_.node(reader);
  if (n.kind != ir::Node::Kind::kOp || n.num_outputs() != 1) return false;
  const OpPlan plan = PlanOf(reader);
  const OpClass c = PlanOf(view).op_class;
  if (plan.op_class != OpClass::kCore) return AreTogether(c, plan.op_class);
  return target_.fusion(plan.family).prologue.Has(c) && CanRead(reader, view);
}

// True if the core can read its operand `view` from where the view lies.
bool Regions::CanRead(NodeId core, NodeId view) {
  std::vector<NodeId> chain = {view};
  while (!graph_.node(chain.back()).inputs.empty()) {
    const NodeId below = graph_.node(chain.back()).inputs[0].node;
    if (!Runs(below) || !IsTransparent(below)) break;
    chain.push_back(below);
  }
  const ir::Node& last = graph_.node(chain.back());
  if (last.inputs.empty()) return true;
  const TensorType* base = graph_.FindType(last.inputs[0]);
  if (base == nullptr) return false;
  std::optional<Layout> layout = Layout::Dense(base->shape);
  for (auto it = chain.rbegin(); it != chain.rend() && layout; ++it) {
    layout = ViewOf(graph_.node(*it), PlanOf(*it).op_class, *layout);
  }
  const ir::Node& n = graph_.node(core);
  const Family family = PlanOf(core).family;
  if (!IsStrided(family)) return true;
  if (!layout) return false;
  const int right_rank =
      n.inputs.size() > 1 ? graph_.type(n.inputs[1]).rank() : 0;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i].node == view &&
        !Reads(family, static_cast<int>(i), right_rank, *layout)) {
      return false;
    }
  }
  return true;
}

// True if there are kernels in which nodes of both classes are neighbours,
// neither being a core.
bool Regions::AreTogether(OpClass a, OpClass b) const {
  for (int f = 0; f < kNumFamilies; ++f) {
    const FusionModel& m = target_.fusion(static_cast<Family>(f));
    const uint32_t late = m.epilogue.bits | m.operands.bits;
    const uint32_t both = 1u << static_cast<int>(a) | 1u << static_cast<int>(b);
    if ((both & ~late) == 0 || (both & ~m.prologue.bits) == 0) return true;
  }
  return false;
}

// ---- Live edges

// True if some kernel may hold `from` and `to` with what is between them.
bool Regions::IsFusible(NodeId from, absl::Span<const NodeId> via, NodeId to) {
  const ir::Node &a = graph_.node(from), &b = graph_.node(to);
  for (const ir::Node* n : {&a, &b}) {
    if (n->kind != ir::Node::Kind::kOp || n->num_outputs() != 1) return false;
  }
  const OpPlan p = PlanOf(from), q = PlanOf(to);
  if (p.op_class == OpClass::kCore && q.op_class == OpClass::kCore) {
    return false;
  }
  OpClasses between;
  for (NodeId v : via) between.Add(PlanOf(v).op_class);
  if (p.op_class == OpClass::kCore) {
    between.Add(q.op_class);
    return (between.bits & ~target_.fusion(p.family).epilogue.bits) == 0;
  }
  between.Add(p.op_class);
  if (q.op_class == OpClass::kCore) {
    return (between.bits & ~target_.fusion(q.family).prologue.bits) == 0;
  }
  if (q.op_class == OpClass::kConcat && PrefersPlace(from, to)) return false;
  return AreTogether(p.op_class, q.op_class);
}

// True if a kernel with a core could compute the node right where the concat
// wants it, which beats moving it there.
bool Regions::PrefersPlace(NodeId from, NodeId concat) {
  if (!IsInPlace({from, 0}, concat)) return false;
  NodeId at = from;
  for (int step = 0; step < kConcatSteps; ++step) {
    NodeId next = at;
    for (Value v : graph_.node(at).inputs) {
      if (!Runs(v.node) || graph_.users(v.node).size() != 1) continue;
      const ir::Node& below = graph_.node(v.node);
      if (below.kind != ir::Node::Kind::kOp) continue;
      const OpPlan plan = PlanOf(v.node);
      if (plan.op_class == OpClass::kCore) {
        return target_.fusion(plan.family).epilogue.Has(PlanOf(at).op_class);
      }
      if (plan.op_class == OpClass::kPointwise) next = v.node;
    }
    if (next == at) return false;
    at = next;
  }
  return false;
}

// True if a value that is stored is computed right where the concat wants it.
// It has one such place: in the first of the concats that read it.
bool Regions::IsInPlace(Value v, NodeId concat) {
  if (!target_.concat_in_place() || !Runs(v.node)) return false;
  const ir::Node& n = graph_.node(v.node);
  if (n.kind != ir::Node::Kind::kOp || n.num_outputs() != 1 ||
      IsRecomputable(v.node) || graph_.output_uses(v.node) > 0) {
    return false;
  }
  for (NodeId user : graph_.users(v.node)) {
    if (user < concat && PlanOf(user).op_class == OpClass::kConcat) {
      return false;
    }
  }
  return absl::c_count(graph_.node(concat).inputs, v) == 1;
}

void Regions::CollectReaders(NodeId from, NodeId at, std::vector<NodeId>& via,
                             std::vector<Reader>& list) {
  for (NodeId user : graph_.users(at)) {
    if (IsTransparent(user)) {
      via.push_back(user);
      CollectReaders(from, user, via, list);
      via.pop_back();
      continue;
    }
    const bool fusible = IsFusible(from, via, user);
    auto it =
        absl::c_find_if(list, [&](const Reader& r) { return r.id == user; });
    if (it == list.end()) {
      list.push_back({user, fusible});
    } else {
      it->fusible |= fusible;
    }
  }
}

std::vector<Regions::Reader> Regions::AllReaders(NodeId id) {
  const auto it = all_readers_.find(id.value);
  if (it != all_readers_.end()) return it->second;
  std::vector<Reader> list;
  std::vector<NodeId> via;
  CollectReaders(id, id, via, list);
  // What is recomputable and yet belongs to a region is read from memory.
  if (IsRecomputable(id)) {
    for (Reader& r : list) r.fusible = false;
  }
  absl::c_sort(list,
               [](const Reader& a, const Reader& b) { return a.id < b.id; });
  all_readers_[id.value] = list;
  return list;
}

const Regions::Readers& Regions::ReadersOf(NodeId id) {
  const auto it = readers_.find(id.value);
  if (it != readers_.end()) return it->second;
  Readers readers;
  readers.list = AllReaders(id);
  if (readers.list.size() == 1) {
    readers.list[0].live = readers.list[0].fusible;
    readers.any_host = readers.list[0].live;
  } else if (absl::c_any_of(readers.list,
                            [](const Reader& r) { return r.fusible; })) {
    FindHosts(readers);
  }
  readers.outside =
      graph_.output_uses(id) > 0 ||
      !absl::c_all_of(readers.list, [](const Reader& r) { return r.live; });
  return readers_[id.value] = std::move(readers);
}

// The nodes in which a kernel that holds `id` could end: those above it along
// fusible edges, the node itself included.
std::vector<NodeId> Regions::FusibleAbove(NodeId id) {
  std::vector<NodeId> found = {id};
  size_t begin = 0;
  for (int step = 0; step < kJoinSteps; ++step) {
    const size_t end = found.size();
    for (size_t i = begin; i < end; ++i) {
      for (const Reader& r : AllReaders(found[i])) {
        if (r.fusible && !absl::c_linear_search(found, r.id)) {
          found.push_back(r.id);
        }
      }
    }
    begin = end;
  }
  return found;
}

// Which of `ends`, sorted, are found below the node within a few steps.
std::vector<char> Regions::Below(NodeId id, absl::Span<const NodeId> ends) {
  std::vector<char> found(ends.size());
  seen_.resize(graph_.id_bound());
  const int round = ++rounds_;
  std::vector<NodeId> layer = {id}, next;
  for (int step = 0; step < kAncestorSteps && !layer.empty(); ++step) {
    next.clear();
    for (NodeId n : layer) {
      for (Value v : graph_.node(n).inputs) {
        if (std::exchange(seen_[v.node.value], round) == round) continue;
        if (!Runs(v.node)) continue;
        next.push_back(v.node);
        const auto it = absl::c_lower_bound(ends, v.node);
        if (it != ends.end() && *it == v.node) found[it - ends.begin()] = true;
      }
    }
    std::swap(layer, next);
  }
  return found;
}

// Of several readers, a kernel can compute those from which one gets to its
// end along fusible edges; the others must be descendants of that end, so that
// they run later in any case.
void Regions::FindHosts(Readers& readers) {
  const size_t n = readers.list.size();
  std::vector<std::vector<NodeId>> above(n);
  std::vector<NodeId> ends;
  for (size_t i = 0; i < n; ++i) {
    if (readers.list[i].fusible) above[i] = FusibleAbove(readers.list[i].id);
    ends.insert(ends.end(), above[i].begin(), above[i].end());
  }
  absl::c_sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  auto joins = [&](size_t i, size_t end) {
    return absl::c_linear_search(above[i], ends[end]);
  };
  std::vector<std::vector<char>> below(n);
  auto comes_after = [&](size_t i, size_t end) {
    if (below[i].empty()) below[i] = Below(readers.list[i].id, ends);
    return below[i][end];
  };
  for (size_t end = 0; end < ends.size(); ++end) {
    bool possible = true;
    for (size_t i = 0; i < n && possible; ++i) {
      possible = joins(i, end) || comes_after(i, end);
    }
    if (!possible) continue;
    for (size_t i = 0; i < n; ++i) readers.list[i].live |= joins(i, end);
  }
  if (absl::c_none_of(readers.list, [](const Reader& r) { return r.live; })) {
    return;
  }
  for (size_t end = 0; end < ends.size(); ++end) {
    bool before_all = true;
    for (size_t i = 0; i < n && before_all; ++i) {
      before_all = readers.list[i].live || comes_after(i, end);
    }
    if (before_all) readers.hosts.push_back(ends[end]);
  }
}

uint64_t Regions::ReadersHash(NodeId id) {
  const Readers& readers = ReadersOf(id);
  if (readers.list.size() < 2 ||
      absl::c_none_of(readers.list,
                      [](const Reader& r) { return r.fusible; })) {
    return 0;
  }
  uint64_t h = readers.outside;
  for (const Reader& r : readers.list) {
    h = ir::HashCombine(h, static_cast<uint64_t>(r.id.value) * 2 + r.live);
  }
  for (NodeId host : readers.hosts) h = ir::HashCombine(h, host.value);
  return h | 1;
}

// ---- Regions

// The transparent nodes below a node, and the nodes of regions below those.
void Regions::CollectSources(NodeId id, std::vector<NodeId>& views,
                             std::vector<NodeId>& sources) {
  for (Value v : graph_.node(id).inputs) {
    if (!Runs(v.node)) continue;
    if (!IsTransparent(v.node)) {
      sources.push_back(v.node);
    } else if (!absl::c_linear_search(views, v.node)) {
      views.push_back(v.node);
      CollectSources(v.node, views, sources);
    }
  }
}

RegionProblem Regions::At(NodeId id) {
  std::vector<NodeId> owned = {id}, views;
  absl::flat_hash_set<int32_t> seen = {id.value};
  auto reach = [&](NodeId n) {
    if (seen.insert(n.value).second) owned.push_back(n);
  };
  for (size_t i = 0; i < owned.size(); ++i) {
    const NodeId at = owned[i];
    std::vector<NodeId> sources;
    CollectSources(at, views, sources);
    for (NodeId below : sources) {
      for (const Reader& r : ReadersOf(below).list) {
        if (r.id == at && r.live) reach(below);
      }
    }
    for (const Reader& r : ReadersOf(at).list) {
      if (r.live) reach(r.id);
    }
  }
  owned.insert(owned.end(), views.begin(), views.end());
  absl::c_sort(owned);
  owned.erase(std::unique(owned.begin(), owned.end()), owned.end());
  return Describe(owned);
}

// Puts the nodes in an order in which each comes after its inputs.
RegionProblem Regions::Describe(const std::vector<NodeId>& nodes) {
  RegionProblem r;
  absl::flat_hash_set<int32_t> waiting;
  for (NodeId n : nodes) waiting.insert(n.value);
  std::vector<std::pair<NodeId, size_t>> stack;
  for (NodeId root : nodes) {
    if (waiting.erase(root.value) == 0) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      const ir::Node& node = graph_.node(n);
      if (next == node.inputs.size()) {
        r.nodes.push_back(DescribeNode(n));
        stack.pop_back();
        continue;
      }
      const NodeId in = node.inputs[next++].node;
      if (waiting.erase(in.value) > 0) stack.push_back({in, 0});
    }
  }
  Link(r);
  return r;
}

RegionNode Regions::DescribeNode(NodeId id) {
  const ir::Node& n = graph_.node(id);
  RegionNode node;
  node.id = id;
  node.node = &n;
  node.plan = PlanOf(id);
  node.recomputed = IsTransparent(id);
  std::vector<TensorType> in, out;
  for (Value v : n.inputs) {
    if (const TensorType* t = graph_.FindType(v)) in.push_back(*t);
  }
  for (int k = 0; k < n.num_outputs(); ++k) {
    node.bytes += BytesOf(graph_, {id, k});
    if (const TensorType* t = graph_.FindType({id, k})) out.push_back(*t);
  }
  if (n.op && n.op->flops) {
    node.flops = static_cast<double>(n.op->flops(in, out, *n.attrs));
  } else if (!out.empty()) {
    node.flops = static_cast<double>(NumElements(out[0]));
  }
  if (n.op && n.op->waits) node.waits = static_cast<double>(n.op->waits(in));
  return node;
}

int64_t Regions::ConstantBytes(Value v) const {
  const ir::Node& n = graph_.node(v.node);
  if (!IsUnfolded(n)) return BytesOf(graph_, v);
  return n.inputs.empty() ? 0 : ConstantBytes(n.inputs[0]);
}

RegionLeaf Regions::LeafOf(Value v) const {
  const bool constant = is_constant_(v.node);
  return {v, graph_.FindType(v), constant,
          constant ? ConstantBytes(v) : BytesOf(graph_, v)};
}

// Fills in what the nodes of a region are to each other.
void Regions::Link(RegionProblem& r) {
  absl::flat_hash_map<int32_t, int> index;
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    index[r.nodes[i].id.value] = static_cast<int>(i);
  }
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    RegionNode& n = r.nodes[i];
    const bool concat = n.plan.op_class == OpClass::kConcat;
    for (Value v : n.node->inputs) {
      RegionInput in;
      in.in_place = concat && IsInPlace(v, n.id);
      const auto at = index.find(v.node.value);
      if (at != index.end()) {
        in.index = at->second;
        std::vector<int>& users = r.nodes[at->second].users;
        if (users.empty() || users.back() != static_cast<int>(i)) {
          users.push_back(static_cast<int>(i));
        }
      } else {
        in.leaf = true;
        const auto leaf = absl::c_find_if(
            r.leaves, [v](const RegionLeaf& l) { return l.value == v; });
        in.index = static_cast<int>(leaf - r.leaves.begin());
        if (leaf == r.leaves.end()) r.leaves.push_back(LeafOf(v));
      }
      n.inputs.push_back(in);
    }
    if (n.recomputed) continue;
    const Readers& readers = ReadersOf(n.id);
    n.outside = readers.outside || readers.list.empty();
    if (!n.outside) continue;
    for (size_t h = i + 1; h < r.nodes.size(); ++h) {
      if (readers.any_host ||
          absl::c_binary_search(readers.hosts, r.nodes[h].id)) {
        n.hosts.push_back(static_cast<int>(h));
      }
    }
  }
  // What no kernel may store on the way has a kernel of its own.
  for (RegionNode& n : r.nodes) {
    if (n.outside && n.hosts.empty()) n.users.clear();
  }
}

std::string KeyOf(const RegionProblem& region) {
  std::string key;
  for (const RegionLeaf& l : region.leaves) {
    absl::StrAppend(&key, l.type ? TypeText(*l.type) : "?",
                    l.constant ? "c" : "v", l.bytes, ";");
  }
  for (const RegionNode& n : region.nodes) {
    absl::StrAppend(&key, absl::Hex(n.node->label), "(");
    for (const RegionInput& in : n.inputs) {
      absl::StrAppend(&key, in.leaf ? "l" : "n", in.index,
                      in.in_place ? "p," : ",");
    }
    absl::StrAppend(&key, n.recomputed ? ")r" : ")", n.outside ? "o" : "",
                    n.bytes);
    for (int h : n.hosts) absl::StrAppend(&key, " ", h);
    key += ";";
  }
  return key;
}

}  // namespace isomer::cost

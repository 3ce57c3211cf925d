#include "search/split.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/match.h"
#include "search/max_flow.h"

namespace isomer::search {

namespace {

// Kernels and matches of the whole graph. A match weighs what the kernels of
// its outputs take: that is what it could change.
std::vector<Bond> Bonds(const ir::Graph& graph, const Topology& topology,
                        const cost::Plan& plan, Session& session) {
  std::vector<Bond> bonds;
  std::vector<int64_t> time(graph.id_bound(), 0);
  for (const cost::Kernel& k : plan.Kernels(graph)) {
    for (NodeId id : k.nodes) time[id.value] = k.time_ps;
    if (k.nodes.size() > 1) bonds.push_back({k.nodes, k.time_ps + 1});
  }
  const RuleBook& book = session.book();
  const ir::OpIndex index(graph);
  std::vector<std::vector<Bond>> by_rule(book.size());
  session.workers().Run(book.size(), [&](int r, int worker) {
    const BookRule& rule = book[r];
    for (const ir::Match& m :
         ir::FindMatches(graph, index, rule.rule, session.facts(worker),
                         {.beyond_cases = rule.definition})) {
      Bond bond{{}, 1};
      for (NodeId id : m.nodes) {
        if (id.value >= 0 && !topology.constant[id.value]) {
          bond.nodes.push_back(id);
        }
      }
      for (Value v : m.outputs) bond.weight_ps += time[v.node.value];
      if (bond.nodes.size() > 1) by_rule[r].push_back(std::move(bond));
    }
  });
  for (auto& list : by_rule) {
    bonds.insert(bonds.end(), list.begin(), list.end());
  }
  return bonds;
}

// What a cut after each place of the order would sever.
std::vector<int64_t> Severed(const std::vector<NodeId>& nodes,
                             const std::vector<int>& place,
                             const std::vector<Bond>& bonds) {
  std::vector<int64_t> change(nodes.size() + 1, 0);
  for (const Bond& b : bonds) {
    int low = static_cast<int>(nodes.size()), high = -1;
    for (NodeId id : b.nodes) {
      if (place[id.value] < 0) continue;
      low = std::min(low, place[id.value]);
      high = std::max(high, place[id.value]);
    }
    if (low >= high) continue;
    change[low] += b.weight_ps;
    change[high] -= b.weight_ps;
  }
  std::vector<int64_t> severed(nodes.size(), 0);
  int64_t sum = 0;
  for (size_t i = 0; i < nodes.size(); ++i) severed[i] = sum += change[i];
  return severed;
}

using Parts = std::vector<std::vector<NodeId>>;

// Cuts `nodes` at the places where that severs least, and what is still too
// large again. Places look alike in like blocks, so parts do too. Parts are not
// smaller than a third of what is allowed; what could only be cut at a place
// that severs more than `most` stays as it is.
void CutCheaply(absl::Span<const NodeId> nodes,
                absl::Span<const int64_t> severed, int64_t most,
                size_t max_nodes, Parts& out) {
  const size_t n = nodes.size(), small = max_nodes / 3;
  if (n <= max_nodes) {
    out.emplace_back(nodes.begin(), nodes.end());
    return;
  }
  const int64_t least = *std::min_element(severed.begin() + (small - 1),
                                          severed.begin() + (n - small));
  if (least > most) {
    out.emplace_back(nodes.begin(), nodes.end());
    return;
  }
  size_t begin = 0;
  for (size_t end = 1; end <= n; ++end) {
    const bool cut =
        severed[end - 1] <= least && end - begin >= small && n - end >= small;
    if (end < n && !cut) continue;
    CutCheaply(nodes.subspan(begin, end - begin),
               severed.subspan(begin, end - begin), most, max_nodes, out);
    begin = end;
  }
}

// Half of all places are cheap: beyond that a minimum cut is better.
int64_t CheapLevel(std::vector<int64_t> severed) {
  const auto middle = severed.begin() + severed.size() / 2;
  std::nth_element(severed.begin(), middle, severed.end());
  return *middle;
}

Parts Halves(const std::vector<NodeId>& nodes) {
  const auto middle = nodes.begin() + nodes.size() / 2;
  return {{nodes.begin(), middle}, {middle, nodes.end()}};
}

Parts MinimumCut(const ir::Graph& graph, const std::vector<NodeId>& nodes,
                 const std::vector<Bond>& bonds) {
  const int n = static_cast<int>(nodes.size()), source = n, sink = n + 1;
  std::map<NodeId, int> at;
  for (int i = 0; i < n; ++i) at[nodes[i]] = i;
  FlowNetwork net(n + 2);
  for (int i = 0; i < n; ++i) {
    if (i < n / 3) net.AddEdge(source, i, FlowNetwork::kInfinite);
    if (i >= n - n / 3) net.AddEdge(i, sink, FlowNetwork::kInfinite);
    for (Value v : graph.node(nodes[i]).inputs) {
      auto it = at.find(v.node);
      if (it == at.end()) continue;
      // What the near side holds, its operands are held by too.
      net.AddEdge(it->second, i, 1, FlowNetwork::kInfinite);
    }
  }
  for (const Bond& b : bonds) {
    std::vector<int> members;
    for (NodeId id : b.nodes) {
      if (auto it = at.find(id); it != at.end()) members.push_back(it->second);
    }
    absl::c_sort(members);
    for (size_t i = 1; i < members.size(); ++i) {
      net.AddEdge(members[i - 1], members[i], b.weight_ps, b.weight_ps);
    }
  }
  if (net.MaxFlow(source, sink) >= FlowNetwork::kInfinite) return Halves(nodes);
  const std::vector<bool> near = net.SourceSide(source);
  Parts out(2);
  for (int i = 0; i < n; ++i) out[near[i] ? 0 : 1].push_back(nodes[i]);
  return out;
}

void SplitInto(const ir::Graph& graph, const std::vector<NodeId>& nodes,
               const std::vector<Bond>& bonds, size_t max_nodes, Parts& out) {
  if (nodes.size() <= max_nodes) {
    out.push_back(nodes);
    return;
  }
  for (const auto& half : MinimumCut(graph, nodes, bonds)) {
    SplitInto(graph, half, bonds, max_nodes, out);
  }
}

}  // namespace

std::vector<std::vector<NodeId>> FlowSplit(const ir::Graph& graph,
                                           const std::vector<NodeId>& nodes,
                                           const std::vector<Bond>& bonds,
                                           int max_nodes) {
  Parts out;
  SplitInto(graph, nodes, bonds, std::max(3, max_nodes), out);
  return out;
}

std::vector<std::vector<NodeId>> Split(const ir::Graph& graph,
                                       const Topology& topology,
                                       const cost::Plan& plan,
                                       const SplitOptions& options,
                                       Session& session) {
  const std::vector<Bond> bonds = Bonds(graph, topology, plan, session);
  // Opaque nodes part what comes before them from what comes after.
  Parts runs(1);
  for (NodeId id : topology.order) {
    const ir::Node& n = graph.node(id);
    if (n.kind == ir::Node::Kind::kOpaque) {
      runs.emplace_back();
    } else if (n.kind == ir::Node::Kind::kOp && !topology.constant[id.value]) {
      runs.back().push_back(id);
    }
  }
  const size_t max_nodes = std::max(3, options.max_nodes);
  Parts parts;
  for (const std::vector<NodeId>& run : runs) {
    if (run.empty()) continue;
    if (run.size() <= max_nodes) {
      parts.push_back(run);
      continue;
    }
    std::vector<int> place(graph.id_bound(), -1);
    for (size_t i = 0; i < run.size(); ++i) {
      place[run[i].value] = static_cast<int>(i);
    }
    const std::vector<int64_t> severed = Severed(run, place, bonds);
    Parts pieces;
    CutCheaply(run, severed, CheapLevel(severed), max_nodes, pieces);
    for (const auto& piece : pieces) {
      if (options.flow) {
        SplitInto(graph, piece, bonds, max_nodes, parts);
        continue;
      }
      std::vector<NodeId> rest = piece;
      for (; rest.size() > max_nodes;
           rest.erase(rest.begin(), rest.begin() + max_nodes)) {
        parts.push_back({rest.begin(), rest.begin() + max_nodes});
      }
      parts.push_back(rest);
    }
  }
  return parts;
}

}  // namespace isomer::search

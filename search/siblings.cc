#include "search/siblings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "search/topology.h"

namespace isomer::search {

namespace {

using Key = std::vector<Value>;

// Which tensor variables each of the two outputs of a rule needs.
std::vector<std::vector<bool>> Needs(const ir::Rule& rule) {
  const ir::RuleSide& side = rule.source();
  std::vector<std::vector<bool>> out;
  for (const ir::RuleOperand& o : side.outputs) {
    std::vector<bool> seen(side.nodes.size(), false);
    std::vector<bool> needs(rule.tensors().size(), false);
    std::vector<int> todo = {o.node};
    while (!todo.empty()) {
      const int k = todo.back();
      todo.pop_back();
      if (seen[k]) continue;
      seen[k] = true;
      const ir::RuleNode& n = side.nodes[k];
      if (n.kind == ir::RuleNode::Kind::kVariable) needs[n.variable] = true;
      for (const ir::RuleOperand& in : n.inputs) todo.push_back(in.node);
    }
    out.push_back(std::move(needs));
  }
  return out;
}

struct Member {
  Key own;  // what it does not share
  Value output;
  friend auto operator<=>(const Member&, const Member&) = default;
};

// Tells which members of a group depend on each other. Looks at what lies
// between them in the order of the graph.
class Dependence {
 public:
  explicit Dependence(const ir::Graph& graph)
      : graph_(graph),
        topology_(graph),
        above_(graph.id_bound(), 0),
        self_(graph.id_bound(), 0) {}

  // Leaves out members that depend on ones before them, or the other way round.
  std::vector<Member> Independent(std::vector<Member> members);

 private:
  const ir::Graph& graph_;
  const Topology topology_;
  // By id: members that it depends on, and those that it is; 0 between calls.
  std::vector<uint32_t> above_, self_;
};

std::vector<Member> Dependence::Independent(std::vector<Member> members) {
  if (members.size() > kMaxSiblings) members.resize(kMaxSiblings);
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < members.size(); ++i) {
    nodes.push_back(members[i].output.node);
    self_[nodes[i].value] |= uint32_t{1} << i;
  }
  const auto [first, last] = topology_.Span(nodes);
  for (int i = first; i <= last; ++i) {
    const NodeId id = topology_.order[i];
    uint32_t mask = 0;
    for (Value in : graph_.node(id).inputs) {
      mask |= above_[in.node.value] | self_[in.node.value];
    }
    above_[id.value] = mask;
  }
  uint32_t taken = 0;
  std::vector<Member> out;
  for (size_t i = 0; i < members.size(); ++i) {
    const uint32_t bit = uint32_t{1} << i;
    bool clash = (above_[nodes[i].value] & taken) != 0;
    for (size_t j = 0; j < i; ++j) {
      clash = clash ||
              ((taken >> j & 1) != 0 && (above_[nodes[j].value] & bit) != 0);
    }
    if (clash) continue;
    taken |= bit;
    out.push_back(members[i]);
  }
  for (int i = first; i <= last; ++i) above_[topology_.order[i].value] = 0;
  for (NodeId id : nodes) self_[id.value] = 0;
  return out;
}

}  // namespace

std::vector<std::vector<Value>> SiblingGroups(
    const ir::Graph& graph, const ir::Rule& rule,
    absl::Span<const ir::Match> matches) {
  if (matches.empty() || rule.source().outputs.size() != 2) return {};
  const std::vector<std::vector<bool>> needs = Needs(rule);
  std::map<Key, std::set<Member>> groups;
  for (const ir::Match& m : matches) {
    Key shared;
    for (size_t v = 0; v < m.tensors.size(); ++v) {
      if (needs[0][v] && needs[1][v]) shared.push_back(m.tensors[v]);
    }
    for (int k : {0, 1}) {
      Member member{{}, m.outputs[k]};
      for (size_t v = 0; v < m.tensors.size(); ++v) {
        if (needs[k][v] && !needs[1 - k][v]) member.own.push_back(m.tensors[v]);
      }
      groups[shared].insert(std::move(member));
    }
  }
  Dependence dependence(graph);
  std::vector<std::vector<Member>> whole;
  for (const auto& [shared, members] : groups) {
    whole.push_back(dependence.Independent({members.begin(), members.end()}));
  }
  std::set<std::vector<Value>> seen;
  std::vector<std::vector<Value>> out;
  auto add = [&](const std::vector<Member>& members) {
    std::vector<Value> values;
    for (const Member& m : members) values.push_back(m.output);
    if (values.size() < 2 || !seen.insert(values).second) return;
    out.push_back(std::move(values));
  };
  for (const auto& members : whole) add(members);
  std::map<Key, std::vector<size_t>> holders;  // groups by what a member has
  for (size_t g = 0; g < whole.size(); ++g) {
    for (const Member& m : whole[g]) holders[m.own].push_back(g);
  }
  for (size_t a = 0; a < whole.size(); ++a) {
    std::map<size_t, std::set<Key>> others;  // what they have in common with a
    for (const Member& m : whole[a]) {
      for (size_t b : holders[m.own]) {
        if (b != a) others[b].insert(m.own);
      }
    }
    for (const auto& [b, keys] : others) {
      std::vector<Member> common, rest;
      for (const Member& m : whole[a]) {
        (keys.count(m.own) > 0 ? common : rest).push_back(m);
      }
      add(common);
      add(rest);
    }
  }
  return out;
}

}  // namespace isomer::search

#include "search/siblings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"

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

// Leaves out members that depend on ones before them, or the other way round.
std::vector<Member> Independent(const ir::Graph& graph,
                                const std::vector<NodeId>& order,
                                std::vector<Member> members) {
  if (members.size() > kMaxSiblings) members.resize(kMaxSiblings);
  std::vector<uint32_t> above(graph.id_bound(), 0);
  std::vector<uint32_t> self(graph.id_bound(), 0);
  for (size_t i = 0; i < members.size(); ++i) {
    self[members[i].output.node.value] |= uint32_t{1} << i;
  }
  for (NodeId id : order) {
    uint32_t mask = 0;
    for (Value in : graph.node(id).inputs) {
      mask |= above[in.node.value] | self[in.node.value];
    }
    above[id.value] = mask;
  }
  uint32_t taken = 0;
  std::vector<Member> out;
  for (size_t i = 0; i < members.size(); ++i) {
    const uint32_t bit = uint32_t{1} << i;
    bool clash = (above[members[i].output.node.value] & taken) != 0;
    for (size_t j = 0; j < i; ++j) {
      clash = clash || ((taken >> j & 1) != 0 &&
                        (above[members[j].output.node.value] & bit) != 0);
    }
    if (clash) continue;
    taken |= bit;
    out.push_back(members[i]);
  }
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
  const std::vector<NodeId> order = graph.Order();
  std::vector<std::vector<Member>> whole;
  for (const auto& [shared, members] : groups) {
    whole.push_back(
        Independent(graph, order, {members.begin(), members.end()}));
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
  for (const auto& a : whole) {
    for (const auto& b : whole) {
      if (&a == &b) continue;
      std::set<Key> of_b;
      for (const Member& m : b) of_b.insert(m.own);
      std::vector<Member> common, rest;
      for (const Member& m : a) {
        (of_b.count(m.own) > 0 ? common : rest).push_back(m);
      }
      add(common);
      if (!common.empty()) add(rest);
    }
  }
  return out;
}

}  // namespace isomer::search

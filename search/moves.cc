#include "search/moves.h"

#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/match.h"
#include "search/siblings.h"
#include "search/topology.h"

namespace isomer::search {

namespace {

class Finder {
 public:
  Finder(const ir::Graph& graph, const RuleBook& book,
         const MoveOptions& options, ir::ConstantFacts& facts)
      : graph_(graph),
        book_(book),
        options_(options),
        facts_(facts),
        topology_(graph),
        finite_(graph, topology_, facts),
        index_(graph) {}

  std::vector<Step> Run() {
    for (int r = 0; r < book_.size(); ++r) Of(r);
    return std::move(steps_);
  }

 private:
  bool Free(Value v) const {
    const size_t id = v.node.value;
    return topology_.constant[id] == options_.constants &&
           (id >= options_.frozen.size() || !options_.frozen[id]);
  }

  void Of(int r) {
    const BookRule& rule = book_[r];
    const bool merge = rule.rule.source().outputs.size() > 1;
    if (merge && !options_.merges) return;
    std::vector<ir::Match> matches;
    for (ir::Match& m : ir::FindMatches(graph_, index_, rule.rule, facts_,
                                        {.beyond_cases = rule.definition})) {
      if (absl::c_all_of(m.outputs, [&](Value v) { return Free(v); }) &&
          finite_.Allow(rule.rule, m)) {
        matches.push_back(std::move(m));
      }
    }
    if (matches.empty()) return;
    if (rule.fold && options_.n_ary) {
      for (auto& group : SiblingGroups(graph_, rule.rule, matches)) {
        if (group.size() > 2) {
          steps_.push_back({{.rule = r, .siblings = std::move(group)}});
        }
      }
    }
    if (rule.fold && options_.both_orders) {
      for (const ir::Match& m : matches) {
        steps_.push_back(
            {{.rule = r, .siblings = {m.outputs[1], m.outputs[0]}}});
      }
    }
    std::vector<Move> first;  // of each match the first choice
    for (const ir::Match& m : matches) {
      bool chosen = false;
      for (ir::Match& c : ir::Choices(graph_, rule.rule, m, options_.choices)) {
        Move move{.rule = r, .match = std::move(c)};
        if (!chosen) first.push_back(move);
        chosen = true;
        steps_.push_back({std::move(move)});
      }
    }
    if (options_.together && !merge) Together(first);
  }

  // Several matches of one rule: those at one tensor, and all.
  void Together(const std::vector<Move>& moves) {
    if (moves.size() < 2) return;
    steps_.push_back(moves);
    std::map<std::pair<int, Value>, Step> by_tensor;
    for (const Move& move : moves) {
      for (size_t v = 0; v < move.match.tensors.size(); ++v) {
        const Value t = move.match.tensors[v];
        if (topology_.constant[t.node.value]) continue;
        by_tensor[{static_cast<int>(v), t}].push_back(move);
      }
    }
    for (auto& [key, step] : by_tensor) {
      if (step.size() > 1 && step.size() < moves.size()) {
        steps_.push_back(std::move(step));
      }
    }
  }

  const ir::Graph& graph_;
  const RuleBook& book_;
  const MoveOptions& options_;
  ir::ConstantFacts& facts_;
  const Topology topology_;
  FiniteConstants finite_;
  const ir::OpIndex index_;
  std::vector<Step> steps_;
};

}  // namespace

// Whether the constant itself is finite, not what it is computed from.
bool FiniteConstants::FiniteAlone(NodeId id) {
  const ir::Node& n = graph_.node(id);
  if (n.constant != nullptr) return facts_.Finite(n.constant);
  return n.attrs == nullptr ||
         absl::c_all_of(n.attrs->entries(), [](const auto& entry) {
           const double* number = std::get_if<double>(&entry.second);
           return number == nullptr || std::isfinite(*number);
         });
}

bool FiniteConstants::Finite(NodeId root) {
  std::vector<NodeId> path = {root};
  while (!path.empty()) {
    const NodeId id = path.back();
    const ir::Node::Inputs& inputs = graph_.node(id).inputs;
    const auto next = absl::c_find_if(
        inputs, [&](Value v) { return known_.count(v.node) == 0; });
    if (next != inputs.end()) {
      path.push_back(next->node);
      continue;
    }
    known_[id] = FiniteAlone(id) && absl::c_all_of(inputs, [&](Value v) {
                   return known_.at(v.node);
                 });
    path.pop_back();
  }
  return known_.at(root);
}

bool FiniteConstants::Allow(const ir::Rule& rule, const ir::Match& match) {
  return rule.numerics() == ir::Numerics::kExact ||
         absl::c_all_of(match.tensors, [&](Value v) {
           return !topology_.constant[v.node.value] || Finite(v.node);
         });
}

std::vector<Step> FindSteps(const ir::Graph& graph, const RuleBook& book,
                            const MoveOptions& options,
                            ir::ConstantFacts& facts) {
  return Finder(graph, book, options, facts).Run();
}

}  // namespace isomer::search

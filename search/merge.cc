// What a merge brings is found out once for groups of one form.
#include "search/merge.h"

#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "search/moves.h"
#include "search/siblings.h"
#include "search/step.h"
#include "search/topology.h"

namespace isomer::search {

namespace {

constexpr int kRounds = 12;

// One group of siblings: its nodes taken out, where they stand in the order of
// the graph, and the step that merges them.
struct Merge {
  Part part;
  std::pair<int, int> span;
  Step step;
  int64_t gain_ps = 0;
};

class Merger {
 public:
  explicit Merger(Walk& walk)
      : walk_(walk), book_(walk.book()), session_(walk.session()) {}

  bool Once();

 private:
  Merge MergeOf(int rule, const std::vector<Value>& group,
                const std::vector<NodeId>& nodes,
                const Topology& topology) const;
  std::vector<Merge> FindMerges();
  void Weigh(std::vector<Merge>& merges);
  bool StillConvex(const Merge& m,
                   const std::vector<std::pair<int, int>>& taken) const;
  bool TakeMerge(const Merge& m);

  Walk& walk_;
  const RuleBook& book_;
  Session& session_;
};

// What the matches among the values of a group run.
std::vector<NodeId> NodesOf(
    const std::vector<Value>& group,
    const std::map<Value, std::vector<const ir::Match*>>& by_output,
    const Topology& topology) {
  std::set<NodeId> nodes;
  for (Value output : group) {
    for (const ir::Match* m : by_output.at(output)) {
      if (!absl::c_all_of(m->outputs, [&](Value v) {
            return absl::c_linear_search(group, v);
          })) {
        continue;
      }
      for (NodeId id : m->nodes) {
        if (id.value >= 0 && !topology.constant[id.value]) nodes.insert(id);
      }
    }
  }
  return {nodes.begin(), nodes.end()};
}

// The group of siblings of a rule with what is around it, and how to merge it.
Merge Merger::MergeOf(int rule, const std::vector<Value>& group,
                      const std::vector<NodeId>& nodes,
                      const Topology& topology) const {
  Merge m{TakeOut(walk_.graph(), topology, nodes), topology.Span(nodes), {}, 0};
  std::map<NodeId, NodeId> local;
  for (size_t i = 0; i < m.part.whole.size(); ++i) {
    local[m.part.whole[i].node] = {static_cast<int32_t>(i)};
  }
  Move move{.rule = rule};
  for (Value v : group) move.siblings.push_back({local.at(v.node), v.output});
  m.step = {std::move(move)};
  return m;
}

std::vector<Merge> Merger::FindMerges() {
  const Topology topology(walk_.graph());
  const ir::OpIndex index(walk_.graph());
  FiniteConstants finite(walk_.graph(), topology, session_.facts(0));
  std::vector<Merge> merges;
  for (int r = 0; r < book_.size(); ++r) {
    if (!book_[r].fold || session_.Stopped()) continue;
    std::vector<ir::Match> matches;
    for (ir::Match& m : ir::FindMatches(walk_.graph(), index, book_[r].rule,
                                        session_.facts(0))) {
      if (absl::c_none_of(
              m.outputs,
              [&](Value v) { return topology.constant[v.node.value]; }) &&
          finite.Allow(book_[r].rule, m)) {
        matches.push_back(std::move(m));
      }
    }
    std::map<Value, std::vector<const ir::Match*>> by_output;
    for (const ir::Match& m : matches) {
      for (Value v : m.outputs) by_output[v].push_back(&m);
    }
    for (const auto& group :
         SiblingGroups(walk_.graph(), book_[r].rule, matches)) {
      const std::vector<NodeId> nodes = NodesOf(group, by_output, topology);
      if (!Convex(walk_.graph(), topology, nodes)) continue;
      merges.push_back(MergeOf(r, group, nodes, topology));
    }
  }
  return merges;
}

// Finds out what merges bring. Those of one form bring the same.
void Merger::Weigh(std::vector<Merge>& merges) {
  std::map<std::vector<uint64_t>, int> known;
  std::vector<int> first(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const Move& move = merges[i].step[0];
    std::vector<uint64_t> form = merges[i].part.signature;
    form.push_back(move.rule);
    for (Value v : move.siblings) form.push_back(v.node.value);
    first[i] = known.emplace(std::move(form), i).first->second;
  }
  session_.workers().Run(
      static_cast<int>(merges.size()), [&](int i, int worker) {
        if (first[i] != i || session_.Stopped(worker)) return;
        Merge& m = merges[i];
        absl::StatusOr<Taken> taken =
            Take(m.part.graph, book_, m.step, session_.facts(worker));
        if (!taken.ok()) return;
        // What a merge brings shows in what reads its parts, and further on.
        absl::StatusOr<ir::Graph> whole =
            PutBack(walk_.graph(), m.part, taken->graph);
        if (!whole.ok()) return;
        const cost::Plan plan =
            walk_.Replan(*whole, TouchedBy(walk_.graph(), m.part));
        m.gain_ps = walk_.now_ps() - plan.cost().time_ps;
      });
  for (size_t i = 0; i < merges.size(); ++i) {
    merges[i].gain_ps = merges[first[i]].gain_ps;
  }
  session_.Count(1, static_cast<int64_t>(merges.size()));
}

bool Merger::TakeMerge(const Merge& m) {
  absl::StatusOr<Taken> taken =
      Take(m.part.graph, book_, m.step, session_.facts(0));
  return taken.ok() &&
         walk_.Accept(
             m.part, {std::move(taken->graph), {}, {{m.step, {0}, m.gain_ps}}});
}

// True if merging cannot have been made circular by the merges that `taken`
// names by their spans. One whose nodes all stand before or all after those of
// another leaves their order as it is.
bool Merger::StillConvex(const Merge& m,
                         const std::vector<std::pair<int, int>>& taken) const {
  const bool apart =
      absl::c_all_of(taken, [&](const std::pair<int, int>& other) {
        return other.second < m.span.first || m.span.second < other.first;
      });
  return apart || Convex(walk_.graph(), Topology(walk_.graph()), m.part.inner);
}

// Merges the groups that pay, those that pay most first.
bool Merger::Once() {
  std::vector<Merge> merges = FindMerges();
  Weigh(merges);
  absl::c_stable_sort(merges, [](const Merge& a, const Merge& b) {
    return a.gain_ps > b.gain_ps;
  });
  std::set<NodeId> spent;
  std::vector<std::pair<int, int>> taken;
  for (const Merge& m : merges) {
    if (m.gain_ps <= 0 || session_.OutOfTime()) break;
    if (absl::c_any_of(m.part.inner,
                       [&](NodeId id) { return spent.count(id) > 0; }) ||
        absl::c_any_of(m.part.whole,
                       [&](Value v) {
                         return v.node.value >= 0 && !walk_.graph().Has(v.node);
                       }) ||
        !StillConvex(m, taken) || !TakeMerge(m)) {
      continue;
    }
    taken.push_back(m.span);
    spent.insert(m.part.inner.begin(), m.part.inner.end());
  }
  return !taken.empty();
}

}  // namespace

bool MergeSiblings(Walk& walk) {
  bool any = false;
  for (int i = 0; i < kRounds && !walk.session().Stopped(); ++i) {
    if (!Merger(walk).Once()) break;
    any = true;
  }
  return any;
}

}  // namespace isomer::search

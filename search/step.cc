// Nodes are immutable and shared between a graph and its descendants, so a
// match still stands if the nodes it names are the very same objects.
#include "search/step.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "graph/flatten.h"
#include "graph/rewrite.h"
#include "ops/status.h"

namespace isomer::search {

namespace {

bool StillStands(const ir::Graph& then, const ir::Graph& now,
                 const ir::Match& m) {
  for (NodeId id : m.nodes) {
    if (id.value < 0) continue;
    if (!now.Has(id) || &now.node(id) != &then.node(id)) return false;
  }
  return absl::c_all_of(m.tensors, [&](Value v) { return now.Has(v.node); });
}

}  // namespace

absl::StatusOr<Taken> Take(const ir::Graph& graph, const RuleBook& book,
                           const Step& step, ir::ConstantFacts& facts) {
  Taken out{.graph = graph, .touched = {}, .moves = {}};
  absl::Status why = absl::FailedPreconditionError("the step has no moves");
  for (size_t i = 0; i < step.size(); ++i) {
    const Move& move = step[i];
    const ir::Rule& rule = book[move.rule].rule;
    absl::StatusOr<ir::Graph> next =
        absl::FailedPreconditionError("another move of the step was made");
    if (!move.siblings.empty()) {
      if (absl::c_all_of(move.siblings,
                         [&](Value v) { return out.graph.Has(v.node); })) {
        next = ir::ApplyFold(out.graph, rule, move.siblings, facts);
      }
    } else if (StillStands(graph, out.graph, move.match)) {
      next = ir::Apply(out.graph, rule, move.match);
    }
    if (!next.ok()) {
      why = next.status();
      continue;
    }
    out.graph = *std::move(next);
    out.moves.push_back(static_cast<int>(i));
    for (NodeId id : move.match.nodes) {
      if (id.value >= 0) out.touched.push_back(id);
    }
    for (Value v : move.match.tensors) out.touched.push_back(v.node);
    for (Value v : move.siblings) {
      out.touched.push_back(v.node);
      for (Value in : graph.node(v.node).inputs) {
        out.touched.push_back(in.node);
      }
    }
  }
  if (out.moves.empty()) return why;
  ASSIGN_OR_RETURN(out.graph,
                   ir::Flatten(std::move(out.graph), {graph.id_bound()}));
  absl::c_sort(out.touched);
  out.touched.erase(std::unique(out.touched.begin(), out.touched.end()),
                    out.touched.end());
  return out;
}

bool Matches(const ir::Graph& graph, const RuleBook& book, const Step& step,
             ir::ConstantFacts& facts) {
  const ir::OpIndex index(graph);
  for (const Move& move : step) {
    // The n-ary form looks for its matches itself.
    if (!move.siblings.empty()) continue;
    const BookRule& r = book[move.rule];
    const std::vector<ir::Match> all = ir::FindMatches(
        graph, index, r.rule, facts, {.beyond_cases = r.definition});
    const bool found = absl::c_any_of(all, [&](const ir::Match& m) {
      if (m.outputs != move.match.outputs || m.tensors != move.match.tensors ||
          m.nodes != move.match.nodes) {
        return false;
      }
      for (size_t i = 0; i < m.attrs.size(); ++i) {
        if (m.attrs[i] && m.attrs[i] != move.match.attrs[i]) return false;
      }
      return true;
    });
    if (!found) return false;
  }
  return true;
}

}  // namespace isomer::search

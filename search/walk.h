// Where a search is: the graph it has come to, what that costs, and which rules
// led there. It goes on only to what costs less, or the same and is simpler.
#ifndef ISOMER_SEARCH_WALK_H_
#define ISOMER_SEARCH_WALK_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "cost_model/cost.h"
#include "graph/graph.h"
#include "search/best_first.h"
#include "search/options.h"
#include "search/part.h"
#include "search/session.h"

namespace isomer::search {

class Walk {
 public:
  // How often a rule was applied on the way and what that brought.
  struct Use {
    int64_t times = 0;
    double gain_us = 0;
  };
  struct Place {
    ir::Graph graph;
    cost::Plan plan;
    std::map<int, Use> uses;  // by rule of the book
  };

  // Starts at `graph`.
  Walk(const ir::Graph& graph, const SearchOptions& options, Session& session);

  const Place& here() const { return here_; }
  const ir::Graph& graph() const { return here_.graph; }
  const cost::Plan& plan() const { return here_.plan; }
  int64_t now_ps() const { return here_.plan.cost().time_ps; }
  // The plan of where it started.
  const cost::Plan& before() const { return before_; }
  const SearchOptions& options() const { return options_; }
  const RuleBook& book() const { return session_.book(); }
  Session& session() const { return session_; }

  // The plan of a graph that came from the present one by changing what is
  // around `touched`.
  cost::Plan Replan(const ir::Graph& graph,
                    absl::Span<const NodeId> touched) const {
    return session_.cost().Replan(here_.plan, here_.graph, graph, touched);
  }
  // True if the result may be this large.
  bool WithinMemory(const ir::Graph& graph, const cost::Plan& plan) const;

  // Moves on to a graph that came from the present one by `steps`.
  void Go(ir::Graph graph, cost::Plan plan,
          const std::vector<StepTaken>& steps);
  // Takes over what was found for a part if the whole becomes cheaper.
  bool Accept(const Part& part, const Outcome& outcome);
  // Goes to a place where it has been, and returns the one it leaves.
  Place Return(Place to) { return std::exchange(here_, std::move(to)); }

 private:
  const SearchOptions& options_;
  Session& session_;
  Place here_;
  const cost::Plan before_;
};

// Where the whole graph changes if a part does.
std::vector<NodeId> TouchedBy(const ir::Graph& whole, const Part& part);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_WALK_H_

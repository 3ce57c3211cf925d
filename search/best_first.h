// Relaxed backtracking on one graph: best-first, going on from every graph that
// costs less than alpha times the best, so that a step that makes things worse
// can lead to something better.
//
// A candidate is kept as its parent and the step from it; its graph is made
// again when its turn comes. Graphs seen before are told by hash, then by
// equality. A fixed number of candidates is expanded at a time, so that several
// threads have work and the outcome does not depend on how many there are.
#ifndef ISOMER_SEARCH_BEST_FIRST_H_
#define ISOMER_SEARCH_BEST_FIRST_H_

#include <cstdint>
#include <vector>

#include "cost_model/cost.h"
#include "graph/graph.h"
#include "search/moves.h"
#include "search/session.h"
#include "search/step.h"

namespace isomer::search {

struct BestFirstOptions {
  double alpha = 1.05;
  int64_t slack_ps = 0;  // on top of alpha times the best
  int64_t expansions = 400;
  int64_t patience = 48;  // expansions without a gain before it gives up
  int batch = 4;          // how many graphs are expanded at a time
  bool gains_together = true;
  MoveOptions moves = {};
};

struct StepTaken {
  Step step;
  std::vector<int> made;  // which moves of it were made
  int64_t gain_ps = 0;
};

struct Outcome {
  ir::Graph graph;
  cost::Plan plan;
  std::vector<StepTaken> steps;  // from the start to `graph`
};

// The best graph found from `start`, which is planned as `plan`.
Outcome BestFirst(const ir::Graph& start, const cost::Plan& plan,
                  const BestFirstOptions& options, Session& session);

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_BEST_FIRST_H_

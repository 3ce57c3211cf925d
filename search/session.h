// What all parts of one search share: rules, costs, threads, and the budget.
#ifndef ISOMER_SEARCH_SESSION_H_
#define ISOMER_SEARCH_SESSION_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "cost_model/cost.h"
#include "graph/constant_facts.h"
#include "graph/graph.h"
#include "search/limits.h"
#include "search/rule_book.h"
#include "search/workers.h"

namespace isomer::search {

class Session {
 public:
  Session(const RuleBook& book, const cost::CostModel& cost, Workers& workers,
          const Limits& limits, ProgressFn progress);

  const RuleBook& book() const { return book_; }
  const cost::CostModel& cost() const { return cost_; }
  Workers& workers() { return workers_; }
  // What is known of constants; one for each worker.
  ir::ConstantFacts& facts(int worker) { return facts_[worker]; }
  const Limits& limits() const { return limits_; }

  // Tells all workers what the first one knows of constants.
  void ShareFacts();

  // Accounts for work; tells the caller of the search about it.
  void Count(int64_t expansions, int64_t candidates);
  // Sets what progress tells of the cost of the whole model.
  void SetCosts(int64_t before_ps, int64_t best_ps);
  void OutOfMemory() { End(Stop::kMemory); }
  // True once a limit is reached; then it stays so.
  bool Stopped();
  // The same from within a loop of the workers. Worker 0 is the thread that
  // started the search: it alone calls back.
  bool Stopped(int worker);
  // True if nothing more is to be done at all, however short it is.
  bool OutOfTime() {
    return Stopped() &&
           (reason() == Stop::kTime || reason() == Stop::kCancelled);
  }
  Stop reason() const { return stopped_.value_or(Stop::kDone); }
  int64_t expansions() const { return progress_now_.expansions; }
  int64_t candidates() const { return progress_now_.candidates; }
  int64_t expansions_left() const {
    return limits_.expansions - progress_now_.expansions;
  }

 private:
  void End(Stop why);

  const RuleBook& book_;
  const cost::CostModel& cost_;
  Workers& workers_;
  const Limits limits_;
  const ProgressFn progress_;
  const absl::Time deadline_;
  std::vector<ir::ConstantFacts> facts_;
  Progress progress_now_;
  absl::Time looked_;  // at the clock
  std::optional<Stop> stopped_;
  std::atomic<bool> ended_ = false;  // stopped_, for all threads
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SESSION_H_

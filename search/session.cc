#include "search/session.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace isomer::search {

namespace {

// How often loops look whether they are to stop.
constexpr absl::Duration kLook = absl::Milliseconds(20);

}  // namespace

Session::Session(const RuleBook& book, const cost::CostModel& cost,
                 Workers& workers, const Limits& limits, ProgressFn progress)
    : book_(book),
      cost_(cost),
      workers_(workers),
      limits_(limits),
      progress_(std::move(progress)),
      deadline_(absl::Now() + limits.time),
      facts_(workers.count()) {}

void Session::ShareFacts() {
  std::fill(facts_.begin() + 1, facts_.end(), facts_[0]);
}

void Session::Count(int64_t expansions, int64_t candidates) {
  progress_now_.expansions += expansions;
  progress_now_.candidates += candidates;
}

void Session::SetCosts(int64_t before_ps, int64_t best_ps) {
  progress_now_.before_us = static_cast<double>(before_ps) * 1e-6;
  progress_now_.best_us = static_cast<double>(best_ps) * 1e-6;
}

void Session::End(Stop why) {
  stopped_ = why;
  ended_ = true;
}

bool Session::Stopped() {
  if (stopped_) return true;
  looked_ = absl::Now();
  if (progress_now_.expansions >= limits_.expansions) {
    End(Stop::kExpansions);
  } else if (looked_ >= deadline_) {
    End(Stop::kTime);
  } else if (progress_ && !progress_(progress_now_)) {
    End(Stop::kCancelled);
  }
  return stopped_.has_value();
}

bool Session::Stopped(int worker) {
  if (ended_) return true;
  const absl::Time now = absl::Now();
  if (worker != 0) return now >= deadline_;
  return now - looked_ >= kLook && Stopped();
}

}  // namespace isomer::search

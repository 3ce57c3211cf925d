// Work on several threads whose results are taken in order, so that how many
// threads there are shows in nothing but the time.
#ifndef ISOMER_XFER_GEN_IN_PARALLEL_H_
#define ISOMER_XFER_GEN_IN_PARALLEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace isomer::gen {

// Calls `make(thread, i)` for every number below `n` on some threads, and
// `take(i)` for each in order, one at a time, on whichever thread is free while
// others make. At most `ahead` are made and not taken.
void MakeAndTake(int threads, size_t n, size_t ahead,
                 absl::FunctionRef<void(int thread, size_t)> make,
                 absl::FunctionRef<void(size_t)> take);

// Tasks 0, 1, ..., n-1 in two parts: a short one that tells whether there is
// another, and that other one. Both run ahead of the task that is awaited: the
// short ones less than `window` of them, the long ones a few. Those that are
// like one before them that was not awaited yet come last, since they may well
// be for nothing. With one thread, each runs when it is awaited. What was begun
// ends before this does; the rest may never begin.
class Ahead {
 public:
  // Long parts of one kind are alike.
  using Kind = uint64_t;

  Ahead(int threads, size_t n, size_t window,
        std::function<std::optional<Kind>(size_t)> begin,
        std::function<void(size_t)> finish);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // Returns once task i is done; helps meanwhile. Called for 0, 1, ... in turn.
  void Await(size_t i);

 private:
  void Work();
  // Runs the part that is next.
  void RunNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Begin(size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayBegin() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return next_ < done_.size() && next_ < awaited_ + window_;
  }
  // The task whose long part is next, if one may run.
  std::optional<size_t> ToFinish() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return MayBegin() || ToFinish();
  }

  const size_t window_, most_finishing_;
  const std::function<std::optional<Kind>(size_t)> begin_;
  const std::function<void(size_t)> finish_;
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // to begin
  size_t awaited_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  // Tasks that have a long part: to be run, and run or running but not awaited
  // yet.
  std::map<size_t, Kind> open_ ABSL_GUARDED_BY(mutex_);
  std::map<size_t, Kind> finishing_ ABSL_GUARDED_BY(mutex_);
  std::vector<bool> done_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> pool_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_IN_PARALLEL_H_

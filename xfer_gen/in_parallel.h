// Work on several threads whose results are taken in order, so that how many
// threads there are shows in nothing but the time.
#ifndef ISOMER_XFER_GEN_IN_PARALLEL_H_
#define ISOMER_XFER_GEN_IN_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace isomer::gen {

// Runs a task for every number below `n` on some threads.
void InParallel(int threads, size_t n, absl::FunctionRef<void(size_t)> task);

// Runs tasks 0, 1, ..., n-1, a few ahead of the one that is awaited. With one
// thread, each runs when it is awaited. Tasks that were begun end before this
// does; others may never begin.
class Ahead {
 public:
  Ahead(int threads, size_t n, std::function<void(size_t)> task);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // Returns once task i is done; helps meanwhile. Called for 0, 1, ... in turn.
  void Await(size_t i);

 private:
  void Work();
  // Runs the next task.
  void RunNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return next_ < done_.size() && next_ < awaited_ + window_;
  }

  const size_t window_;
  const std::function<void(size_t)> task_;
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t awaited_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<bool> done_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> pool_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_IN_PARALLEL_H_

// Who awaits a task works on those that are next until it is done.
#include "xfer_gen/in_parallel.h"

#include <atomic>
#include <utility>

namespace isomer::gen {

namespace {

// Tasks ahead, per thread: more keep threads from waiting for each other, fewer
// are done for nothing.
constexpr size_t kAhead = 2;

}  // namespace

void InParallel(int threads, size_t n, absl::FunctionRef<void(size_t)> task) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < n; i = next++) task(i);
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
}

Ahead::Ahead(int threads, size_t n, std::function<void(size_t)> task)
    : window_(threads > 1 ? kAhead * static_cast<size_t>(threads) : 1),
      task_(std::move(task)),
      done_(n) {
  if (n < 2) return;
  for (int t = 1; t < threads; ++t) pool_.emplace_back([this] { Work(); });
}

Ahead::~Ahead() {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
  }
  for (std::thread& t : pool_) t.join();
}

void Ahead::RunNext() {
  const size_t i = next_++;
  mutex_.Unlock();
  task_(i);
  mutex_.Lock();
  done_[i] = true;
}

void Ahead::Work() {
  absl::MutexLock lock(&mutex_);
  auto go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ended_ || next_ == done_.size() || MayRun();
  };
  for (;;) {
    mutex_.Await(absl::Condition(&go_on));
    if (ended_ || next_ == done_.size()) return;
    RunNext();
  }
}

void Ahead::Await(size_t i) {
  absl::MutexLock lock(&mutex_);
  awaited_ = i;
  auto go_on = [this, i]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return done_[i] || MayRun();
  };
  while (!done_[i]) {
    mutex_.Await(absl::Condition(&go_on));
    if (!done_[i]) RunNext();
  }
}

}  // namespace isomer::gen

// Who awaits a task works on those that are next until it is done.
#include "xfer_gen/in_parallel.h"

#include <set>
#include <utility>

namespace isomer::gen {

namespace {

// Long parts ahead, per thread: more keep threads from waiting for each other,
// fewer are done for nothing.
constexpr size_t kAhead = 8;

}  // namespace

void MakeAndTake(int threads, size_t n, size_t ahead,
                 absl::FunctionRef<void(int thread, size_t)> make,
                 absl::FunctionRef<void(size_t)> take) {
  absl::Mutex mutex;
  size_t next = 0, taken = 0;  // to be made, and to be taken
  bool taking = false;
  std::vector<bool> made(n);
  auto may_take = [&] { return taken < n && !taking && made[taken]; };
  auto may_make = [&] { return next < n && next < taken + ahead; };
  auto go_on = [&] { return taken == n || may_take() || may_make(); };
  auto work = [&](int thread) {
    absl::MutexLock lock(&mutex);
    while (mutex.Await(absl::Condition(&go_on)), taken < n) {
      const bool takes = may_take();
      const size_t i = takes ? taken : next++;
      taking = taking || takes;
      mutex.Unlock();
      if (takes) {
        take(i);
      } else {
        make(thread, i);
      }
      mutex.Lock();
      if (takes) {
        ++taken;
        taking = false;
      } else {
        made[i] = true;
      }
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work, t);
  work(0);
  for (std::thread& t : pool) t.join();
}

Ahead::Ahead(int threads, size_t n, size_t window,
             std::function<std::optional<Kind>(size_t)> begin,
             std::function<void(size_t)> finish)
    : window_(threads > 1 ? window : 1),
      most_finishing_(kAhead * static_cast<size_t>(threads)),
      begin_(std::move(begin)),
      finish_(std::move(finish)),
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

void Ahead::Begin(size_t i) {
  mutex_.Unlock();
  const std::optional<Kind> more = begin_(i);
  mutex_.Lock();
  if (more) {
    open_.emplace(i, *more);
  } else {
    done_[i] = true;
  }
}

void Ahead::Finish(size_t i) {
  finishing_.insert(open_.extract(i));
  mutex_.Unlock();
  finish_(i);
  mutex_.Lock();
  done_[i] = true;
}

std::optional<size_t> Ahead::ToFinish() const {
  if (open_.empty()) return std::nullopt;
  if (open_.begin()->first == awaited_) return awaited_;
  if (finishing_.size() >= most_finishing_) return std::nullopt;
  std::set<Kind> before;
  for (const auto& [i, kind] : finishing_) before.insert(kind);
  for (const auto& [i, kind] : open_) {
    if (before.insert(kind).second) return i;
  }
  return open_.begin()->first;
}

// What is awaited comes first. Short parts come before others, since they are
// never for nothing.
void Ahead::RunNext() {
  const std::optional<size_t> i = ToFinish();
  if (i && (*i == awaited_ || !MayBegin())) {
    Finish(*i);
  } else {
    Begin(next_++);
  }
}

void Ahead::Work() {
  absl::MutexLock lock(&mutex_);
  auto go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ended_ || MayRun();
  };
  for (;;) {
    mutex_.Await(absl::Condition(&go_on));
    if (ended_) return;
    RunNext();
  }
}

void Ahead::Await(size_t i) {
  absl::MutexLock lock(&mutex_);
  awaited_ = i;
  finishing_.erase(finishing_.begin(), finishing_.lower_bound(i));
  auto go_on = [this, i]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return done_[i] || MayRun();
  };
  while (!done_[i]) {
    mutex_.Await(absl::Condition(&go_on));
    if (!done_[i]) RunNext();
  }
}

}  // namespace isomer::gen

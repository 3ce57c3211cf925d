#include "search/workers.h"

#include <algorithm>

namespace isomer::search {

Workers::Workers(int threads) {
  if (threads <= 0) {
    threads =
        std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this, i] {
      int seen = 0;
      while (true) {
        {
          std::unique_lock<std::mutex> lock(mutex_);
          work_.wait(lock, [&] { return stop_ || round_ != seen; });
          if (stop_) return;
          seen = round_;
        }
        Help(i);
        std::lock_guard<std::mutex> lock(mutex_);
        if (--busy_ == 0) done_.notify_one();
      }
    });
  }
}

Workers::~Workers() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Workers::Help(int worker) {
  for (int i = next_++; i < items_; i = next_++) (*body_)(i, worker);
}

void Workers::Run(int items,
                  const std::function<void(int item, int worker)>& body) {
  if (items <= 1 || threads_.empty()) {
    for (int i = 0; i < items; ++i) body(i, 0);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    body_ = &body;
    items_ = items;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    ++round_;
  }
  work_.notify_all();
  Help(0);
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace isomer::search

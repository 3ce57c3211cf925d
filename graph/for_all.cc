#include "graph/for_all.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace isomer {

void ForAll(int64_t n, absl::FunctionRef<void(int64_t)> f, int threads) {
  if (threads == 0) {
    threads = static_cast<int>(std::thread::hardware_concurrency());
  }
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i = next++; i < n; i = next++) f(i);
  };
  std::vector<std::thread> pool;
  for (int64_t t = 1; t < std::min<int64_t>(threads, n); ++t) {
    pool.emplace_back(work);
  }
  work();
  for (std::thread& t : pool) t.join();
}

}  // namespace isomer

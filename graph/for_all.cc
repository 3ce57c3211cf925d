#include "graph/for_all.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace isomer {

void ForAll(int n, const std::function<void(int)>& f) {
  std::atomic<int> next{0};
  auto work = [&] {
    for (int i = next++; i < n; i = next++) f(i);
  };
  const int count =
      std::min<int>(n, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
}

}  // namespace isomer

// A few threads that share out the items of a loop. What an item does must
// depend on its number alone, so that results do not depend on who did it.
#ifndef ISOMER_SEARCH_WORKERS_H_
#define ISOMER_SEARCH_WORKERS_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace isomer::search {

class Workers {
 public:
  // `threads` in all, the caller's included; 0 takes one for each core.
  explicit Workers(int threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(item, worker) once for each item below `items` and returns when
  // all are done. Two calls with the same worker never run at once.
  void Run(int items, const std::function<void(int item, int worker)>& body);

 private:
  void Help(int worker);

  std::mutex mutex_;
  std::condition_variable work_, done_;
  const std::function<void(int, int)>* body_ = nullptr;
  int items_ = 0;
  std::atomic<int> next_{0};
  int busy_ = 0;
  int round_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_WORKERS_H_

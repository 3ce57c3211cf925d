// The threads of a kernel as fibers of one thread of the CPU, their barriers
// and shared memory, and the order in which things happen.
//
// A GPU promises little about order: a copy that was asked for may be there at
// once, or only when it is waited for. The machine goes to one or the other
// extreme, so that a kernel that does not wait for what it needs computes
// something else in one of them. Shared memory starts as NaN.
#ifndef ISOMER_CUDA_EMULATOR_MACHINE_H_
#define ISOMER_CUDA_EMULATOR_MACHINE_H_

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda/emulator/host.h"

namespace isomer::cuda::emulator {

// What is asked for happens at once, and threads run in their order; or as late
// as it may, and they run in the opposite order.
enum class Order { kEarly, kLate };

// How a kernel is launched, and what happens around it.
struct Launch {
  std::array<int, 3> grid = {1, 1, 1};
  int block = 1, shared_bytes = 0;
  int cluster = 1;             // blocks along z that work together
  std::function<void()> body;  // of each thread
  // Before each cluster; when threads may read what the kernel before wrote,
  // which is when no other can go on.
  std::function<void()> hide = [] {}, publish = [] {};
};

class Machine {
 public:
  explicit Machine(Order order) : order_(order) {}

  // Runs all blocks, cluster by cluster. What a kernel does wrong is an error:
  // threads that wait for ever, barriers with more arrivals than they expect,
  // addresses outside of shared memory.
  absl::Status Run(const Launch& launch);
  // Of the thread that runs now.
  IsoHost* host() { return &host_; }
  // The machine that runs on this thread of the CPU.
  static Machine& Current();

  // ---- For the thread that runs now
  [[noreturn]] void Fail(absl::string_view message);
  // Until it holds; `what` is for messages.
  void WaitUntil(absl::string_view what, std::function<bool()> holds);
  int lane() const { return current_->index % 32; }

  // All lanes of the warp that have not ended give something, and see what each
  // gave. They have to meet at the same `what`.
  template <class T>
  const T* Exchange(absl::string_view what, const T& mine) {
    static_assert(sizeof(T) <= sizeof(Given) / kWarp);
    return reinterpret_cast<const T*>(Meet(what, &mine, sizeof(T)));
  }
  void SyncWarp() { Exchange("__syncwarp", 0); }
  void SyncThreads();
  // A numbered barrier of a block, where so many threads arrive, some of which
  // wait.
  void NamedBarrier(int number, int count, bool wait);
  void ClusterArrive();
  void ClusterWait();
  void WaitForKernelBefore();

  // ---- Shared memory. Addresses of a block have 24 bits; above them stands
  // which block of the cluster it is, plus 1, or 0 for the thread's own.
  uint32_t ToShared(const void* p);
  static uint32_t AtPeer(uint32_t at, uint32_t rank) {
    return (at & 0xffffff) | (rank + 1) << 24;
  }
  char* SharedAt(uint32_t at, int64_t bytes);
  void* DynamicShared();
  void* Shared(const void* site, unsigned size, unsigned alignment);

  // ---- Barriers in shared memory, which count arrivals and bytes
  void StartBarrier(uint32_t at, int count);
  void Arrive(uint32_t at, int64_t expected_bytes);
  void WaitBarrier(uint32_t at, int parity);

  // ---- What happens some time later
  // By itself: so many bytes are written, and the barrier beside them counts
  // that.
  void Give(uint32_t barrier, int64_t bytes, std::function<void()> write);
  // Of this thread, with others that it commits together, when it waits for
  // them at the latest. Copies and products are counted apart.
  enum Kind { kCopies, kProducts };
  void Add(Kind kind, std::function<void()> action);
  void Commit(Kind kind);
  // Until `most` of its groups are left.
  void Await(Kind kind, size_t most);

 private:
  static constexpr int kWarp = 32;
  using Given = std::array<std::array<char, 64>, kWarp>;
  struct Warp {
    int live = 0, arrived = 0, generation = 0;
    absl::string_view what;
    std::array<Given, 2> given;
  };
  struct Barrier {
    int expected = 0, pending = 0, phase = 0;
    int64_t bytes = 0;
  };
  struct Named {
    int arrived = 0, generation = 0;
  };
  struct Block {
    IsoIndex index = {};
    int rank = 0, live = 0, arrived = 0, generation = 0;
    std::vector<char> memory;
    int64_t used = 0;
    std::map<const void*, char*> sites;
    std::vector<Warp> warps;
    std::map<uint32_t, Barrier> barriers;
    std::map<int, Named> named;
  };
  // Bytes that are on their way to a block.
  struct Gift {
    const Block* to;
    std::function<void()> arrive;
  };
  struct Actions {
    std::vector<std::function<void()>> open;
    std::deque<std::vector<std::function<void()>>> groups;
  };
  struct Thread {
    ucontext_t context;
    Block* block = nullptr;
    int index = 0;
    bool ended = false;
    absl::string_view what;
    std::function<bool()> holds;  // what it waits for
    int cluster_arrivals = 0;
    std::array<Actions, 2> actions;
  };

  static void StartThread();
  const char* Meet(absl::string_view what, const void* mine, size_t size);
  void RunCluster(const Launch& launch);
  // True if some thread could go on.
  bool RunThreads();
  void Switch(Thread& thread);
  void End(Thread& thread);
  Warp& warp() { return current_->block->warps[current_->index / kWarp]; }
  Block& BlockOf(uint32_t at);
  Barrier& BarrierAt(uint32_t at);
  static void Count(Barrier& barrier);
  char* StackOf(size_t thread);
  std::string Waiting() const;

  const Order order_;
  IsoHost host_ = {};
  const Launch* launch_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;  // of the cluster that runs
  std::vector<Thread> threads_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::deque<Gift> later_;
  int cluster_live_ = 0, cluster_arrived_ = 0, cluster_generation_ = 0;
  bool published_ = false;
  Thread* current_ = nullptr;
  ucontext_t scheduler_;
  std::string error_;
};

}  // namespace isomer::cuda::emulator

#endif  // ISOMER_CUDA_EMULATOR_MACHINE_H_

// Threads run until they wait for something. When none can go on, what is still
// to happen happens, the last first; when there is nothing left either, they
// wait for ever.
#include "cuda/emulator/machine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace isomer::cuda::emulator {

namespace {

constexpr int64_t kStackBytes = 256 << 10;
// What a block may have, and how much of it may be declared with a size; where
// its memory starts, which is no multiple of what tiles want.
constexpr int64_t kMost = 227 << 10, kMostStatic = 48 << 10;
constexpr int64_t kDynamicAt = 1024 + 128;

thread_local Machine* running = nullptr;

// Functions of the host are plain ones.
void SyncThreadsOfHost() { Machine::Current().SyncThreads(); }
void SyncWarpOfHost() { Machine::Current().SyncWarp(); }
unsigned ToSharedOfHost(const void* p) {
  return Machine::Current().ToShared(p);
}
unsigned long long ShuffleOfHost(unsigned long long bits, int lane) {
  return Machine::Current().Exchange("__shfl_sync", bits)[lane];
}
void* DynamicOfHost() { return Machine::Current().DynamicShared(); }
void* SharedOfHost(const void* site, unsigned size, unsigned alignment) {
  return Machine::Current().Shared(site, size, alignment);
}

}  // namespace

Machine& Machine::Current() { return *running; }

absl::Status Machine::Run(const Launch& launch) {
  if (launch.shared_bytes > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a block has ", kMost, " bytes, not ", launch.shared_bytes));
  }
  Machine* before = std::exchange(running, this);
  launch_ = &launch;
  error_.clear();
  host_.sync_threads = SyncThreadsOfHost;
  host_.sync_warp = SyncWarpOfHost;
  host_.to_shared = ToSharedOfHost;
  host_.shuffle = ShuffleOfHost;
  host_.dynamic_shared = DynamicOfHost;
  host_.shared = SharedOfHost;
  auto extent = [&](int d) { return static_cast<unsigned>(launch.grid[d]); };
  host_.grid_size = {extent(0), extent(1), extent(2)};
  host_.block_size = {static_cast<unsigned>(launch.block), 1, 1};
  for (unsigned z = 0; z < extent(2); z += launch.cluster) {
    for (unsigned y = 0; y < extent(1); ++y) {
      for (unsigned x = 0; x < extent(0); ++x) {
        blocks_.clear();
        for (int rank = 0; rank < launch.cluster; ++rank) {
          auto block = std::make_unique<Block>();
          block->index = {x, y, z + rank};
          block->rank = rank;
          blocks_.push_back(std::move(block));
        }
        RunCluster(launch);
        if (!error_.empty()) {
          running = before;
          return absl::InternalError(
              absl::StrCat("block ", x, " ", y, " ", z, ": ", error_));
        }
      }
    }
  }
  running = before;
  return absl::OkStatus();
}

char* Machine::StackOf(size_t thread) {
  while (stacks_.size() <= thread) {
    stacks_.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
  }
  return stacks_[thread].get();
}

void Machine::RunCluster(const Launch& launch) {
  launch.hide();
  published_ = false;
  later_.clear();
  const int count = launch.block * launch.cluster;
  cluster_live_ = count;
  cluster_arrived_ = cluster_generation_ = 0;
  threads_ = std::vector<Thread>(count);
  for (auto& block : blocks_) {
    block->live = launch.block;
    block->used = kDynamicAt + launch.shared_bytes;
    block->memory.assign(
        std::min(block->used + kMostStatic, kDynamicAt + kMost), '\xff');
    block->warps.resize((launch.block + kWarp - 1) / kWarp);
    for (int i = 0; i < launch.block; ++i) {
      ++block->warps[i / kWarp].live;
      const size_t number = block->rank * launch.block + i;
      Thread& t = threads_[number];
      t.block = block.get();
      t.index = i;
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = StackOf(number);
      t.context.uc_stack.ss_size = kStackBytes;
      t.context.uc_link = &scheduler_;
      makecontext(&t.context, &Machine::StartThread, 0);
    }
  }
  while (cluster_live_ > 0 && error_.empty()) {
    if (RunThreads()) continue;
    if (!published_) {
      launch.publish();
      published_ = true;
    } else if (!later_.empty()) {
      const Gift gift = std::move(later_.back());
      later_.pop_back();
      gift.arrive();
    } else {
      error_ = absl::StrCat("threads wait for ever: ", Waiting());
    }
  }
  if (!published_) launch.publish();
}

bool Machine::RunThreads() {
  const auto threads = static_cast<int>(threads_.size());
  const int each = threads / static_cast<int>(blocks_.size());
  bool any = false;
  // Blocks do not start together: one goes as far as it can first.
  for (int first = 0; first < threads; first += each) {
    // As do warps: the next one runs when those before it cannot go on.
    for (int warp = first; warp < first + each && error_.empty();) {
      bool more = false;
      const int end = std::min(warp + kWarp, first + each);
      for (int i = warp; i < end && error_.empty(); ++i) {
        Thread& t = threads_[order_ == Order::kEarly ? i : threads - 1 - i];
        if (t.ended || (t.holds && !t.holds())) continue;
        Switch(t);
        more = any = true;
      }
      warp = more ? first : end;
    }
  }
  return any;
}

void Machine::Switch(Thread& thread) {
  current_ = &thread;
  host_.thread = {static_cast<unsigned>(thread.index), 0, 0};
  host_.block = thread.block->index;
  swapcontext(&scheduler_, &thread.context);
  current_ = nullptr;
}

void Machine::StartThread() {
  Machine& m = Current();
  m.launch_->body();
  m.End(*m.current_);
  // What is left of it returns to the scheduler.
}

void Machine::End(Thread& thread) {
  thread.ended = true;
  --cluster_live_;
  Block& block = *thread.block;
  // Others need not wait for it.
  auto left = [](int live, int& arrived, int& generation) {
    if (live == 0 || arrived != live) return;
    arrived = 0;
    ++generation;
  };
  left(--block.live, block.arrived, block.generation);
  for (const Gift& g : later_) {
    if (block.live > 0 || g.to != &block) continue;
    error_ = absl::StrCat("block ", block.rank,
                          " ended while bytes were on their way to it");
  }
  Warp& w = block.warps[thread.index / kWarp];
  left(--w.live, w.arrived, w.generation);
  left(cluster_live_, cluster_arrived_, cluster_generation_);
}

std::string Machine::Waiting() const {
  std::map<std::string, std::vector<int>> by;
  for (const Thread& t : threads_) {
    if (!t.ended) {
      by[absl::StrCat(t.what, " in block ", t.block->rank)].push_back(t.index);
    }
  }
  std::vector<std::string> out;
  for (const auto& [what, threads] : by) {
    out.push_back(absl::StrCat(threads.size(), " from ", threads[0], " to ",
                               threads.back(), " for ", what));
  }
  return absl::StrJoin(out, "; ");
}

void Machine::Fail(absl::string_view message) {
  error_ = absl::StrCat("thread ", current_->index, ": ", message);
  // It is not run any more.
  while (true) swapcontext(&current_->context, &scheduler_);
}

void Machine::WaitUntil(absl::string_view what, std::function<bool()> holds) {
  if (holds()) return;
  Thread& t = *current_;
  t.what = what;
  t.holds = std::move(holds);
  swapcontext(&t.context, &scheduler_);
  t.holds = nullptr;
}

const char* Machine::Meet(absl::string_view what, const void* mine,
                          size_t size) {
  Warp& w = warp();
  const int now = w.generation;
  char* given = w.given[now % 2].data()->data();
  if (w.arrived == 0) w.what = what;
  if (w.what != what) {
    Fail(absl::StrCat("other lanes of the warp are at ", w.what,
                      ", this one at ", what));
  }
  std::memcpy(given + lane() * size, mine, size);
  if (++w.arrived == w.live) {
    w.arrived = 0;
    ++w.generation;
  } else {
    WaitUntil(what, [&w, now] { return w.generation != now; });
  }
  return given;
}

void Machine::SyncThreads() {
  Block& b = *current_->block;
  const int now = b.generation;
  if (++b.arrived == b.live) {
    b.arrived = 0;
    ++b.generation;
    return;
  }
  WaitUntil("__syncthreads", [&b, now] { return b.generation != now; });
}

void Machine::NamedBarrier(int number, int count, bool wait) {
  Named& b = current_->block->named[number];
  const int now = b.generation;
  if (++b.arrived == count) {
    b.arrived = 0;
    ++b.generation;
  }
  if (wait) WaitUntil("bar.sync", [&b, now] { return b.generation != now; });
}

void Machine::ClusterArrive() {
  ++current_->cluster_arrivals;
  if (++cluster_arrived_ == cluster_live_) {
    cluster_arrived_ = 0;
    ++cluster_generation_;
  }
}

void Machine::ClusterWait() {
  const int wanted = current_->cluster_arrivals;
  WaitUntil("barrier.cluster.wait",
            [this, wanted] { return cluster_generation_ >= wanted; });
}

void Machine::WaitForKernelBefore() {
  WaitUntil("griddepcontrol.wait", [this] { return published_; });
}

// ---- Shared memory

uint32_t Machine::ToShared(const void* p) {
  const Block& block = *current_->block;
  const auto at = static_cast<const char*>(p) - block.memory.data();
  if (at < 0 || at > block.used) Fail("an address is not in shared memory");
  return static_cast<uint32_t>(at);
}

Machine::Block& Machine::BlockOf(uint32_t at) {
  const uint32_t rank = at >> 24;
  if (rank == 0) return *current_->block;
  if (rank > blocks_.size()) {
    Fail(absl::StrCat("the cluster has no block ", rank - 1));
  }
  Block& block = *blocks_[rank - 1];
  if (block.live == 0) {
    Fail(absl::StrCat("block ", rank - 1, " of the cluster has ended"));
  }
  return block;
}

char* Machine::SharedAt(uint32_t at, int64_t bytes) {
  Block& block = BlockOf(at);
  const int64_t offset = at & 0xffffff;
  if (offset < kDynamicAt || offset + bytes > block.used) {
    Fail(absl::StrCat(bytes, " bytes at ", offset,
                      " are outside of the block's memory, which ends at ",
                      block.used));
  }
  if (offset % std::min<int64_t>(bytes, 16) != 0) {
    Fail(absl::StrCat(bytes, " bytes at ", offset, " are not aligned"));
  }
  return block.memory.data() + offset;
}

void* Machine::DynamicShared() {
  return current_->block->memory.data() + kDynamicAt;
}

void* Machine::Shared(const void* site, unsigned size, unsigned alignment) {
  Block& block = *current_->block;
  const auto [it, added] = block.sites.insert({site, nullptr});
  if (added) {
    // Multiples of what any type wants.
    const int64_t unit = std::max<int64_t>(alignment, 16);
    const int64_t start = (block.used + unit - 1) / unit * unit;
    if (start + size > static_cast<int64_t>(block.memory.size())) {
      Fail("too much shared memory");
    }
    it->second = block.memory.data() + start;
    block.used = start + size;
  }
  return it->second;
}

// ---- Barriers in shared memory

void Machine::StartBarrier(uint32_t at, int count) {
  SharedAt(at, 8);
  BlockOf(at).barriers[at & 0xffffff] = {count, count};
}

Machine::Barrier& Machine::BarrierAt(uint32_t at) {
  Block& block = BlockOf(at);
  const auto it = block.barriers.find(at & 0xffffff);
  if (it == block.barriers.end()) Fail("there is no mbarrier at the address");
  return it->second;
}

void Machine::Count(Barrier& b) {
  if (b.pending > 0 || b.bytes != 0) return;
  b.phase ^= 1;
  b.pending = b.expected;
}

void Machine::Arrive(uint32_t at, int64_t expected_bytes) {
  Barrier& b = BarrierAt(at);
  --b.pending;
  b.bytes += expected_bytes;
  if (b.pending < 0) Fail("an mbarrier has more arrivals than it expects");
  Count(b);
}

void Machine::WaitBarrier(uint32_t at, int parity) {
  Barrier& b = BarrierAt(at);
  WaitUntil("mbarrier", [&b, parity] { return b.phase != parity; });
}

// ---- What happens some time later

void Machine::Give(uint32_t barrier, int64_t bytes,
                   std::function<void()> write) {
  Barrier& b = BarrierAt(barrier);
  auto arrive = [&b, bytes, write = std::move(write)] {
    write();
    b.bytes -= bytes;
    Count(b);
  };
  if (order_ == Order::kEarly) return arrive();
  later_.push_back({&BlockOf(barrier), std::move(arrive)});
}

void Machine::Add(Kind kind, std::function<void()> action) {
  if (order_ == Order::kEarly) return action();
  current_->actions[kind].open.push_back(std::move(action));
}

void Machine::Commit(Kind kind) {
  Actions& a = current_->actions[kind];
  a.groups.push_back(std::exchange(a.open, {}));
}

void Machine::Await(Kind kind, size_t most) {
  Actions& a = current_->actions[kind];
  while (a.groups.size() > most) {
    for (const auto& action : a.groups.front()) action();
    a.groups.pop_front();
  }
}

}  // namespace isomer::cuda::emulator

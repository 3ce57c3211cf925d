// What an expansion takes does not depend on the size of the model: a graph of
// four times the layers takes as much time and memory for each.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <vector>

#include "bench/taso_graphs.h"
#include "cost_model/cost.h"
#include "search/optimize.h"

namespace isomer::bench {
namespace {

// What this program has allocated so far, what of that it has, and the most it
// ever had.
std::atomic<int64_t> allocated = 0, live = 0, most = 0;

void* Allocate(size_t bytes) {
  void* p = std::malloc(std::max<size_t>(bytes, 1));
  if (p == nullptr) std::abort();
  const auto n = static_cast<int64_t>(malloc_usable_size(p));
  allocated += n;
  most = std::max<int64_t>(most, live += n);
  return p;
}

void Free(void* p) {
  if (p == nullptr) return;
  live -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

struct Use {
  double expansions = 0, cpu = 0, allocated = 0, most = 0;
};

// What a search takes; of several, the fastest.
Use Search(int layers, bool repeat) {
  std::vector<std::string> refused;
  const auto book = search::RuleBook::BuiltIn(refused);
  EXPECT_TRUE(book.ok()) << book.status();
  const auto target = cost::Target::Named("h200");
  EXPECT_TRUE(target.ok()) << target.status();
  const ir::Graph graph = Transformer(layers);
  search::SearchOptions options;
  options.threads = 1;
  options.repeat = repeat;
  Use use{.cpu = 1e9};
  for (int i = 0; i < 5; ++i) {
    const auto cost = cost::CostModel::Create(*target);
    EXPECT_TRUE(cost.ok()) << cost.status();
    const int64_t allocated_before = allocated, live_before = live;
    most = live_before;
    const double start = CpuSeconds();
    const auto r = search::Optimize(graph, *book, *cost, options);
    EXPECT_TRUE(r.ok()) << r.status();
    use.cpu = std::min(use.cpu, CpuSeconds() - start);
    use.allocated = static_cast<double>(allocated - allocated_before);
    use.most = static_cast<double>(most - live_before);
    use.expansions = static_cast<double>(r->expansions);
  }
  return use;
}

// Where every layer is searched by itself, expansions are as many as layers.
TEST(GrowthTest, AnExpansionTakesTheSameInALargerModel) {
  const Use some = Search(12, false), many = Search(48, false);
  EXPECT_GT(many.expansions, 3 * some.expansions);
  const double times = many.expansions / some.expansions;
  EXPECT_LT(many.cpu / some.cpu, 1.5 * times);
  EXPECT_LT(many.allocated / some.allocated, 1.5 * times);
  EXPECT_LT(many.most / some.most, 1.5 * times);
}

TEST(GrowthTest, TwiceTheLayersTakeLessThanTwice) {
  constexpr double kMost = 1.8;
  Use some = Search(12, true), many = Search(24, true);
  // While the machine does other things too, one of them may have been slow.
  for (int more = 5; more > 0 && many.cpu >= kMost * some.cpu; --more) {
    some.cpu = std::min(some.cpu, Search(12, true).cpu);
    many.cpu = std::min(many.cpu, Search(24, true).cpu);
  }
  EXPECT_EQ(many.expansions, some.expansions);
  EXPECT_LT(many.allocated / some.allocated, 1.5);
  EXPECT_LT(many.most / some.most, 2);
  EXPECT_LT(many.cpu / some.cpu, kMost);
}

}  // namespace
}  // namespace isomer::bench

void* operator new(size_t bytes) { return isomer::bench::Allocate(bytes); }
void operator delete(void* p) noexcept { isomer::bench::Free(p); }
void operator delete(void* p, size_t) noexcept { isomer::bench::Free(p); }

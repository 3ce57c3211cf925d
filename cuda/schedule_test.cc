// What runs side by side, and that nothing runs before what it waits for.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cuda/program.h"
#include "cuda/program_testing.h"
#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

// True where step a has ended when step b starts, by the streams' own order and
// by what steps wait for.
std::vector<std::vector<bool>> EndedBefore(const Program& p) {
  const auto n = static_cast<int>(p.steps.size());
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (int b = 0; b < n; ++b) {
    std::vector<int> direct = p.schedule.steps[b].after;
    for (int a = 0; a < b; ++a) {
      if (p.schedule.steps[a].stream == p.schedule.steps[b].stream) {
        direct.push_back(a);
      }
    }
    for (int a : direct) {
      before[a][b] = true;
      for (int k = 0; k < a; ++k) before[k][b] = before[k][b] || before[k][a];
    }
  }
  return before;
}

// Whatever reads a buffer starts after those before it that write it, and
// buffers share memory only if all who use one have ended before any that uses
// the other starts.
void ExpectOrdered(const Program& p) {
  const auto before = EndedBefore(p);
  std::vector<std::vector<int>> users(p.buffers.size());
  for (int i = 0; i < static_cast<int>(p.steps.size()); ++i) {
    for (int b : p.steps[i].arguments) users[b].push_back(i);
  }
  auto reads = [&](int step, int buffer) {
    const Step& s = p.steps[step];
    return std::count(s.arguments.begin(), s.arguments.begin() + s.reads,
                      buffer) > 0;
  };
  for (int b = 0; b < static_cast<int>(p.buffers.size()); ++b) {
    for (int w : users[b]) {
      for (int r : users[b]) {
        if (w >= r || reads(w, b) || !reads(r, b)) continue;
        EXPECT_TRUE(before[w][r]) << w << " writes what " << r << " reads";
      }
    }
  }
  auto all_before = [&](int x, int y) {
    for (int a : users[x]) {
      for (int b : users[y]) {
        if (!before[a][b]) return false;
      }
    }
    return true;
  };
  for (size_t x = 0; x < users.size(); ++x) {
    for (size_t y = 0; y < x; ++y) {
      const Buffer &a = p.buffers[x], &b = p.buffers[y];
      if (a.kind != Buffer::Kind::kScratch || b.kind != a.kind) continue;
      if (a.offset >= b.offset + b.bytes || b.offset >= a.offset + a.bytes) {
        continue;
      }
      EXPECT_TRUE(all_before(x, y) || all_before(y, x)) << x << " " << y;
    }
  }
}

TEST(Schedule, BranchesRunSideBySide) {
  std::string text =
      "input x: f16[1,64,35,35]\nconst a: f16[64,64,1,1] = 0.5\n"
      "const b: f16[64,64,3,3] = 0.5\nconst e: f16[64,192,3,3] = 0.5\n"
      "x0 = relu(x)\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = absl::StrCat(i), next = absl::StrCat(i + 1);
    absl::StrAppend(&text, "p", n, " = conv2d(x", n, ", a)\n", "q", n,
                    " = conv2d(x", n, ", b, pad=1)\n", "r", n, " = relu(q", n,
                    ")\n", "s", n, " = conv2d(r", n, ", b, pad=1)\n", "t", n,
                    " = max_pool(x", n, ", kernel=[3 3], pad=1)\n", "k", n,
                    " = concat(p", n, ", s", n, ", t", n, ", axis=1)\n", "x",
                    next, " = conv2d(k", n, ", e, pad=1)\n");
  }
  text += "output y = x3\noutput z = r1\n";
  const auto p = ProgramOf(text);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_GT(p->schedule.streams, 1);
  const auto kernels = static_cast<double>(p->steps.size());
  auto takes = [&](double us, double share) {
    return p->schedule.SideBySide(
        std::vector<Schedule::Load>(p->steps.size(), {us, share}));
  };
  EXPECT_LT(takes(4, 0.25), 0.98 * 4 * kernels);
  // Those that want all of the device do not share it.
  EXPECT_LT(takes(1000, 0.25), takes(1000, 0.75));
  EXPECT_EQ(takes(1000, 1), 1000 * kernels);
  // What takes longer than one after the other is not done.
  EXPECT_EQ(takes(0.125, 0.25), 0.125 * kernels);
  ExpectOrdered(*p);
  // A wait for what has ended anyway is left out.
  size_t waits = 0;
  for (const auto& place : p->schedule.steps) waits += place.after.size();
  EXPECT_GT(waits, 0);
  EXPECT_LE(waits, 2 * p->steps.size());
}

TEST(Schedule, AChainIsOneStream) {
  const auto p = ProgramOf(kChain);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->schedule.streams, 1);
  EXPECT_EQ(p->schedule.SideBySide(std::vector<Schedule::Load>(
                p->steps.size(), {.us = 2, .share = 0.25})),
            2.0 * p->steps.size());
  ExpectOrdered(*p);
  // Of what is computed, two results are alive at one time.
  EXPECT_LE(p->arena_bytes, 4 * 64 * 512 * 2);
}

}  // namespace
}  // namespace isomer::cuda

// First fit, in the order in which buffers are made.
#include "cuda/memory_plan.h"

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

namespace isomer::cuda {

namespace {

constexpr int64_t kAlignment = 256;  // of buffers, in bytes

int64_t Padded(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment *
         kAlignment;
}

// When a buffer is in use: by stream, how many steps have surely ended before,
// and how many steps it takes until it is not in use any more.
struct Lifetime {
  std::vector<int> from, until;

  bool EndsBefore(const Lifetime& other) const {
    for (size_t s = 0; s < until.size(); ++s) {
      if (until[s] > other.from[s]) return false;
    }
    return true;
  }
};

std::vector<Lifetime> LifetimesOf(const Program& program) {
  const Schedule& schedule = program.schedule;
  const size_t streams = schedule.streams;
  std::vector<Lifetime> out(
      program.buffers.size(),
      {std::vector<int>(streams, INT_MAX), std::vector<int>(streams, 0)});
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Schedule::Place& place = schedule.steps[i];
    for (int b : program.steps[i].arguments) {
      Lifetime& l = out[b];
      l.until[place.stream] = std::max(l.until[place.stream], place.number + 1);
      for (size_t s = 0; s < streams; ++s) {
        const int ended = s < place.ended.size() ? place.ended[s] : 0;
        l.from[s] = std::min(l.from[s], ended);
      }
    }
  }
  // Results stay.
  for (const ProgramOutput& o : program.outputs) {
    out[o.buffer] = {std::vector<int>(streams, 0),
                     std::vector<int>(streams, INT_MAX)};
  }
  return out;
}

}  // namespace

void PlanMemory(Program& program) {
  const std::vector<Lifetime> lifetimes = LifetimesOf(program);
  std::vector<int> placed;
  for (int i = 0; i < static_cast<int>(program.buffers.size()); ++i) {
    Buffer& b = program.buffers[i];
    if (b.kind == Buffer::Kind::kConstant && !b.copy) {
      program.constant_bytes += b.bytes;
    }
    if (b.kind != Buffer::Kind::kScratch) continue;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (int p : placed) {
      if (!lifetimes[p].EndsBefore(lifetimes[i]) &&
          !lifetimes[i].EndsBefore(lifetimes[p])) {
        const Buffer& other = program.buffers[p];
        taken.push_back({other.offset, other.offset + Padded(other.bytes)});
      }
    }
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (const auto& [from, to] : taken) {
      if (from >= at + Padded(b.bytes)) break;
      at = std::max(at, to);
    }
    b.offset = at;
    program.arena_bytes = std::max(program.arena_bytes, at + Padded(b.bytes));
    placed.push_back(i);
  }
}

}  // namespace isomer::cuda

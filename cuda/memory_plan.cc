// First fit, in the order in which buffers are first used.
#include "cuda/memory_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace isomer::cuda {

namespace {

constexpr int64_t kAlignment = 256;  // of buffers, in bytes

int64_t Padded(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment *
         kAlignment;
}

}  // namespace

void PlanMemory(Program& program) {
  std::vector<const Buffer*> placed;
  for (Buffer& b : program.buffers) {
    if (b.kind == Buffer::Kind::kConstant) program.constant_bytes += b.bytes;
    if (b.kind != Buffer::Kind::kScratch) continue;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Buffer* other : placed) {
      if (other->first <= b.last && b.first <= other->last) {
        taken.push_back({other->offset, other->offset + Padded(other->bytes)});
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
    placed.push_back(&b);
  }
}

}  // namespace isomer::cuda

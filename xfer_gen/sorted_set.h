// A set of numbers that are spread evenly and come in ascending order: eight
// bytes each, and never held twice.
#ifndef ISOMER_XFER_GEN_SORTED_SET_H_
#define ISOMER_XFER_GEN_SORTED_SET_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ops/status.h"
#include "xfer_gen/grow_array.h"

namespace isomer::gen {

class SortedSet {
 public:
  // The numbers are greater than those that were added before.
  void Add(absl::Span<const uint64_t> numbers) {
    for (uint64_t n : numbers) {
      Check(numbers_.size() == 0 || numbers_[numbers_.size() - 1] < n,
            "numbers that do not ascend");
      numbers_.push_back(n);
    }
  }
  // Called when all are there, before any is looked for.
  void Finish() {
    // Some four numbers for every start.
    const int bits =
        std::max(2, static_cast<int>(std::bit_width(numbers_.size())) - 2);
    shift_ = 64 - bits;
    starts_.assign((size_t{1} << bits) + 1, 0);
    for (uint64_t n : numbers_) ++starts_[(n >> shift_) + 1];
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  }
  bool Contains(uint64_t n) const {
    if (starts_.empty()) return false;
    const uint64_t* start = numbers_.begin() + starts_[n >> shift_];
    const uint64_t* end = numbers_.begin() + starts_[(n >> shift_) + 1];
    return std::binary_search(start, end, n);
  }
  void Clear() {
    numbers_.clear();
    starts_ = {};
  }

 private:
  GrowArray<uint64_t> numbers_;
  int shift_ = 0;
  std::vector<uint32_t> starts_;  // by the first bits
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_SORTED_SET_H_

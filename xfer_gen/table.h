// Fingerprints of graphs with their codes, 32 bytes each. Entries are kept in
// blocks by the first bits of the fingerprint, so that equal ones are found
// by sorting one part at a time, without a second copy of the whole.
//
// Where not all parts have room, the last ones are given up while the table
// fills, and the graphs are gone through once more for them.
#ifndef ISOMER_XFER_GEN_TABLE_H_
#define ISOMER_XFER_GEN_TABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace isomer::gen {

using Makings = std::array<uint32_t, 4>;

struct Entry {
  uint64_t fingerprint;
  uint64_t code;
  // How two to four outputs are made, in the order of their values: equal if
  // they are the same template on equal operands. The first is 0 if this is not
  // known, the last ones if there are fewer outputs.
  Makings makings;
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.fingerprint != b.fingerprint ? a.fingerprint < b.fingerprint
                                          : a.code < b.code;
  }
};

inline constexpr int kPartBits = 8;
inline constexpr int kParts = 1 << kPartBits;

// The parts that the tables of all threads hold: from a first one on, as many
// as there is room for.
class Slice {
 public:
  void Open(int first, int64_t max_bytes) {
    first_ = first;
    end_ = kParts;
    left_ = max_bytes;
  }
  // The first part that was given up.
  int end() const { return end_.load(std::memory_order_relaxed); }
  bool Holds(int part) const { return part >= first_ && part < end(); }

  // Takes room; false if there is none.
  bool Reserve(int64_t bytes) {
    if (left_.fetch_sub(bytes) >= bytes) return true;
    Release(bytes);
    return false;
  }
  void Release(int64_t bytes) { left_ += bytes; }
  // Gives up an eighth of the parts; false if none are left.
  bool GiveUp() {
    int end = end_;
    if (end == first_) return false;
    end_.compare_exchange_strong(end, end - std::max(1, (end - first_) / 8));
    return true;
  }

 private:
  int first_ = 0;
  std::atomic<int> end_{kParts};
  std::atomic<int64_t> left_{INT64_MAX};
};

class Table {
 public:
  explicit Table(Slice& slice) : slice_(slice) {}

  void Add(const Entry& e) {
    const int number = static_cast<int>(e.fingerprint >> (64 - kPartBits));
    if (!slice_.Holds(number)) return;
    Part& part = parts_[number];
    if (part.used == kBlock && !AddBlock(number)) return;
    part.blocks.back()[part.used++] = e;
  }

  // Moves one part of the entries to the end of `out`, if the slice holds it.
  void Take(int part, std::vector<Entry>& out) {
    Part& p = parts_[part];
    if (!slice_.Holds(part)) return Drop(p);
    for (size_t b = 0; b < p.blocks.size(); ++b) {
      const int n = b + 1 == p.blocks.size() ? p.used : kBlock;
      out.insert(out.end(), p.blocks[b].get(), p.blocks[b].get() + n);
      p.blocks[b].reset();
      slice_.Release(kBlockBytes);
    }
    p = {};
  }
  int64_t PartSize(int part) const {
    const Part& p = parts_[part];
    return p.blocks.empty() || !slice_.Holds(part)
               ? 0
               : static_cast<int64_t>(p.blocks.size() - 1) * kBlock + p.used;
  }

 private:
  static constexpr int kBlock = 512;
  static constexpr int64_t kBlockBytes = kBlock * int64_t{sizeof(Entry)};
  struct Part {
    std::vector<std::unique_ptr<Entry[]>> blocks;
    int used = kBlock;  // of the last block
  };

  void Drop(Part& part) {
    slice_.Release(static_cast<int64_t>(part.blocks.size()) * kBlockBytes);
    part = {};
  }
  void DropGivenUp() {
    for (; end_ > slice_.end(); --end_) Drop(parts_[end_ - 1]);
    end_ = slice_.end();
  }
  // False if there is no room for the part.
  bool AddBlock(int number) {
    DropGivenUp();  // by another thread
    bool reserved = slice_.Reserve(kBlockBytes);
    while (!reserved && slice_.GiveUp()) {
      DropGivenUp();
      reserved = slice_.Reserve(kBlockBytes);
    }
    if (!slice_.Holds(number)) {
      if (reserved) slice_.Release(kBlockBytes);
      return false;
    }
    parts_[number].blocks.emplace_back(new Entry[kBlock]);
    parts_[number].used = 0;
    return true;
  }

  Slice& slice_;
  std::array<Part, kParts> parts_;
  int end_ = kParts;  // parts from here on have been dropped
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_TABLE_H_

// Fingerprints of graphs with their codes, 32 bytes each. Entries are kept in
// blocks by the first bits of the fingerprint, so that equal ones are found
// by sorting one part at a time, without a second copy of the whole.
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

class Table {
 public:
  static constexpr int kBits = 6;
  static constexpr int kParts = 1 << kBits;

  void Add(Entry e) {
    Part& part = parts_[e.fingerprint >> (64 - kBits)];
    if (part.used == kBlock) {
      part.blocks.emplace_back(new Entry[kBlock]);
      part.used = 0;
      bytes_.fetch_add(kBlock * static_cast<int64_t>(sizeof(Entry)),
                       std::memory_order_relaxed);
    }
    part.blocks.back()[part.used++] = e;
    ++size_;
  }

  // How many were added.
  int64_t size() const { return size_; }
  // Bytes held; may be asked by another thread.
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Moves one part of the entries to the end of `out`.
  void Take(int part, std::vector<Entry>& out) {
    Part& p = parts_[part];
    for (size_t b = 0; b < p.blocks.size(); ++b) {
      const int n = b + 1 == p.blocks.size() ? p.used : kBlock;
      out.insert(out.end(), p.blocks[b].get(), p.blocks[b].get() + n);
      p.blocks[b].reset();
      bytes_.fetch_sub(kBlock * static_cast<int64_t>(sizeof(Entry)),
                       std::memory_order_relaxed);
    }
    p.blocks.clear();
    p.used = kBlock;
  }
  int64_t PartSize(int part) const {
    const Part& p = parts_[part];
    return p.blocks.empty()
               ? 0
               : static_cast<int64_t>(p.blocks.size() - 1) * kBlock + p.used;
  }

 private:
  static constexpr int kBlock = 4096;
  struct Part {
    std::vector<std::unique_ptr<Entry[]>> blocks;
    int used = kBlock;  // of the last block
  };
  std::array<Part, kParts> parts_;
  int64_t size_ = 0;
  std::atomic<int64_t> bytes_{0};
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_TABLE_H_

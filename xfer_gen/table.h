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
#include <mutex>
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

class Table;

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
  // Gives up an eighth of the parts, in the tables of all threads; false if
  // none are left.
  bool GiveUp();

 private:
  friend class Table;

  int first_ = 0;
  std::atomic<int> end_{kParts};
  std::atomic<int64_t> left_{INT64_MAX};
  std::vector<Table*> tables_;
};

// What one thread adds. Others may only take away what is given up, and of that
// not the blocks that are being filled.
class Table {
 public:
  explicit Table(Slice& slice) : slice_(slice) {
    slice_.tables_.push_back(this);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void Add(const Entry& e) {
    const int number = static_cast<int>(e.fingerprint >> (64 - kPartBits));
    if (!slice_.Holds(number)) return;
    Part& part = parts_[number];
    if (part.used == kBlock && !AddBlock(part, number)) return;
    part.last[part.used++] = e;
  }

  // Moves one part of the entries to the end of `out`, if the slice holds it.
  // No thread may add any meanwhile.
  void Take(int part, std::vector<Entry>& out) {
    Part& p = parts_[part];
    if (!slice_.Holds(part)) return Drop(part);
    for (std::unique_ptr<Entry[]>& block : p.full) {
      out.insert(out.end(), block.get(), block.get() + kBlock);
      block.reset();
    }
    out.insert(out.end(), p.last.get(), p.last.get() + p.InLast());
    Drop(part);
  }
  // Gives up a part. No thread may add to it meanwhile.
  void Drop(int part) {
    Part& p = parts_[part];
    slice_.Release(p.Blocks() * kBlockBytes);
    p = {};
  }
  int64_t PartSize(int part) const {
    const Part& p = parts_[part];
    return !slice_.Holds(part)
               ? 0
               : static_cast<int64_t>(p.full.size()) * kBlock + p.InLast();
  }

 private:
  friend class Slice;

  static constexpr int kBlock = 512;
  static constexpr int64_t kBlockBytes = kBlock * int64_t{sizeof(Entry)};
  struct Part {
    int InLast() const { return last == nullptr ? 0 : used; }
    int64_t Blocks() const {
      return static_cast<int64_t>(full.size()) + (last != nullptr);
    }
    std::vector<std::unique_ptr<Entry[]>> full;  // guarded by mutex_
    std::unique_ptr<Entry[]> last;
    int used = kBlock;  // of the last block
  };

  // Called by any thread.
  void DropGivenUp() {
    std::lock_guard lock(mutex_);
    for (int part = slice_.end(); part < kParts; ++part) {
      auto& full = parts_[part].full;
      slice_.Release(static_cast<int64_t>(full.size()) * kBlockBytes);
      full.clear();
      full.shrink_to_fit();
    }
  }
  // Drops the blocks that were being filled, too; called by the thread that
  // fills them.
  void DropOwn() {
    const int given_up = slice_.end();
    if (given_up < end_) {
      std::lock_guard lock(mutex_);
      for (int part = given_up; part < end_; ++part) Drop(part);
    }
    end_ = given_up;
  }
  // False if there is no room for the part.
  bool AddBlock(Part& part, int number) {
    DropOwn();
    bool reserved = slice_.Reserve(kBlockBytes);
    while (!reserved && slice_.GiveUp()) {
      DropOwn();
      reserved = slice_.Reserve(kBlockBytes);
    }
    if (!slice_.Holds(number)) {
      if (reserved) slice_.Release(kBlockBytes);
      return false;
    }
    std::lock_guard lock(mutex_);
    if (part.last != nullptr) part.full.push_back(std::move(part.last));
    part.last.reset(new Entry[kBlock]);
    part.used = 0;
    return true;
  }

  Slice& slice_;
  std::mutex mutex_;
  std::array<Part, kParts> parts_;
  int end_ = kParts;  // parts from here on have been dropped
};

inline bool Slice::GiveUp() {
  int end = end_;
  if (end == first_) return false;
  end_.compare_exchange_strong(end, end - std::max(1, (end - first_) / 8));
  for (Table* table : tables_) table->DropGivenUp();
  return true;
}

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_TABLE_H_

// The steps of the last level over whole graphs. They are operands of nothing,
// so they get no numbers and are held in a few words each, by the graph that
// they extend.
#ifndef ISOMER_XFER_GEN_FRESH_H_
#define ISOMER_XFER_GEN_FRESH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "xfer_gen/terms.h"

namespace isomer::gen {

class FreshSteps {
 public:
  // One step: its first word holds the template, the number of operands, the
  // outputs that depend on all that the operands depend on, those that are open
  // and those that will be.
  class Step {
   public:
    explicit Step(uint32_t* words) : words_(words) {}
    int tmpl() const { return static_cast<int>(words_[0] & 0xffff); }
    absl::Span<const TensorId> operands() const {
      return {words_ + 1, words_[0] >> 16 & 0xf};
    }
    uint32_t full() const { return words_[0] >> 20 & 0xf; }
    uint32_t open() const { return words_[0] >> 24 & 0xf; }
    void Open(int output) { words_[0] |= 1u << (24 + output); }
    void OpenNext(int output) { words_[0] |= 1u << (28 + output); }
    // Those that will be open are, and no others.
    void Turn() { words_[0] = (words_[0] & 0xffffff) | words_[0] >> 28 << 24; }

   private:
    friend class FreshSteps;
    uint32_t* words_;
  };

  // The steps of neighbouring graphs, one graph after the other.
  class Block {
   public:
    void StartGraph() {
      starts_.push_back(static_cast<uint32_t>(words_.size()));
    }
    void Add(int tmpl, absl::Span<const TensorId> operands, uint32_t full) {
      static_assert(kMaxOperands < 16 && kMaxOutputs <= 4);
      words_.push_back(static_cast<uint32_t>(tmpl) |
                       static_cast<uint32_t>(operands.size()) << 16 |
                       full << 20);
      words_.insert(words_.end(), operands.begin(), operands.end());
    }

   private:
    friend class FreshSteps;
    std::vector<uint32_t> words_, starts_;
  };

  // Blocks hold the steps of so many graphs each, but for the last, and for
  // those that a stop has left empty.
  explicit FreshSteps(size_t graphs_per_block) : per_block_(graphs_per_block) {}

  // Takes the next block.
  void Add(Block block) { blocks_.push_back(std::move(block)); }

  // Calls `f(step)` for the steps that extend graph number `g`, in order.
  template <class F>
  void ForEach(size_t g, F f) {
    Block& block = blocks_[g / per_block_];
    const size_t i = g % per_block_;
    if (i >= block.starts_.size()) return;
    const size_t end = i + 1 < block.starts_.size() ? block.starts_[i + 1]
                                                    : block.words_.size();
    for (size_t at = block.starts_[i]; at < end;) {
      const Step step(&block.words_[at]);
      at += 1 + step.operands().size();
      f(step);
    }
  }
  // Calls `f(step)` for all steps.
  template <class F>
  void ForAll(F f) {
    for (Block& block : blocks_) {
      for (size_t at = 0; at < block.words_.size();) {
        const Step step(&block.words_[at]);
        at += 1 + step.operands().size();
        f(step);
      }
    }
  }

 private:
  size_t per_block_;
  std::vector<Block> blocks_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_FRESH_H_

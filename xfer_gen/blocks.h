// Straight-line code made ready to run. Neighbouring instructions that do the
// same to the same arrays become one block, which is decoded once; within it
// instructions are a few numbers each. Copies of neighbouring elements are made
// by the stretch.
#ifndef ISOMER_XFER_GEN_BLOCKS_H_
#define ISOMER_XFER_GEN_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ops/field.h"
#include "xfer_gen/unroll.h"

namespace isomer::gen {

class Blocks {
 public:
  Blocks() = default;
  // Takes some of the instructions of a piece of code, in their order.
  Blocks(const Code& code, absl::Span<const Instruction> instructions);

  // Runs on arrays, by number; `written` are those that are written to.
  void Run(const Field* const* arrays, Field* const* written) const;

 private:
  enum class Kind : uint8_t {
    kCopy,      // out, place
    kStretch,   // out, place, number of elements
    kAdd,       // out, place, place
    kMul,       // out, place, place
    kDot,       // out, number of places, pairs of places
    kFunction,  // out, place
    kOther,     // out, number of operands, operands with their arrays
  };
  struct Block {
    Kind kind = Kind::kCopy;
    Instruction::Kind other = {};   // of kOther
    uint8_t out = 0, a = 0, b = 0;  // arrays
    uint32_t first = 0, count = 0;  // in words_; instructions
    Instruction::Function function = nullptr;
    bool IsLike(const Block& block) const {
      return kind == block.kind && other == block.other && out == block.out &&
             a == block.a && b == block.b && function == block.function;
    }
  };

  static Block BlockOf(const Instruction& i, absl::Span<const Ref> args);
  // Turns a block of copies into one of stretches if that is shorter.
  void Stretch(Block& block);

  std::vector<Block> blocks_;
  std::vector<uint32_t> words_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_BLOCKS_H_

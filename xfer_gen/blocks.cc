// Products are summed up in 128 bits and reduced late.
#include "xfer_gen/blocks.h"

#include <algorithm>

namespace isomer::gen {

namespace {

using Wide = unsigned __int128;

// 64 products of two numbers below 2^61 stay below 2^128.
constexpr uint32_t kLate = 64;

// The element that the bits of a Ref stand for.
inline Field At(const Field* const* arrays, uint32_t bits) {
  Ref r;
  r.bits = bits;
  return arrays[r.array()][r.place()];
}

// The sum of at most kLate products; `count` places, left and right in turn.
inline Wide Products(const Field* a, const Field* b, const uint32_t* places,
                     uint32_t count) {
  Wide even = 0, odd = 0;
  uint32_t k = 0;
  for (; k + 4 <= count; k += 4) {
    even += Wide(a[places[k]].value()) * b[places[k + 1]].value();
    odd += Wide(a[places[k + 2]].value()) * b[places[k + 3]].value();
  }
  if (k < count) even += Wide(a[places[k]].value()) * b[places[k + 1]].value();
  return even + odd;
}

Field Dot(const Field* a, const Field* b, const uint32_t* places,
          uint32_t count) {
  constexpr uint32_t kMost = 2 * (kLate - 1);
  Wide sum = 0;
  for (; count > kMost; count -= kMost, places += kMost) {
    sum = Field::FromWide(sum + Products(a, b, places, kMost)).value();
  }
  return Field::FromWide(sum + Products(a, b, places, count));
}

// A dot product of operands from several arrays.
Field MixedDot(const Field* const* arrays, absl::Span<const uint32_t> args) {
  Wide sum = 0;
  for (size_t k = 0; k < args.size(); k += 2) {
    sum += Wide(At(arrays, args[k]).value()) * At(arrays, args[k + 1]).value();
    if ((k & (2 * kLate - 2)) == 2 * kLate - 4) {
      sum = Field::FromWide(sum).value();
    }
  }
  return Field::FromWide(sum);
}

Field Sum(const Field* const* arrays, absl::Span<const uint32_t> args) {
  Wide sum = 0;
  for (uint32_t r : args) sum += At(arrays, r).value();
  return Field::FromWide(sum);
}

Field Compute(Instruction::Kind kind, const Field* const* arrays,
              absl::Span<const uint32_t> args) {
  using Kind = Instruction::Kind;
  if (kind == Kind::kSum) return Sum(arrays, args);
  if (kind == Kind::kDot) return MixedDot(arrays, args);
  Field v = At(arrays, args[0]);
  for (uint32_t r : args.subspan(1)) {
    const Field w = At(arrays, r);
    if (kind == Kind::kProduct) v = v * w;
    if (kind == Kind::kDiv) v = v / w;
    if (kind == Kind::kMax) v = Max(v, w);
    if (kind == Kind::kMin) v = Min(v, w);
  }
  return v;
}

}  // namespace

Blocks::Block Blocks::BlockOf(const Instruction& i,
                              absl::Span<const Ref> args) {
  Block block{.out = static_cast<uint8_t>(i.out.array())};
  bool known = true;
  switch (i.kind) {
    case Instruction::Kind::kSum:
      block.kind = args.size() == 1 ? Kind::kCopy : Kind::kAdd;
      known = args.size() <= 2;
      break;
    case Instruction::Kind::kProduct:
      block.kind = Kind::kMul;
      known = args.size() == 2;
      break;
    case Instruction::Kind::kDot:
      block.kind = Kind::kDot;
      known = i.uniform;
      break;
    case Instruction::Kind::kFunction:
      block.kind = Kind::kFunction;
      block.function = i.function;
      break;
    default:
      known = false;
  }
  if (!known) {
    block.kind = Kind::kOther;
    block.other = i.kind;
    return block;
  }
  block.a = static_cast<uint8_t>(args[0].array());
  if (args.size() > 1) block.b = static_cast<uint8_t>(args[1].array());
  return block;
}

Blocks::Blocks(const Code& code, absl::Span<const Instruction> instructions) {
  for (const Instruction& i : instructions) {
    const auto args =
        absl::MakeConstSpan(code.operands).subspan(i.first, i.count);
    Block block = BlockOf(i, args);
    if (blocks_.empty() || !block.IsLike(blocks_.back())) {
      if (!blocks_.empty()) Stretch(blocks_.back());
      block.first = static_cast<uint32_t>(words_.size());
      blocks_.push_back(block);
    }
    ++blocks_.back().count;
    words_.push_back(i.out.place());
    if (block.kind == Kind::kDot || block.kind == Kind::kOther) {
      words_.push_back(i.count);
    }
    for (Ref r : args) {
      words_.push_back(block.kind == Kind::kOther ? r.bits : r.place());
    }
  }
  if (!blocks_.empty()) Stretch(blocks_.back());
  words_.shrink_to_fit();
}

void Blocks::Stretch(Block& block) {
  if (block.kind != Kind::kCopy) return;
  std::vector<uint32_t> stretches;
  for (uint32_t k = 0; k < block.count; ++k) {
    const uint32_t out = words_[block.first + 2 * k];
    const uint32_t place = words_[block.first + 2 * k + 1];
    if (!stretches.empty()) {
      const uint32_t* last = &stretches[stretches.size() - 3];
      // A copy may read what one before it has written.
      const bool written =
          block.a == block.out && place >= last[0] && place < out;
      if (out == last[0] + last[2] && place == last[1] + last[2] && !written) {
        ++stretches.back();
        continue;
      }
    }
    stretches.insert(stretches.end(), {out, place, 1});
  }
  if (stretches.size() >= block.count) return;
  block.kind = Kind::kStretch;
  block.count = static_cast<uint32_t>(stretches.size() / 3);
  words_.resize(block.first);
  words_.insert(words_.end(), stretches.begin(), stretches.end());
}

void Blocks::Run(const Field* const* arrays, Field* const* written) const {
  for (const Block& block : blocks_) {
    Field* out = written[block.out];
    const Field *a = arrays[block.a], *b = arrays[block.b];
    const uint32_t* w = &words_[block.first];
    switch (block.kind) {
      case Kind::kCopy:
        for (uint32_t k = 0; k < block.count; ++k, w += 2) out[w[0]] = a[w[1]];
        break;
      case Kind::kStretch:
        for (uint32_t k = 0; k < block.count; ++k, w += 3) {
          std::copy_n(a + w[1], w[2], out + w[0]);
        }
        break;
      case Kind::kAdd:
        for (uint32_t k = 0; k < block.count; ++k, w += 3) {
          out[w[0]] = a[w[1]] + b[w[2]];
        }
        break;
      case Kind::kMul:
        for (uint32_t k = 0; k < block.count; ++k, w += 3) {
          out[w[0]] = a[w[1]] * b[w[2]];
        }
        break;
      case Kind::kDot:
        for (uint32_t k = 0; k < block.count; ++k, w += 2 + w[1]) {
          out[w[0]] = Dot(a, b, w + 2, w[1]);
        }
        break;
      case Kind::kFunction:
        for (uint32_t k = 0; k < block.count; ++k, w += 2) {
          out[w[0]] = block.function(a[w[1]]);
        }
        break;
      case Kind::kOther:
        for (uint32_t k = 0; k < block.count; ++k, w += 2 + w[1]) {
          out[w[0]] = Compute(block.other, arrays, {w + 2, w[1]});
        }
        break;
    }
  }
}

}  // namespace isomer::gen

// Constants may be large and lie in a mapped file, so they are read in pieces.
#include "graph/constant_facts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/dtype.h"

namespace isomer::ir {

namespace {

struct Seen {
  bool finite = true, positive = true;
};

// Floating-point numbers are looked at as bits, which is as fast as memory. A
// number whose exponent is all ones is none: adding one to that exponent, in
// all numbers of a word at once, carries into the place of the sign.
template <class Bits>
Seen LookAtBits(absl::string_view bytes, Bits exponent, bool ask_positive) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr uint64_t kEach = ~uint64_t{0} / static_cast<Bits>(~Bits{0});
  const uint64_t magnitude = kEach * static_cast<Bits>(~kSign);
  const uint64_t one = kEach * static_cast<Bits>(kSign - exponent);
  // Eight words at a time, in vector registers.
  using Words [[gnu::vector_size(64)]] = uint64_t;
  Words each = {};
  size_t i = 0;
  for (; i + sizeof(each) <= bytes.size(); i += sizeof(each)) {
    Words words;
    std::memcpy(&words, bytes.data() + i, sizeof(words));
    each |= (words & magnitude) + one;
  }
  uint64_t carries = 0;
  for (int k = 0; k < 8; ++k) carries |= each[k];
  Seen seen{(carries & ~magnitude) == 0, ask_positive};
  for (i = seen.positive ? 0 : i; i + sizeof(Bits) <= bytes.size();
       i += sizeof(Bits)) {
    Bits b;
    std::memcpy(&b, bytes.data() + i, sizeof(Bits));
    seen.finite = seen.finite && (b & static_cast<Bits>(~kSign)) < exponent;
    seen.positive = seen.positive && b != 0 && b <= exponent;
  }
  return seen;
}

Seen LookAtNumbers(DType dtype, absl::string_view bytes) {
  const int64_t n = static_cast<int64_t>(bytes.size()) / ByteSize(dtype);
  auto tensor = isomer::FromBytes(
      {dtype, {n}}, absl::MakeConstSpan(bytes.data(), bytes.size()),
      Interp::kReal);
  if (!tensor.ok()) return {false, false};
  Seen seen;
  for (double x : ToDoubles(*tensor)) {
    seen.finite = seen.finite && std::isfinite(x);
    seen.positive = seen.positive && x > 0;
  }
  return seen;
}

Seen LookAt(DType dtype, absl::string_view bytes, bool ask_positive) {
  switch (dtype) {
    case DType::kF16:
      return LookAtBits<uint16_t>(bytes, 0x7c00, ask_positive);
    case DType::kBF16:
      return LookAtBits<uint16_t>(bytes, 0x7f80, ask_positive);
    case DType::kF32:
      return LookAtBits<uint32_t>(bytes, 0x7f800000, ask_positive);
    case DType::kF64:
      return LookAtBits<uint64_t>(bytes, 0x7ff0000000000000, ask_positive);
    default:
      return LookAtNumbers(dtype, bytes);
  }
}

}  // namespace

const ConstantFacts::Facts& ConstantFacts::Of(
    const std::shared_ptr<const Constant>& c) {
  auto [it, added] = known_.try_emplace(c.get());
  Facts& facts = it->second;
  if (!added) return facts;
  facts.constant = c;
  constexpr size_t kPiece = 1 << 16;  // elements
  const DType dtype = c->type().dtype;
  const size_t step = kPiece * ByteSize(dtype);
  absl::string_view rest = c->bytes().view;
  while (!rest.empty() && (facts.finite || facts.positive)) {
    const absl::string_view piece = rest.substr(0, step);
    rest.remove_prefix(piece.size());
    const Seen seen = LookAt(dtype, piece, facts.positive);
    facts.finite = facts.finite && seen.finite;
    facts.positive = facts.positive && seen.positive;
  }
  return facts;
}

}  // namespace isomer::ir

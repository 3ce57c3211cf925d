// Hashes that are the same on every machine and in every run (absl::Hash is
// not), so that they may decide an order and be stored.
#ifndef ISOMER_GRAPH_HASHING_H_
#define ISOMER_GRAPH_HASHING_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace isomer::ir {

// Scrambles 64 bits; a bijection.
inline uint64_t HashMix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

// Combines two hashes; the order matters.
inline uint64_t HashCombine(uint64_t a, uint64_t b) {
  return HashMix(a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u);
}

// The hash of a string of bytes.
inline uint64_t HashText(absl::string_view s) {
  uint64_t h = HashMix(s.size());
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, s.data() + i, 8);
    h = HashCombine(h, word);
  }
  uint64_t word = 0;
  if (i < s.size()) std::memcpy(&word, s.data() + i, s.size() - i);
  return HashCombine(h, word);
}

}  // namespace isomer::ir

#endif  // ISOMER_GRAPH_HASHING_H_

// Renaming of variables: the leaves of a class may be permuted. A renaming is
// one permutation per class, by number; tables give products and images.
#ifndef ISOMER_XFER_GEN_SYMMETRY_H_
#define ISOMER_XFER_GEN_SYMMETRY_H_

#include <array>
#include <cstdint>
#include <vector>

namespace isomer::gen {

inline constexpr int kMaxClasses = 12;

// One permutation number per class; 0 is the identity.
using Renaming = std::array<uint8_t, kMaxClasses>;

class Symmetry {
 public:
  // Classes of these sizes, each from 1 to 4, for graphs that name at most
  // `max_used` leaves.
  Symmetry(std::vector<int> counts, int max_used);

  int num_classes() const { return static_cast<int>(counts_.size()); }
  int num_leaves() const { return num_leaves_; }
  int count(int c) const { return counts_[c]; }
  int first(int c) const { return first_[c]; }
  int class_of(int leaf) const { return class_of_[leaf]; }

  // The leaves of class c, as a mask, and how many of them `mask` holds.
  uint32_t class_mask(int c) const {
    return ((1u << counts_[c]) - 1) << first_[c];
  }
  int Used(uint32_t mask, int c) const {
    return __builtin_popcount(mask & class_mask(c));
  }
  // True if the mask holds the first few variables of every class.
  bool IsPrefix(uint32_t mask) const {
    return (mask & ~(mask << 1 | firsts_)) == 0;
  }

  int Act(const Renaming& r, int leaf) const {
    const int c = class_of_[leaf];
    return first_[c] + image_[counts_[c]][r[c]][leaf - first_[c]];
  }
  uint32_t ActMask(const Renaming& r, uint32_t mask) const;
  // The renaming that does `b`, then `a`.
  Renaming Compose(const Renaming& a, const Renaming& b) const;
  uint8_t Multiply(int c, uint8_t a, uint8_t b) const {
    return product_[counts_[c]][a][b];
  }
  // Which arrangement of the first k variables of class c the permutation
  // makes, in lexicographic order; there are n!/(n-k)!.
  int Arrangement(int c, int k, uint8_t g) const {
    return arrangement_[counts_[c]][k][g];
  }
  int NumArrangements(int c, int k) const {
    return num_arrangements_[counts_[c]][k];
  }
  // A permutation that makes it.
  uint8_t FromArrangement(int c, int k, int a) const {
    return from_arrangement_[counts_[c]][k][a];
  }

  // All renamings that permute, in each class, as many of the first variables
  // as the mask holds; the identity first.
  const std::vector<Renaming>& Permuting(uint32_t mask) const;

 private:
  std::vector<Renaming> MakePermuting(int at) const;

  static constexpr int kMax = 4, kPermutations = 24;

  std::vector<int> counts_, first_, class_of_;
  int num_leaves_ = 0;
  uint32_t firsts_ = 0;
  uint8_t image_[kMax + 1][kPermutations][kMax] = {};
  uint8_t product_[kMax + 1][kPermutations][kPermutations] = {};
  uint8_t arrangement_[kMax + 1][kMax + 1][kPermutations] = {};
  uint8_t from_arrangement_[kMax + 1][kMax + 1][kPermutations] = {};
  uint8_t num_arrangements_[kMax + 1][kMax + 1] = {};
  // By the number of used variables per class, mixed radix.
  std::vector<std::vector<Renaming>> permuting_;
  std::vector<int> radix_;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_SYMMETRY_H_

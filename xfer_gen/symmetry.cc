// Permutations of n things are numbered in lexicographic order of their
// images, so that those which fix the last things come in a known order.
#include "xfer_gen/symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace isomer::gen {

Symmetry::Symmetry(std::vector<int> counts, int max_used)
    : counts_(std::move(counts)) {
  for (int c = 0; c < num_classes(); ++c) {
    first_.push_back(num_leaves_);
    firsts_ |= 1u << num_leaves_;
    for (int i = 0; i < counts_[c]; ++i) class_of_.push_back(c);
    num_leaves_ += counts_[c];
  }
  for (int n = 1; n <= kMax; ++n) {
    std::vector<std::vector<uint8_t>> all;
    std::vector<uint8_t> p(n);
    std::iota(p.begin(), p.end(), 0);
    do {
      std::copy(p.begin(), p.end(), image_[n][all.size()]);
      all.push_back(p);
    } while (std::next_permutation(p.begin(), p.end()));
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t b = 0; b < all.size(); ++b) {
        std::vector<uint8_t> ab(n);
        for (int i = 0; i < n; ++i) ab[i] = all[a][all[b][i]];
        product_[n][a][b] = static_cast<uint8_t>(
            std::find(all.begin(), all.end(), ab) - all.begin());
      }
    }
    for (int k = 0; k <= n; ++k) {
      std::map<std::vector<uint8_t>, int> seen;
      for (size_t g = 0; g < all.size(); ++g) {
        seen.try_emplace({all[g].begin(), all[g].begin() + k}, 0);
      }
      int next = 0;
      for (auto& [images, number] : seen) number = next++;
      num_arrangements_[n][k] = static_cast<uint8_t>(next);
      for (size_t g = all.size(); g-- > 0;) {
        const int a = seen[{all[g].begin(), all[g].begin() + k}];
        arrangement_[n][k][g] = static_cast<uint8_t>(a);
        from_arrangement_[n][k][a] = static_cast<uint8_t>(g);
      }
    }
  }
  int total = 1;
  for (int c = 0; c < num_classes(); ++c) {
    radix_.push_back(total);
    total *= counts_[c] + 1;
  }
  permuting_.resize(total);
  for (int at = 0; at < total; ++at) {
    int used = 0;
    for (int c = 0; c < num_classes(); ++c) {
      used += at / radix_[c] % (counts_[c] + 1);
    }
    if (used <= max_used) permuting_[at] = MakePermuting(at);
  }
}

std::vector<Renaming> Symmetry::MakePermuting(int at) const {
  std::vector<Renaming> list = {{}};
  for (int c = 0; c < num_classes(); ++c) {
    const int n = counts_[c], k = at / radix_[c] % (n + 1);
    const size_t size = list.size();
    for (int g = 1; g < num_arrangements_[n][n]; ++g) {
      bool fixes = true;  // all variables from the k-th on
      for (int i = k; i < n; ++i) fixes = fixes && image_[n][g][i] == i;
      for (size_t i = 0; fixes && i < size; ++i) {
        Renaming r = list[i];
        r[c] = static_cast<uint8_t>(g);
        list.push_back(r);
      }
    }
  }
  return list;
}

uint32_t Symmetry::ActMask(const Renaming& r, uint32_t mask) const {
  uint32_t out = 0;
  for (; mask != 0; mask &= mask - 1) out |= 1u << Act(r, __builtin_ctz(mask));
  return out;
}

Renaming Symmetry::Compose(const Renaming& a, const Renaming& b) const {
  Renaming out{};
  for (int c = 0; c < num_classes(); ++c) out[c] = Multiply(c, a[c], b[c]);
  return out;
}

const std::vector<Renaming>& Symmetry::Permuting(uint32_t mask) const {
  int at = 0;
  for (int c = 0; c < num_classes(); ++c) at += Used(mask, c) * radix_[c];
  return permuting_[at];
}

}  // namespace isomer::gen

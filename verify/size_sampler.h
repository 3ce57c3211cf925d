// Sizes and attributes that are likely to break a rule: sizes of 1, sizes that
// are all different, uneven ones, small ones and a few larger, attributes
// around 0 and 1.
#ifndef ISOMER_VERIFY_SIZE_SAMPLER_H_
#define ISOMER_VERIFY_SIZE_SAMPLER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "graph/rule.h"
#include "verify/assignment.h"

namespace isomer::verify {

// An assignment together with the sizes that it came from.
struct Sized {
  const CaseSizes* sizes = nullptr;
  std::vector<int64_t> values = {};  // of the symbols
  std::optional<double> real = {};
  Assignment assignment = {};
};

class SizeSampler {
 public:
  // Assignments that take more scalar operations than `work` are not drawn.
  // The rule must outlive this.
  SizeSampler(const ir::Rule& rule, int64_t work) : rule_(rule), work_(work) {}

  // The i-th of `count` draws: every case in turn if there are enough draws,
  // else some of all ranks. Nothing if no sizes were found.
  std::optional<Sized> Draw(int i, int count, std::mt19937_64& random);

 private:
  struct OneCase {
    std::unique_ptr<CaseSizes> sizes;
    int failures = 0;
  };

  std::optional<Sized> DrawIn(int case_index, int style,
                              std::mt19937_64& random);

  const ir::Rule& rule_;
  const int64_t work_;
  std::map<int, OneCase> cases_;
};

}  // namespace isomer::verify

#endif  // ISOMER_VERIFY_SIZE_SAMPLER_H_

// Counts through all values of the symbols of each case.
#include "verify/exhaustive.h"

#include <algorithm>
#include <random>
#include <vector>

#include "graph/expand.h"
#include "verify/assignment.h"
#include "verify/witness.h"

namespace isomer::verify {

namespace {

constexpr Draw kDraws[] = {Draw::kIntegers, Draw::kSparse, Draw::kReals,
                           Draw::kPositive, Draw::kWide};

// True if some values show that the rule is wrong here.
bool Fails(const ir::Rule& rule, const Assignment& a, std::mt19937_64& random,
           ir::Expansions& expansions) {
  const auto agree = AgreeInField(
      rule, a, DrawValues(rule, a, Draw::kField, random), expansions);
  // Where the field agrees, one look for a quotient by zero is enough.
  const int rounds = agree.ok() && *agree ? 1 : 8;
  for (int n = 0; n < rounds; ++n) {
    for (Draw draw : kDraws) {
      if (rounds == 1 && draw != Draw::kSparse) continue;
      if (FindDifference(rule, a, DrawValues(rule, a, draw, random),
                         expansions)) {
        return true;
      }
    }
  }
  return false;
}

// The values of a case's symbols: all of them in turn if there are at most
// `limit`, else that many random ones.
class SmallValues {
 public:
  SmallValues(const CaseSizes& sizes, int64_t most, int64_t limit)
      : sizes_(sizes), most_(most) {
    for (int k = 0; k < count() && all_; ++k) {
      total_ *= most_ + 1 - Low(k);
      all_ = total_ <= limit;
    }
    if (!all_) total_ = limit;
  }

  int64_t total() const { return total_; }
  std::vector<int64_t> At(int64_t i, std::mt19937_64& random) const {
    std::vector<int64_t> out;
    for (int k = 0; k < count(); ++k) {
      const int64_t base = most_ + 1 - Low(k);
      const int64_t digit =
          all_ ? i % base : static_cast<int64_t>(random() % base);
      i /= base;
      out.push_back(Low(k) + digit);
    }
    return out;
  }

 private:
  int count() const { return static_cast<int>(sizes_.symbols().size()); }
  int64_t Low(int k) const { return sizes_.is_size(k) ? 1 : 0; }

  const CaseSizes& sizes_;
  const int64_t most_;
  int64_t total_ = 1;
  bool all_ = true;
};

}  // namespace

Truth CheckSmallShapes(const ir::Rule& rule, const SmallShapes& limits) {
  // Most combinations of sizes do not type.
  constexpr int64_t kTriesEach = 40;
  std::mt19937_64 random(7);
  ir::Expansions expansions;
  Truth truth = Truth::kEmpty;
  const int cases = static_cast<int>(rule.cases().size());
  const int64_t share = std::max<int64_t>(1, limits.assignments / cases);
  for (int c = 0; c < cases; ++c) {
    const CaseSizes sizes(rule, c);
    const SmallValues values(sizes, limits.most, kTriesEach * share);
    int64_t left = share;
    for (int64_t i = 0; i < values.total() && left > 0; ++i) {
      auto a = sizes.At(values.At(i, random));
      if (!a.ok() || WorkOf(rule, *a) > limits.work) continue;
      --left;
      truth = Truth::kHolds;
      if (Fails(rule, *a, random, expansions)) return Truth::kFails;
    }
  }
  return truth;
}

}  // namespace isomer::verify

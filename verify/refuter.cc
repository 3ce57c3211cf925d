// Each assignment is first tried at random points of the field, which is fast
// and misses nothing that is rational. Only where the field disagrees, and now
// and then elsewhere (a division by zero shows in no random point), real values
// are tried, since only those refute.
#include "verify/refuter.h"

#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "graph/expand.h"
#include "verify/assignment.h"
#include "verify/shrink.h"
#include "verify/size_sampler.h"
#include "verify/witness.h"

namespace isomer::verify {

namespace {

constexpr Draw kDraws[] = {Draw::kIntegers, Draw::kSparse, Draw::kReals,
                           Draw::kPositive, Draw::kWide};
constexpr int kMaxHunts = 6;    // with all draws, per rule
constexpr int kHuntRounds = 2;  // over all draws

class Refuter {
 public:
  Refuter(const ir::Rule& rule, const RefuteOptions& options)
      : rule_(rule),
        options_(options),
        random_(options.seed),
        sampler_(rule, options.work) {}

  Refutation Run() {
    for (int i = 0; i < options_.assignments; ++i) {
      std::optional<Sized> sized =
          sampler_.Draw(i, options_.assignments, random_);
      if (!sized) continue;
      ++result_.assignments;
      if (Try(*sized, i)) break;
    }
    return std::move(result_);
  }

 private:
  // Tries values at one assignment; true once a counterexample is found.
  bool Try(const Sized& sized, int i) {
    const auto agree =
        AgreeInField(rule_, sized.assignment,
                     DrawValues(rule_, sized.assignment, Draw::kField, random_),
                     expansions_);
    const bool suspect = !agree.ok() || !*agree;
    std::optional<Witness> found;
    if (suspect && hunts_ < kMaxHunts) {
      ++hunts_;
      for (int n = 0; n < kHuntRounds && !found; ++n) {
        found = HuntAll(sized.assignment);
      }
    } else if (suspect || i % 4 == 0) {
      const Draw draw = kDraws[(suspect ? i : i / 4) % std::size(kDraws)];
      found = Hunt(sized.assignment, draw);
    }
    result_.suspicious |= suspect && agree.ok();
    if (!found) return false;
    result_.found = Shrink(rule_, sized, *std::move(found), expansions_);
    result_.suspicious = false;
    return true;
  }

  std::optional<Witness> HuntAll(const Assignment& a) {
    for (Draw draw : kDraws) {
      if (auto found = Hunt(a, draw)) return found;
    }
    return std::nullopt;
  }

  std::optional<Witness> Hunt(const Assignment& a, Draw draw) {
    std::vector<Tensor> values = DrawValues(rule_, a, draw, random_);
    auto difference = FindDifference(rule_, a, values, expansions_);
    if (!difference) return std::nullopt;
    return Witness{std::move(values), *std::move(difference)};
  }

  const ir::Rule& rule_;
  const RefuteOptions& options_;
  std::mt19937_64 random_;
  SizeSampler sampler_;
  ir::Expansions expansions_;
  int hunts_ = 0;
  Refutation result_;
};

}  // namespace

Refutation Refute(const ir::Rule& rule, const RefuteOptions& options) {
  return Refuter(rule, options).Run();
}

}  // namespace isomer::verify

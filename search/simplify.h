// What pays by itself, everywhere at once; and what costs nothing but leaves
// fewer operators, or brings a constant factor nearer to the weights.
#ifndef ISOMER_SEARCH_SIMPLIFY_H_
#define ISOMER_SEARCH_SIMPLIFY_H_

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "search/step.h"
#include "search/topology.h"
#include "search/walk.h"

namespace isomer::search {

class Simplifier {
 public:
  explicit Simplifier(Walk& walk) : walk_(walk) {}

  // Takes what pays until nothing does; several matches of a rule at once too
  // if `together`. True if it took something.
  bool Run(bool together);
  // Constants cost no time, but memory: a sum of two rows, each repeated, is
  // better kept as one row.
  void ShrinkConstants();

  // Prefers steps that leave fewer operators to those that pay more.
  void PreferFewer(bool prefer) { fewer_first_ = prefer; }
  // Whether a step was left out for one that pays more, since it was last
  // asked.
  bool TakeContested() { return std::exchange(contested_, false); }

 private:
  // What a step brings: time, then fewer operators that run, then factors
  // nearer to weights.
  struct Merit {
    int64_t gain_ps = 0;
    int fewer = 0;
    int sinks = 0;
    friend auto operator<=>(const Merit&, const Merit&) = default;
  };

  bool Once(bool together, std::set<std::vector<int32_t>>& tried);
  void Weigh(const std::vector<Step>& steps, const Topology& topology,
             const std::function<bool(int)>& which, std::vector<Merit>& merits);
  bool TakeThoseThatPay(const std::vector<Step>& steps,
                        const std::vector<Merit>& merits,
                        const Topology& topology);
  Merit MeritOf(const Step& step, const Topology& topology, const Taken& taken,
                const cost::Plan& plan) const;
  size_t TakeIfBetter(const Step& step, const Topology& topology);

  Walk& walk_;
  bool fewer_first_ = false;
  bool contested_ = false;
};

}  // namespace isomer::search

#endif  // ISOMER_SEARCH_SIMPLIFY_H_

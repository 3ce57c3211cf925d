// Which tensors of a pair's shared steps may be variables of its rule. What
// both sides make alike says nothing: the rule holds for whatever stands in its
// place, unless it needs to know what that is.
#ifndef ISOMER_XFER_GEN_PAIR_CUTS_H_
#define ISOMER_XFER_GEN_PAIR_CUTS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "xfer_gen/dag.h"
#include "xfer_gen/pair_code.h"

namespace isomer::gen {

class PairCutter {
 public:
  // The values are those of the world of the enumeration.
  PairCutter(const Dag& dag, DagValues& values, PairCoder& coder, uint64_t seed)
      : dag_(dag), values_(values), coder_(coder), seed_(seed) {}

  // Tensors of shared steps that both sides use from outside of what they
  // share, and the code with variables in their place; none if the rule is
  // false then.
  SideOutputs Cuts(absl::Span<const TensorId> a, absl::Span<const TensorId> b,
                   PairCode& code);

  // Gives up what is known of pairs.
  void Forget() { holds_ = {}; }

 private:
  struct Side {
    absl::Span<const TensorId> outputs;
    Dag::Steps cone;
  };

  // The candidates for Cuts; none if variables cannot take their places.
  SideOutputs Shared(const Side& a, const Side& b);
  bool HasExtremes(const Side& side);
  // Whether both sides are equal with random values for the variables of the
  // code with cuts. They depend on the numbers of the variables, not on their
  // names, so that the answer does not; and where a maximum can hide what is
  // false, they are drawn several times.
  bool Holds(const Side& a, const Side& b,
             absl::Span<const TensorId> variables);

  const Dag& dag_;
  DagValues& values_;
  PairCoder& coder_;
  const uint64_t seed_;
  absl::flat_hash_map<uint64_t, bool> holds_;  // by the nameless key with cuts
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIR_CUTS_H_

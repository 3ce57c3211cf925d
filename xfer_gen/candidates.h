// From graphs whose fingerprints met to candidate rules: equality is confirmed
// on all elements with fresh inputs and at other sizes; pairs that say nothing
// new are left out.
//
// Left out are pairs whose outputs come from one template on equal operands
// (the operands' equality is the rule), pairs that fall into parts that share
// no step on either side, and pairs that are the same but for names. A step
// that both sides share becomes a variable if the rule stays true.
#ifndef ISOMER_XFER_GEN_CANDIDATES_H_
#define ISOMER_XFER_GEN_CANDIDATES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/pairs.h"

namespace isomer::gen {

// Writes pairs as candidates, sorted by steps, then by text.
std::vector<Candidate> CandidatesOf(Enumerator& all, const Hits& hits,
                                    uint64_t seed,
                                    absl::Span<const EqualPair> pairs);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_CANDIDATES_H_

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

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "xfer_gen/candidate.h"
#include "xfer_gen/pairs.h"

namespace isomer::gen {

// Writes pairs of tensors of a dag as candidates, sorted by steps, then by
// text. `go_on` is asked now and then, by one thread at a time; once it says
// false no more are written. Without `texts`, they have hashes in their place,
// and no leaves.
std::vector<Candidate> CandidatesOf(Enumerator& all, const Dag& dag,
                                    uint64_t seed,
                                    absl::Span<const EqualPair> pairs,
                                    absl::FunctionRef<bool()> go_on,
                                    bool texts = true);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_CANDIDATES_H_

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
#include <functional>
#include <vector>

#include "xfer_gen/candidate.h"
#include "xfer_gen/hits.h"

namespace isomer::gen {

struct CandidateStats {
  int64_t classes = 0;    // that hold two or more equal graphs
  int64_t confirmed = 0;  // graphs that equal another one of their class
  // Fingerprints that met and stand for different values, or for values that
  // differ at other sizes.
  int64_t false_positives = 0;
  int64_t pairs = 0;      // compared
  int64_t implied = 0;    // left out: smaller equalities give them
  int64_t cut = 0;        // shared steps that became variables
  int64_t instances = 0;  // left out: others with names given to variables
};

// Finds the candidates, sorted by steps, then by text. `go_on` is asked now
// and then and may stop the search.
std::vector<Candidate> FindCandidates(Enumerator& all, const Hits& hits,
                                      uint64_t seed,
                                      const std::function<bool()>& go_on,
                                      CandidateStats& stats);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_CANDIDATES_H_

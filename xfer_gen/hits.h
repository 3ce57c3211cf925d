// Graphs whose fingerprints met, put back together from their codes.
#ifndef ISOMER_XFER_GEN_HITS_H_
#define ISOMER_XFER_GEN_HITS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "xfer_gen/dag.h"
#include "xfer_gen/enumerate.h"

namespace isomer::gen {

// A graph with a choice of outputs, its variables named so that equal graphs
// have equal outputs.
struct Member {
  uint32_t cls = 0;  // members of one class have one fingerprint
  uint32_t steps = 0;
  uint32_t first = 0, count = 0;  // outputs, in Hits::outputs
};

struct Hits {
  explicit Hits(int num_leaves) : dag(num_leaves) {}

  Dag dag;
  std::vector<Member> members;  // by class, then by steps and code
  std::vector<TensorId> outputs;
  int64_t classes = 0;  // different fingerprints, met or not

  absl::Span<const TensorId> OutputsOf(const Member& m) const {
    return absl::MakeConstSpan(outputs).subspan(m.first, m.count);
  }
};

// Sorts the table of an enumeration and rebuilds what met; the table is empty
// afterwards.
Hits FindHits(Enumerator& all);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_HITS_H_

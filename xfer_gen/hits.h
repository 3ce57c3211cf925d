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
  uint64_t code = 0;
};

struct Hits {
  explicit Hits(int num_leaves) : dag(num_leaves) {}

  Dag dag;
  // In the order in which they were added, then by class, steps and code.
  std::vector<Member> members;
  std::vector<TensorId> outputs;
  int64_t classes = 0;  // different fingerprints, met or not

  absl::Span<const TensorId> OutputsOf(const Member& m) const {
    return absl::MakeConstSpan(outputs).subspan(m.first, m.count);
  }
};

// Sorts the tables of an enumeration and adds what met to the hits, rebuilt;
// the tables are empty afterwards. Two outputs are left out if one of them is
// made alike in all others that they met. Returns the fingerprints that stay.
std::vector<uint64_t> FindHits(Enumerator& all, Hits& hits);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_HITS_H_

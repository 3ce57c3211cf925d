// Graphs whose fingerprints met, put back together from their codes.
#ifndef ISOMER_XFER_GEN_HITS_H_
#define ISOMER_XFER_GEN_HITS_H_

#include <cstdint>
#include <functional>
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
  // Gives up the members and all that they are made of; the counts stay.
  void Forget();

  Dag dag;
  // In the order in which they were added, then by class, steps and code.
  std::vector<Member> members;
  std::vector<TensorId> outputs;
  int64_t classes = 0;  // different fingerprints, met or not
  uint32_t met = 0;     // classes that are numbered

  absl::Span<const TensorId> OutputsOf(const Member& m) const {
    return absl::MakeConstSpan(outputs).subspan(m.first, m.count);
  }
};

struct Coded {
  uint64_t code;
  uint32_t cls;
};

// What met in the tables.
struct Met {
  std::vector<Coded> codes;            // by class
  std::vector<uint64_t> fingerprints;  // of these classes
  int64_t classes = 0;                 // different fingerprints, met or not
  size_t added = 0;                    // codes whose members are in the hits
};

// Asked now and then, by any thread; false stops what goes on.
using MayGoOn = std::function<bool()>;

// Sorts the tables of an enumeration, which are empty afterwards, and counts
// and numbers the classes in the hits. Two outputs are left out if one of them
// is made alike in all others that they met. Once it is stopped, the parts of
// the tables that are left are given up.
Met SortTables(Enumerator& all, Hits& hits, const MayGoOn& go_on);

// Rebuilds the members of the next classes, at most `most` of them unless one
// class has more, and adds them to the hits; false if it was stopped.
bool AddHits(Enumerator& all, Met& met, size_t most, Hits& hits,
             const MayGoOn& go_on);

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_HITS_H_

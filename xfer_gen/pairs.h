// Graphs whose fingerprints met, compared: equality is confirmed on all
// elements with fresh inputs and at other sizes, and pairs of equal graphs that
// say nothing new are left out.
#ifndef ISOMER_XFER_GEN_PAIRS_H_
#define ISOMER_XFER_GEN_PAIRS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "xfer_gen/hits.h"
#include "xfer_gen/pair_code.h"

namespace isomer::gen {

struct CandidateStats {
  int64_t classes = 0;    // that hold two or more equal graphs
  int64_t confirmed = 0;  // graphs that equal another one of their class
  // Fingerprints that met and stand for different values, or for values that
  // differ at other sizes.
  int64_t false_positives = 0;
  int64_t pairs = 0;      // compared
  int64_t implied = 0;    // left out: smaller equalities give them
  int64_t instances = 0;  // left out: others with names given to variables
};

// Two lists of outputs that are equal, one by one.
struct EqualPair {
  PairCode code;
  SideOutputs a, b;
  SideOutputs cuts;  // tensors of shared steps that may be variables
  // Whether other sizes type both sides (they are then equal there).
  bool elsewhere = false;
  size_t place = 0;  // of its class among the members
};

// Finds the pairs among hits as they are added, with the threads of the
// enumeration.
class PairFinder {
 public:
  PairFinder(Enumerator& all, const Hits& hits, uint64_t seed);
  ~PairFinder();

  // Compares the members from number `first` on. `go_on` is asked now and then,
  // by one thread at a time, and may stop the search.
  void Compare(size_t first, const std::function<bool()>& go_on);
  // Tells the enumeration which of the single tensors compared are open: they
  // equal another one which is not the same template on equal operands; and
  // which are impure: their fingerprint has met one of another value.
  void MarkTensors();
  // The pairs, in an order that depends on neither threads nor time.
  std::vector<EqualPair> Take(CandidateStats& stats);

 private:
  class Finder;
  class Worlds;

  // Calls `work(finder)` on all threads.
  void OnThreads(const std::function<void(Finder&)>& work);
  // Finds the prints of new steps in the second world.
  void FindPrints();

  Enumerator& all_;
  const Hits& hits_;
  std::unique_ptr<Worlds> worlds_;
  // In the second world, by tensor; 0 where it does not type. Found before
  // members are compared, in the order of the steps, which is kind to caches.
  std::vector<uint64_t> prints_;
  uint32_t steps_ = 0;                            // whose prints are there
  std::vector<std::unique_ptr<Finder>> finders_;  // by thread
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIRS_H_

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
#include "xfer_gen/pair_comparer.h"

namespace isomer::gen {

// Finds the pairs among hits as they are added, with the threads of the
// enumeration.
class PairFinder {
 public:
  PairFinder(Enumerator& all, const Hits& hits, uint64_t seed);

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
  // Calls `work(comparer)` on all threads.
  void OnThreads(const std::function<void(PairComparer&)>& work);
  // Finds the prints of new steps in the second world before members are
  // compared, in the order of the steps, which is kind to caches.
  void FindPrints();

  Enumerator& all_;
  const Hits& hits_;
  PairWorlds worlds_;
  uint32_t steps_ = 0;  // whose prints are there
  std::vector<std::unique_ptr<PairComparer>> comparers_;  // by thread
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIRS_H_

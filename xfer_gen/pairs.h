// Graphs whose fingerprints met, compared: equality is confirmed on all
// elements with fresh inputs and at other sizes, and pairs of equal graphs that
// say nothing new are left out.
#ifndef ISOMER_XFER_GEN_PAIRS_H_
#define ISOMER_XFER_GEN_PAIRS_H_

#include <cstdint>
#include <deque>
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
  // Values of at most `most_bytes` are kept for each thread.
  PairFinder(Enumerator& all, Hits& hits, uint64_t seed,
             int64_t most_bytes = int64_t{96} << 20);
  ~PairFinder();

  // Compares the members from number `first` on; false if it was stopped.
  bool Compare(size_t first, const MayGoOn& go_on);
  // Gives the hits up, and all that is known of them but the pairs, and marks
  // their tensors. This makes room, and time is lost where they are met again.
  void Forget();
  // Tells the enumeration which of the single tensors compared are open: they
  // equal another one which is not the same template on equal operands; and
  // which are impure: their fingerprint has met one of another value.
  void MarkTensors();
  // The pairs, in an order that depends on neither threads nor time; their
  // tensors are those of kept().
  std::vector<EqualPair> Take(CandidateStats& stats);
  Dag& kept() { return kept_; }

 private:
  // Calls `work(comparer)` on all threads.
  void OnThreads(const std::function<void(PairComparer&)>& work);
  // Finds the prints of new steps in the second world before members are
  // compared, in the order of the steps, which is kind to caches; false if it
  // was stopped.
  bool FindPrints(const MayGoOn& go_on);

  // Takes what the comparers have found out of the hits.
  void Keep();

  Enumerator& all_;
  Hits& hits_;
  PairWorlds worlds_;
  uint32_t steps_ = 0;  // whose prints are there
  SeenPairs seen_;
  std::vector<std::unique_ptr<PairComparer>> comparers_;  // by thread
  Dag kept_;
  std::deque<EqualPair> pairs_;          // in it; never held twice
  size_t forgotten_ = 0;                 // members
  std::vector<uint64_t> open_, impure_;  // codes
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIRS_H_

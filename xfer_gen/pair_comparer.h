// What one thread does with classes of graphs whose fingerprints met: it
// compares their members by all elements in a world with fresh inputs and at
// other sizes, and forms pairs of equal ones with the first, the smallest.
//
// A pair that was met before under other names is passed over early. What is
// asked of a pair has one answer under all names, so that which one a thread
// meets first does not matter; of those that are found, the first one in the
// order of the members is kept in the end.
#ifndef ISOMER_XFER_GEN_PAIR_COMPARER_H_
#define ISOMER_XFER_GEN_PAIR_COMPARER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "xfer_gen/dag.h"
#include "xfer_gen/hits.h"
#include "xfer_gen/pair_code.h"
#include "xfer_gen/pair_cuts.h"

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
  size_t place = 0;  // of its class among all members
};

// The world of the enumeration, then those of the other sizes, and what is
// known of the hits in them.
class PairWorlds {
 public:
  PairWorlds(Enumerator& all, uint64_t seed);

  size_t size() const { return facts_.size(); }
  World& operator[](size_t i) { return i == 0 ? first_ : *others_[i - 1]; }
  DagFacts& facts(size_t i) { return facts_[i]; }
  // Makes room for what has been added to the dag.
  void Grow(const Dag& dag);
  // Gives up what is known of the dag.
  void Forget();
  // Gives up a world but the first; it must not be used any more.
  void Drop(size_t i) { others_[i - 1].reset(); }

 private:
  World& first_;
  std::vector<std::unique_ptr<World>> others_;
  std::vector<DagFacts> facts_;
};

// Pairs that were met, by nameless keys: what all threads know of each other.
class SeenPairs {
 public:
  // True if a pair with the key was met in the class at `place` or before. With
  // one that came later, another thread was ahead: this one is then the first.
  bool Contains(uint64_t key, size_t place) {
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    const auto it = shard.places.find(key);
    return it != shard.places.end() && it->second <= place;
  }
  void Insert(uint64_t key, size_t place) {
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    size_t& least = shard.places.try_emplace(key, place).first->second;
    least = std::min(least, place);
  }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    absl::flat_hash_map<uint64_t, size_t> places;
  };
  Shard& ShardOf(uint64_t key) { return shards_[key % shards_.size()]; }

  std::array<Shard, 64> shards_;
};

class PairComparer {
 public:
  // There are at least two worlds, grown to the dag. At most `most_bytes` of
  // values are kept in each.
  PairComparer(const Preset& preset, const Hits& hits, PairWorlds& worlds,
               SeenPairs& seen, uint64_t seed, int64_t most_bytes);

  // Called when the hits and what is known of them have been given up; so many
  // members have been there before those to come.
  void Forget(size_t members);

  // Finds the prints of a step in the second world, in which classes are
  // compared. All steps must have theirs before.
  void PrintStep(uint32_t step);
  // Compares the members [begin, end) of one class: at the second sizes where
  // all of them type there, else at the first, with fresh inputs.
  void Class(size_t begin, size_t end);

  std::vector<EqualPair> found;
  CandidateStats stats;
  // Classes of open tensors, and those that fell apart, by their first members.
  std::vector<size_t> open, impure;

 private:
  // Pairs every member with the first ones that have the fewest steps; what
  // two larger members are to each other follows. A tensor that is made as one
  // before it, of equal operands with the same variables, says nothing new.
  void Group(absl::Span<const std::pair<uint64_t, size_t>> members,
             size_t world);
  // How many of the first members the one at `j` is paired with.
  size_t Partners(absl::Span<const std::pair<uint64_t, size_t>> members,
                  size_t j) const;
  // A member of a group, and whether its pairs hold at other sizes, if that has
  // been asked. Who asked first must not matter: values may hide at some names
  // what they show at others.
  struct Made {
    size_t place = 0;
    std::optional<bool> holds;
  };
  bool Holds(Made& made, absl::Span<const std::pair<uint64_t, size_t>> members,
             size_t world);
  uint64_t Print(size_t world, TensorId t) {
    return world == 1 ? prints_[t] : values_[world].Print(t);
  }
  // Whether a tensor types in a world.
  bool Types(size_t world, TensorId t) {
    return world == 1 ? prints_[t] != 0 : values_[world].Kind(t) >= 0;
  }
  bool EqualsLeaf(TensorId t, size_t world) {
    return leaf_prints_[world].contains(Print(world, t));
  }
  // Whether the members of a class, single tensors, differ in their template or
  // their operands, in either of the two worlds in which members are compared.
  // Where members were left out the rest does not tell.
  bool IsOpen(size_t begin, size_t end);
  // The template, the output and the values of the operands, as one number.
  uint64_t MakingOf(const Member& m);
  // Which variables stand in the operands, of whatever value: an equality of
  // tensors that do not have the same ones may be no rule.
  uint64_t OperandVariables(const Member& m);
  // The outputs of members, as one number each; false if one does not type.
  bool Keys(size_t begin, size_t end, size_t world);
  // The outputs of b in the order of those of a that they equal.
  SideOutputs Matched(absl::Span<const TensorId> a,
                      absl::Span<const TensorId> b, size_t world);
  // True if a smaller equality turns the tensor into one of the last members
  // before it: what they have in common may be anything.
  bool FollowsFromOneBefore(TensorId t);
  // Whether a pair has been enumerated with leaves in place of its variables.
  bool LeavesMayStandFor(absl::Span<const TensorId> variables, TensorId t,
                         TensorId u);
  // Adds the pair if it is new and holds at other sizes. Whether it does;
  // nothing if it was not asked, since a thread has met one like it before.
  std::optional<bool> Pair(const Member& larger, const Member& smaller,
                           size_t world);
  // Whether both sides are equal at the other sizes; nothing if no assignment
  // types both.
  std::optional<bool> EqualElsewhere(const SideOutputs& a,
                                     const SideOutputs& b);
  // True if the equality of one pair of outputs is no news.
  bool IsImplied(const SideOutputs& a, const SideOutputs& b, size_t world);
  // True if the pair is several rules side by side.
  bool FallsApart(const SideOutputs& a, const SideOutputs& b);
  // One template on operands that are equal, place by place.
  bool SameOnEqual(TensorId x, TensorId y, size_t world);

  const Preset& preset_;
  const Hits& hits_;
  const Dag& dag_;
  std::vector<uint64_t>& prints_;                // in the second world
  std::deque<DagValues> values_;                 // by world
  std::vector<std::set<uint64_t>> leaf_prints_;  // by world
  // How many there are of a kind in the first one, and those that are data.
  struct LeafCount {
    int all = 0, data = 0;
  };
  absl::flat_hash_map<KindId, LeafCount> leaves_;
  std::optional<PairCoder> coder_;
  std::optional<PairCutter> cutter_;
  size_t place_ = 0;                               // of the class at hand
  std::vector<std::pair<uint64_t, size_t>> keys_;  // of its members
  // Of the members that were paired, single tensors: those that are made so,
  // and all of them.
  absl::flat_hash_map<uint64_t, Made> makings_;
  std::vector<TensorId> before_;
  size_t forgotten_ = 0;  // members
  // Hashes of the codes of pairs that hold at other sizes, and of pairs that do
  // not type there. What is like the former says nothing new, whatever its
  // names; it is known by its nameless key.
  absl::flat_hash_set<uint64_t> seen_elsewhere_, seen_here_;
  SeenPairs& seen_nameless_;
  std::vector<Dag::Steps> cones_a_, cones_b_;  // of FallsApart
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_PAIR_COMPARER_H_

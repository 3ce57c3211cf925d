// All graphs over a preset's templates and leaves up to a number of steps,
// each once up to the names of its variables, with the fingerprints of their
// outputs.
//
// A graph is a set of terms (xfer_gen/terms.h) that holds what its terms need.
// Written in ascending order, it is kept if no renaming gives a smaller list;
// a prefix of a kept list is kept, so graphs grow by their greatest term.
// The steps of the last level are needed nowhere else: they are evaluated on
// the spot and held in a few words (xfer_gen/fresh.h).
//
// The fingerprint of a choice of outputs is the least one over the renamings
// of the variables that the outputs depend on. It looks at sampled elements:
// equal graphs have equal fingerprints, and whether the converse holds is for
// xfer_gen/pairs.h to say.
//
// Choices of several outputs say something new only if every output equals one
// that is made in another way: by another template or from other values. What
// holds for all of them holds for any two. So single tensors come first, then
// two outputs each of which has such an equal (is open), then more, each two of
// which have one; all other choices are counted and passed over.
#ifndef ISOMER_XFER_GEN_ENUMERATE_H_
#define ISOMER_XFER_GEN_ENUMERATE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xfer_gen/fresh.h"
#include "xfer_gen/grow_array.h"
#include "xfer_gen/sorted_set.h"
#include "xfer_gen/table.h"
#include "xfer_gen/terms.h"
#include "xfer_gen/world.h"

namespace isomer::gen {

struct EnumerateOptions {
  int depth = 3;
  // Only graphs connected through operators; with two outputs, also smaller
  // graphs that further steps can connect.
  bool connected = false;
  bool prune = true;  // do not extend a tensor that equals a smaller one
  int threads = 1;
  uint64_t seed = 1;
};

// Numbers of the canonical graphs that have been kept.
using GraphId = uint32_t;

struct EnumerateStats {
  int64_t graphs = 0;        // canonical ones, of all sizes
  int64_t fingerprints = 0;  // choices of outputs, stored or passed over
  int64_t evaluations = 0;   // of terms
  std::vector<int64_t> graphs_by_size, terms_by_size;
  // Of the graphs that the last level extends, how many there are and how many
  // were done when they were last gone through.
  int64_t to_extend = 0, extended = 0;
};

// What an entry of the table stands for: an extension of a graph, by its place
// among all, a choice of outputs, and, where several renamings give the same
// fingerprint, which one. Steps of the last level, which have no numbers, come
// after those that have.
struct Code64 {
  static constexpr int kMaskBits = 12, kTwinBits = 4, kOrdinalBits = 19;
  static constexpr uint32_t kFirstFresh = 1u << (kOrdinalBits - 1);
  static constexpr uint32_t kMostTwins = 1u << kTwinBits;
  // The parent of the leaves.
  static constexpr GraphId kLeaves = (1u << 29) - 1;
  static uint64_t Make(GraphId parent, uint32_t ordinal, uint32_t twin,
                       uint32_t mask) {
    return (uint64_t{parent} << kOrdinalBits | ordinal)
               << (kMaskBits + kTwinBits) |
           uint64_t{twin} << kMaskBits | mask;
  }
  static GraphId Parent(uint64_t code) {
    return static_cast<GraphId>(code >> (kOrdinalBits + kMaskBits + kTwinBits));
  }
  static uint32_t Ordinal(uint64_t code) {
    return static_cast<uint32_t>(code >> (kMaskBits + kTwinBits)) &
           ((1u << kOrdinalBits) - 1);
  }
  static uint32_t Twin(uint64_t code) {
    return static_cast<uint32_t>(code) >> kMaskBits & (kMostTwins - 1);
  }
  static uint32_t Mask(uint64_t code) {
    return static_cast<uint32_t>(code) & ((1u << kMaskBits) - 1);
  }
};

class Worker;
struct Extension;

class Enumerator {
 public:
  Enumerator(const Preset& preset, const EnumerateOptions& options);
  ~Enumerator();

  // Asked now and then, with the level and the share of it that is done;
  // false stops the enumeration.
  using GoOn = std::function<bool(int level, double share)>;

  // Finds the terms and the graphs of all levels but the last, and adds the
  // fingerprints of single tensors to the tables, if these hold their parts;
  // returns false if it was stopped.
  bool Run(const GoOn& go_on);
  // Marks the outputs that codes stand for as open, under all names.
  void MarkOpen(std::vector<uint64_t> codes);
  // Marks them as open from the next turn on.
  void MarkOpenNext(std::vector<uint64_t> codes);
  // Marks them as impure: others have their fingerprint and not their value.
  void MarkImpure(std::vector<uint64_t> codes);
  // From now on the tables take the fingerprints from a part on, of as many
  // parts as there is room for.
  void OpenTables(int first_part, int64_t max_bytes) {
    slice_.Open(first_part, max_bytes);
  }
  // Gives up some of the parts, if there are any; may be called by what asks
  // whether to go on.
  bool ShrinkTables() { return slice_.GiveUp(); }
  // The first part that had no room.
  int tables_end() const { return slice_.end(); }
  // Goes through the graphs of all levels and adds the fingerprints of single
  // tensors again; returns false if it was stopped.
  bool RunSingles(const GoOn& go_on);
  // Goes through the graphs of all levels, counts them if the tables begin with
  // the first part, and adds the fingerprints of two open outputs; returns
  // false if it was stopped.
  bool RunPairs(const GoOn& go_on);
  // Says which fingerprints of two outputs are those of open pairs; they come
  // in ascending order.
  void AddOpenPairs(absl::Span<const uint64_t> fingerprints);
  // From now on the outputs that were marked for it are open and no others, and
  // so are the pairs that were added.
  void TurnOpen();
  // Goes through them again and adds the fingerprints of three and more open
  // outputs, each two of which are an open pair.
  bool RunMore(const GoOn& go_on);

  // Gives up all terms, graphs and values; the world stays.
  void DropGraphs();
  // Gives up what threads keep from one stage to the next to be faster.
  void DropCaches();

  const EnumerateStats& stats() const { return stats_; }
  std::vector<std::unique_ptr<Table>>& tables() { return tables_; }
  const Preset& preset() const { return preset_; }
  World& world() { return world_; }
  const Terms& terms() const { return terms_; }
  const EnumerateOptions& options() const { return options_; }
  // What a thread uses from one stage to the next, as long as there are graphs.
  Worker& worker(int thread) { return *workers_[thread]; }
  // Runs `body(thread)` on every thread.
  void OnThreads(absl::FunctionRef<void(int)> body) const;

  // True if the extensions of a graph are of the last level.
  bool IsLastParent(GraphId graph) const {
    return static_cast<int>(level_start_.size()) > options_.depth - 1 &&
           graph >= level_start_[options_.depth - 1];
  }
  // The steps without numbers that extend a graph of the level before the last.
  template <class F>
  void ForEachFresh(GraphId graph, F f) const {
    fresh_.ForEach(graph - level_start_[options_.depth - 1], f);
  }
  // The term that extends a graph of a lower level, by its place among all.
  TermId Child(GraphId parent, uint32_t ordinal) const {
    return graphs_[FirstChild(parent) + ordinal].last;
  }
  // True if an extension of the graph that the worker visits counts: with
  // `connected`, it is connected or can become so.
  bool Keeps(const Worker& worker, const Extension& e) const;

 private:
  friend class Worker;

  struct Node {
    GraphId parent;
    TermId last;
  };
  // What is known of a tensor that has a number.
  struct Facts {
    uint64_t print = 0;  // its sampled values and type, mixed
    const Field* values = nullptr;
    uint32_t depends = 0;  // the leaves that its value depends on
    KindId kind = 0;
    bool reducible = false;  // it equals a smaller tensor
    bool open = false, open_next = false;
    bool impure = false;  // what has its print need not have its value
  };

  // A template and a place in it where a kind fits, with a class of leaves in
  // the other place.
  struct Partner {
    int tmpl, place, cls;
    const Instance* instance;
  };

  void AddLeaves();
  void AddLeafPrints();
  // False if it was stopped, as below.
  bool MakeTerms(int level, const GoOn& go_on);
  // Finds the partners of all kinds of tensors that may be operands: each
  // thread does other templates. While graphs are gone through, all threads
  // would want the same instances at the same time.
  void FindPartners();
  std::vector<Partner> PartnersIn(int tmpl, KindId kind);
  bool Takes(int tmpl, int place, TensorId t) const;
  bool Usable(TensorId t) const;
  // Calls `work` for stretches of the terms from `first` on, on all threads.
  bool OnTerms(
      TermId first, int level, const GoOn& go_on,
      const std::function<void(Worker&, TermId from, TermId to)>& work);
  bool EvaluateTerms(TermId first, int level, const GoOn& go_on);
  // Finds the leaves that the outputs of the first term of an orbit depend on;
  // the others follow.
  void FindDepends(Worker& worker, TermId t);
  bool MarkReducible(TermId first, int level, const GoOn& go_on);
  GraphId FirstChild(GraphId parent) const;
  // Calls `work(worker, thread, stretch, graph)` for every graph that a level
  // extends, on all threads; false if it was stopped.
  using Work =
      std::function<void(Worker&, int thread, size_t stretch, GraphId)>;
  bool OnGraphs(int level, const GoOn& go_on, const Work& work);
  bool MakeGraphs(int level, const GoOn& go_on);
  bool MakeFresh(const GoOn& go_on);
  // Calls `add(worker, thread, last step, ordinal)` for every graph of the
  // levels but the last, at its parent.
  bool OnLowerLevels(
      const GoOn& go_on,
      const std::function<void(Worker&, int, TermId, uint32_t)>& add);
  // Calls the functions for the outputs that codes stand for, on all threads:
  // with a tensor, or with an output of a step that has no number, which is
  // never at two threads at once.
  void ForTensors(std::vector<uint64_t> codes,
                  absl::FunctionRef<void(TensorId)> numbered,
                  absl::FunctionRef<void(FreshSteps::Step, int)> fresh);
  // The same for codes that stem from one graph.
  void ForTensorsOf(Worker& worker, absl::Span<const uint64_t> codes,
                    absl::FunctionRef<void(TensorId)> numbered,
                    absl::FunctionRef<void(FreshSteps::Step, int)> fresh);
  // The facts of a tensor under all names.
  template <class F>
  void OnOrbit(TensorId t, F f);
  // May be called from several threads.
  void MarkOrbit(TensorId t, bool Facts::*mark);
  // What a thread counts, on a cache line of its own.
  struct alignas(64) Count {
    int64_t graphs = 0, choices = 0;
  };
  void AddUp(absl::Span<const Count> counts);

  const Preset& preset_;
  EnumerateOptions options_;
  Symmetry symmetry_;
  World world_;
  Terms terms_;
  GrowArray<Facts> facts_;
  absl::flat_hash_map<KindId, std::vector<Partner>> partners_;
  std::deque<std::vector<Field>> values_;
  GrowArray<Node> graphs_;
  std::vector<GraphId> level_start_;
  mutable FreshSteps fresh_;
  SortedSet open_pairs_;  // fingerprints
  absl::flat_hash_map<uint64_t, TensorId> smallest_;
  Slice slice_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Worker>> workers_;
  EnumerateStats stats_;
  int max_arity_ = 0;
};

template <class F>
void Enumerator::OnOrbit(TensorId t, F f) {
  if (terms_.IsLeaf(t)) {
    const int c = symmetry_.class_of(static_cast<int>(t));
    for (int i = 0; i < symmetry_.count(c); ++i) {
      f(facts_[symmetry_.first(c) + i]);
    }
    return;
  }
  for (TermId member : terms_.OrbitOf(terms_.term_of(t))) {
    f(facts_[terms_.term(member).first + terms_.output_of(t)]);
  }
}

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_ENUMERATE_H_

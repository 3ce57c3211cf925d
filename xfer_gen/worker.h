// What one thread of the enumeration does: it takes a graph, finds the steps
// that extend it, keeps the canonical results and fingerprints their outputs.
#ifndef ISOMER_XFER_GEN_WORKER_H_
#define ISOMER_XFER_GEN_WORKER_H_

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "xfer_gen/enumerate.h"

namespace isomer::gen {

// A step that has not been given a number: a template on operands.
struct NewStep {
  int tmpl = 0;
  const Instance* instance = nullptr;
  std::array<TensorId, kMaxOperands> operands = {};
  int arity = 0;
  // Outputs that are known to depend on all that the operands depend on.
  uint32_t full = 0;
  absl::Span<const TensorId> span() const {
    return {operands.data(), static_cast<size_t>(arity)};
  }
};

// A graph and a step more: either a numbered term or a new one.
struct Extension {
  TermId term = kNone;
  const NewStep* fresh = nullptr;
  uint32_t fresh_open = 0;  // outputs of a new one
};

class Worker {
 public:
  // `first` is the template that it begins with where it looks for those that
  // fit: threads that begin with different ones do not wait for each other.
  Worker(const Enumerator& all, int first) : all_(all), first_(first) {}

  // Goes to a graph.
  void Visit(GraphId graph);
  // How many steps it has.
  int steps() const { return steps_; }
  // The outputs of all of them.
  absl::Span<const TensorId> tensors() const { return tensors_; }

  // Calls `found` for every step over the whole graph: its operands are leaves
  // and tensors of the graph, and every term of the graph is needed. New
  // variables come in order.
  void ForEachOver(absl::FunctionRef<void(const NewStep&)> found);

  // Calls `found(term, place)` for every numbered term that is greater than
  // those of the graph and made of some of them, in order; `whole` says whether
  // terms over the whole graph have numbers. The graph with the term need not
  // be canonical.
  void ForEachNumbered(bool whole,
                       absl::FunctionRef<void(TermId, uint32_t)> found);
  // The term at a place of ForEachNumbered.
  TermId NumberedAt(uint32_t place);
  // Calls `found(extension, ordinal)` for the steps over the whole graph that
  // have no numbers and some of whose outputs are open.
  void ForEachOpenFresh(
      absl::FunctionRef<void(const Extension&, uint32_t)> found);

  // A step without a number, taken out of its words.
  NewStep StepOf(FreshSteps::Step step);

  // True if no renaming makes the graph with a step more smaller.
  bool IsCanonical(TermId t);
  bool IsCanonical(const NewStep& step);

  // How many choices of outputs the graph with the extension has.
  int64_t CountChoices(const Extension& e) const;
  // Adds the fingerprints of the extension's outputs if it needs the whole
  // graph, each alone.
  void AddSingles(const Extension& e, uint32_t ordinal, Table& table);
  // How many outputs of the graph with the extension are open; 0 if a step that
  // no other needs has no open output.
  int NumOpen(const Extension& e) const;
  // Adds the fingerprints of the choices of two outputs that are open.
  void AddPairs(const Extension& e, uint32_t ordinal, Table& table);
  // Adds those of three and more open outputs, each two of which are an open
  // pair.
  void AddMore(const Extension& e, uint32_t ordinal, Table& table);
  // The names that give the fingerprint of one choice of outputs, applied to
  // the outputs; a new step stands as kNone and its renamed operands.
  struct Renamed {
    // kNone - k: output k of the new step.
    absl::InlinedVector<TensorId, 2> outputs;
    NewStep fresh;
  };
  // `Prepare` must have been called for the extension.
  Renamed Rename(const Extension& e, uint32_t mask, uint32_t twin) const;
  // Finds the outputs of the graph with the extension and their prints; `all`
  // says whether those of the graph too.
  void Prepare(const Extension& e, bool all);

  // How many parts the extended graph has, connected through operators.
  int Components(const Extension& e) const;

  // The values of an output of a numbered term, computed if they are not
  // stored; valid until the next Visit.
  const Field* ValuesOf(TensorId t);
  // Runs a numbered term, at sampled places if not at all, and returns what it
  // is an instance of.
  const Instance& Evaluate(TermId t, bool all, std::vector<Field>& values);
  // The leaves that output k of a step depends on.
  uint32_t Depends(const NewStep& step, int k);
  // The outputs of the new step prepared last that depend on all that its
  // operands depend on.
  uint32_t FullOutputs(const NewStep& step) const;
  // The mixed hash of sampled values of output k.
  static uint64_t PrintOf(const Instance& instance, int k, const Field* values);

  const Instance* Find(int tmpl, absl::Span<const TensorId> operands);
  // Called when other pairs may be open.
  void ForgetPairs() { known_pairs_.clear(); }
  int64_t evaluations = 0;
  Scratch scratch;

 private:
  // What renamings do to the graph visited, for one set of used variables.
  struct Images {
    uint32_t used;
    const std::vector<Renaming>* renamings;
    std::vector<std::array<TermId, kMaxSteps>> terms;  // sorted
    // The renamings but the identity, each with the graph's first term that it
    // does not map into the graph's start, or kNone if it maps the graph to
    // itself; greatest first. An extension is smaller under the renaming if its
    // image is less than that term.
    std::vector<std::pair<TermId, uint32_t>> pivots;
    bool has_prints;
    std::vector<std::array<uint64_t, 2 * kMaxSteps>> prints;
    // The renamings that give outputs the first names of each class, by the
    // variables that the outputs depend on.
    struct Prefix {
      uint32_t depends;
      std::vector<uint32_t> renamings;
    };
    std::vector<Prefix> prefixes;
    size_t num_prefixes;
  };
  // A template that fits two operands.
  struct Fit {
    int tmpl;
    const Instance* instance;
  };
  // The extended graph's outputs.
  struct Outputs {
    int count = 0;
    std::array<TensorId, 2 * kMaxSteps> tensors;  // kNone - k: of a new step
    std::array<uint32_t, 2 * kMaxSteps> depends;
    std::array<int, 2 * kMaxSteps> step;
    uint32_t consumed = 0;
    int steps = 0;
    // The outputs of each step that no other step needs.
    std::array<uint32_t, kMaxSteps> ends;
    int num_ends = 0;
  };

  void MarkOpen();
  void FindOver();
  Images& ImagesFor(uint32_t used);
  void FillPrints(Images& images) const;
  // The templates with two computed tensors as operands, commutative ones with
  // the smaller first.
  const std::vector<Fit>& FitsOf(TensorId a, TensorId b);
  const Instance* FindKinds(int tmpl, absl::Span<const KindId> kinds);
  void Unary(absl::FunctionRef<void(const NewStep&)> found);
  void Binary(absl::FunctionRef<void(const NewStep&)> found);
  void Wide(int tmpl, NewStep& step,
            absl::FunctionRef<void(const NewStep&)> found);
  void Offer(NewStep& step, absl::FunctionRef<void(const NewStep&)> found);
  bool UsesAllSinks(absl::Span<const TensorId> operands) const;
  // Compares the graph with `t`, under a renaming, with the graph with `t`.
  bool IsLess(const std::array<TermId, kMaxSteps>& images, TermId image,
              TermId t) const;
  Outputs OutputsOf(const Extension& e);
  uint32_t LeavesOf(const Extension& e) const;
  void FreshPrints(const NewStep& step, const std::vector<Renaming>& renamings);
  // The leaves that a step can depend on.
  uint32_t MostDepends(const NewStep& step) const;
  const Field* SpareValues(TensorId t, int leaf);
  // The steps, as a mask, and the tensors of the graph that the extension
  // consumes.
  struct Consumed {
    uint32_t steps = 0, tensors = 0;
  };
  Consumed ConsumedBy(const Extension& e) const;
  // Fills new_prints_ for every renaming of the extended graph's variables, and
  // the graph's own prints if `all` says so.
  Images& FindPrints(const Extension& e, const Outputs& o, bool all);
  // The print of an output under a renaming, and the sum of those of a choice.
  uint64_t PrintAt(size_t r, int output) const {
    const int n = static_cast<int>(tensors_.size());
    return output < n ? prepared_->prints[r][output]
                      : new_prints_[r][output - n];
  }
  uint64_t SumOf(size_t r, uint32_t mask) const;
  // True if two outputs of the choice have the same print.
  bool HasTwice(uint32_t mask) const;
  // The open outputs of the graph with the extension; none if a step that no
  // other needs has none, or if there are more than `most_ends` such steps.
  uint32_t FindOpen(const Extension& e, int most_ends = kMaxSteps) const;
  // True if every step is needed under the choice.
  bool IsLive(uint32_t mask) const;
  // The templates and operands of outputs under a renaming; nothing of one
  // output, nor of many.
  Makings MakingsOf(const Extension& e, size_t r, uint32_t mask) const;
  uint64_t MakingOf(const Extension& e, size_t r, int output) const;
  // True if a value depends on all leaves that it names.
  bool DependsOnAll(TensorId t) const;
  // Whether two outputs are an open pair. Those of numbered steps are looked up
  // first; if they are not known, or not numbered, the extension is prepared.
  bool IsOpenPair(const Extension& e, int a, int b, bool& prepared);
  void AddChoice(const Extension& e, uint32_t ordinal, uint32_t mask,
                 Table& table) const;
  // The least print of a choice of outputs, the first renaming that gives it
  // and how many do.
  struct Least {
    uint64_t print;
    size_t renaming;
    int count;
  };
  // The renamings that give the least print and different outputs.
  std::vector<size_t> Twins(const Extension& e, uint32_t mask,
                            const Least& least) const;
  const std::vector<uint32_t>& GivingPrefix(uint32_t mask) const;
  Least FindLeast(uint32_t mask) const;

  const Enumerator& all_;
  const int first_;
  GraphId graph_ = 0;
  int steps_ = 0;
  std::array<TermId, kMaxSteps> terms_ = {};
  TermSet set_ = kNoTerms;
  uint32_t leaves_ = 0;
  uint32_t sinks_ = 0;  // steps that no other consumes, as a mask
  std::array<int, kMaxSteps> component_ = {};
  int components_ = 0;
  std::vector<TensorId> tensors_;  // of all steps
  // Numbered terms over closed subsets of the graph, greater than its own; the
  // whole comes last.
  std::vector<absl::Span<const TermId>> over_;
  uint32_t consumed_ = 0;  // of tensors_
  uint32_t open_ = 0;      // of tensors_
  uint32_t shut_ = 0;      // sinks without an open output
  // Some of the pairs of numbered tensors that were asked about: the two
  // tensors, and in the last bit whether they are an open pair.
  std::vector<uint64_t> known_pairs_;
  std::vector<Images> images_;
  size_t num_images_ = 0;
  std::vector<std::array<uint64_t, kMaxOutputs>> new_prints_;  // by renaming
  std::vector<std::pair<TermId, std::vector<Field>>> computed_;
  size_t num_computed_ = 0;
  // By the kinds of two tensors, and whether the second is the smaller one.
  absl::flat_hash_map<std::tuple<KindId, KindId, bool>, std::vector<Fit>> fits_;
  absl::flat_hash_map<InstanceKey, const Instance*> instances_;
  std::vector<Field> buffer_, plain_, other_;
  struct Spare {
    TermId term;
    int leaf;
    std::vector<Field> values;
  };
  std::vector<Spare> spare_;  // of the graph visited
  Outputs outputs_;           // of the extension prepared
  Images* prepared_ = nullptr;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_WORKER_H_

// What one thread of the enumeration does: it takes a graph, finds the steps
// that extend it, keeps the canonical results and fingerprints their outputs.
#ifndef ISOMER_XFER_GEN_WORKER_H_
#define ISOMER_XFER_GEN_WORKER_H_

#include <cstdint>
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
  absl::Span<const TensorId> span() const {
    return {operands.data(), static_cast<size_t>(arity)};
  }
};

// A graph and a step more: either a numbered term or a new one.
struct Extension {
  TermId term = kNone;
  const NewStep* fresh = nullptr;
};

class Worker {
 public:
  explicit Worker(const Enumerator& all) : all_(all) {}

  // Goes to a graph.
  void Visit(GraphId graph);
  // How many steps it has.
  int steps() const { return steps_; }

  // Calls `found` for every step over the whole graph: its operands are leaves
  // and tensors of the graph, and every term of the graph is needed. New
  // variables come in order.
  void ForEachOver(absl::FunctionRef<void(const NewStep&)> found);

  // Calls `kept` for every canonical graph that has one step more, in order.
  // `last` says that terms over the whole graph have no numbers.
  void ForEachExtension(bool last,
                        absl::FunctionRef<void(const Extension&)> kept);

  // Adds the fingerprints of the graph with the extension for every choice of
  // outputs.
  void AddPrints(const Extension& e, uint32_t ordinal, Table& table);
  // The names that give the fingerprint of one choice of outputs, applied to
  // the outputs; a new step stands as kNone and its renamed operands.
  struct Renamed {
    // kNone - k: output k of the new step.
    absl::InlinedVector<TensorId, 2> outputs;
    NewStep fresh;
  };
  // `Prepare` must have been called for the extension.
  Renamed Rename(const Extension& e, uint32_t mask, uint32_t twin) const;
  void Prepare(const Extension& e);

  // How many parts the extended graph has, connected through operators.
  int Components(const Extension& e) const;

  // The values of an output of a numbered term, computed if they are not
  // stored; valid until the next Visit.
  const Field* ValuesOf(TensorId t);
  // The leaves that output k of a step depends on.
  uint32_t Depends(const NewStep& step, int k);
  // The mixed hash of sampled values of output k.
  static uint64_t PrintOf(const Instance& instance, int k, const Field* values);

  const Instance* Find(int tmpl, absl::Span<const TensorId> operands);
  int64_t evaluations = 0;
  Scratch scratch;

 private:
  // What renamings do to the graph visited, for one set of used variables.
  struct Images {
    uint32_t used;
    const std::vector<Renaming>* renamings;
    std::vector<std::array<TermId, kMaxSteps>> terms;  // sorted
    std::vector<std::array<uint64_t, 2 * kMaxSteps>> prints;
  };
  // A template and a place in it where a kind fits, with a class of leaves in
  // the other place.
  struct Partner {
    int tmpl, place, cls;
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
  };

  const Images& ImagesFor(uint32_t used);
  const std::vector<Partner>& PartnersOf(KindId kind);
  const Instance* FindKinds(int tmpl, absl::Span<const KindId> kinds);
  bool Takes(int tmpl, int place, TensorId t) const;
  bool Usable(TensorId t) const;
  void Unary(absl::FunctionRef<void(const NewStep&)> found);
  void Binary(absl::FunctionRef<void(const NewStep&)> found);
  void Wide(int tmpl, NewStep& step,
            absl::FunctionRef<void(const NewStep&)> found);
  void Offer(NewStep& step, absl::FunctionRef<void(const NewStep&)> found);
  bool UsesAllSinks(absl::Span<const TensorId> operands) const;
  bool IsCanonical(TermId t);
  bool IsCanonical(const NewStep& step);
  Outputs OutputsOf(const Extension& e);
  uint32_t LeavesOf(const Extension& e) const;
  void FreshPrints(const NewStep& step, const Images& images);
  const Field* SpareValues(TensorId t, int leaf);
  std::vector<uint32_t> Choices(const Outputs& o) const;
  // Fills prints_ for every renaming of the extended graph's variables.
  const Images& AllPrints(const Extension& e, const Outputs& o);
  // The least print of a choice of outputs, the first renaming that gives it
  // and how many do.
  struct Least {
    uint64_t print;
    size_t renaming;
    int count;
  };
  // The renamings that give the least print and different outputs.
  std::vector<size_t> Twins(const Extension& e, const Images& images,
                            const Outputs& o, uint32_t mask,
                            const Least& least) const;
  bool GivesPrefix(const Images& images, size_t r, uint32_t depends) const;
  Least FindLeast(const Images& images, const Outputs& o, uint32_t mask) const;

  const Enumerator& all_;
  GraphId graph_ = 0;
  int steps_ = 0;
  std::array<TermId, kMaxSteps> terms_ = {};
  TermSet set_ = kNoTerms;
  uint32_t leaves_ = 0;
  uint32_t sinks_ = 0;  // steps that no other consumes, as a mask
  std::array<int, kMaxSteps> component_ = {};
  int components_ = 0;
  std::vector<TensorId> tensors_;  // of all steps
  uint32_t consumed_ = 0;          // of tensors_
  std::vector<Images> images_;
  size_t num_images_ = 0;
  std::vector<std::array<uint64_t, 4>> fresh_prints_;
  std::vector<std::array<uint64_t, 2 * kMaxSteps>> prints_;
  std::vector<std::pair<TermId, std::vector<Field>>> computed_;
  size_t num_computed_ = 0;
  std::vector<std::vector<Partner>> partners_;
  std::vector<bool> has_partners_;
  absl::flat_hash_map<std::array<int32_t, 5>, const Instance*> instances_;
  std::vector<Field> buffer_;
  struct Spare {
    TermId term;
    int leaf;
    std::vector<Field> values;
  };
  std::vector<Spare> spare_;  // of the graph visited
  Outputs outputs_;           // of the extension prepared
  const Images* prepared_ = nullptr;
};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_WORKER_H_

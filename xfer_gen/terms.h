// Every step that graphs are made of, each once: a template applied to leaves
// or to outputs of other steps.
//
// Terms that differ in the names of their variables are an orbit, and an orbit
// is stored whole, its members in lexicographic order of the names. So the
// number of a term orders it by size, orbit and names, and a renaming maps
// numbers to numbers by looking into the orbit's row.
#ifndef ISOMER_XFER_GEN_TERMS_H_
#define ISOMER_XFER_GEN_TERMS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "xfer_gen/grow_array.h"
#include "xfer_gen/symmetry.h"

namespace isomer::gen {

inline constexpr int kMaxSteps = 6;     // of a graph
inline constexpr int kMaxOperands = 4;  // of a term
inline constexpr int kMaxOutputs = 4;   // of a term

using TermId = uint32_t;
// Leaves come first, then the outputs of terms.
using TensorId = uint32_t;

inline constexpr uint32_t kNone = ~0u;

// The terms below a term, or of a graph: ascending, filled up with kNone.
using TermSet = std::array<TermId, kMaxSteps - 1>;

struct Term {
  uint16_t tmpl = 0;
  uint8_t size = 0;  // steps that the term needs, itself included
  uint8_t arity = 0;
  uint8_t outputs = 0;
  uint32_t leaves = 0;  // those it names, as a mask
  TensorId first = 0;   // its first output
  uint32_t orbit = 0;
  std::array<TensorId, kMaxOperands> operands = {};
  TermSet below = {};    // the steps it needs, without itself
  Renaming naming = {};  // makes it from the first member of its orbit
};

class Terms {
 public:
  explicit Terms(const Symmetry& symmetry);

  const Symmetry& symmetry() const { return symmetry_; }
  const Term& term(TermId t) const { return terms_[t]; }
  TermId size() const { return static_cast<TermId>(terms_.size()); }
  uint32_t num_tensors() const {
    return static_cast<uint32_t>(term_of_.size());
  }
  bool IsLeaf(TensorId t) const {
    return t < static_cast<uint32_t>(symmetry_.num_leaves());
  }
  TermId term_of(TensorId t) const { return term_of_[t]; }
  int output_of(TensorId t) const {
    return static_cast<int>(t - terms_[term_of_[t]].first);
  }
  uint32_t leaves_of(TensorId t) const {
    return IsLeaf(t) ? 1u << t : terms_[term_of_[t]].leaves;
  }

  // The term, or kNone. Operands of commutative templates must be ascending.
  TermId Find(int tmpl, absl::Span<const TensorId> operands) const;

  // Adds the orbit of a new term, all of whose operands are there, and returns
  // its first new term; the members have consecutive numbers. The term names
  // the first variables of each class.
  TermId AddOrbit(int tmpl, bool commutative, int outputs,
                  absl::Span<const TensorId> operands);

  TermId Act(const Renaming& r, TermId t) const {
    const Term& term = terms_[t];
    const Orbit& o = orbits_[term.orbit];
    uint32_t at = o.row;
    for (int i = 0; i < o.num_classes; ++i) {
      const int c = o.classes[i];
      at += o.strides[i] *
            symmetry_.Arrangement(c, o.used[i],
                                  symmetry_.Multiply(c, r[c], term.naming[c]));
    }
    return rows_[at];
  }
  TensorId ActTensor(const Renaming& r, TensorId t) const {
    if (IsLeaf(t)) return symmetry_.Act(r, static_cast<int>(t));
    const TermId image = Act(r, term_of_[t]);
    return terms_[image].first + (t - terms_[term_of_[t]].first);
  }

  // The first member of the term's orbit.
  TermId First(TermId t) const { return rows_[orbits_[terms_[t].orbit].row]; }

  // All members of the term's orbit; some may stand there more than once.
  absl::Span<const TermId> OrbitOf(TermId t) const {
    const Orbit& o = orbits_[terms_[t].orbit];
    const size_t end = &o == &orbits_.back() ? rows_.size() : (&o + 1)->row;
    return {rows_.begin() + o.row, end - o.row};
  }

  // Called when no more terms are found or added: gives up what that needs.
  void Finish() { table_ = {}; }
  // Gives up all terms.
  void Clear();

  // The terms that are made of leaves and of these terms, each of which they
  // need; ascending.
  absl::Span<const TermId> Over(const TermSet& below) const;

 private:
  struct Orbit {
    uint32_t row = 0;
    int8_t num_classes = 0;
    std::array<uint8_t, kMaxClasses> classes = {}, used = {};
    std::array<uint16_t, kMaxClasses> strides = {};
  };

  TermId Insert(int tmpl, int outputs, absl::Span<const TensorId> operands);
  void Grow();
  uint64_t HashOf(int tmpl, absl::Span<const TensorId> operands) const;

  const Symmetry& symmetry_;
  GrowArray<Term> terms_;
  GrowArray<TermId> term_of_;
  std::vector<Orbit> orbits_;
  GrowArray<TermId> rows_;
  std::vector<TermId> table_;  // by hash of template and operands
  absl::flat_hash_map<TermSet, std::vector<TermId>> over_;
};

// The union of two sets; at most kMaxSteps - 1 terms.
TermSet Union(const TermSet& a, const TermSet& b);
TermSet Union(const TermSet& a, TermId t);
inline constexpr TermSet kNoTerms = {kNone, kNone, kNone, kNone, kNone};

}  // namespace isomer::gen

#endif  // ISOMER_XFER_GEN_TERMS_H_

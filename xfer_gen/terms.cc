// A plain hash table finds terms; rows hold the members of orbits.
#include "xfer_gen/terms.h"

#include <algorithm>

#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::gen {

TermSet Union(const TermSet& a, const TermSet& b) {
  TermSet out = kNoTerms;
  size_t i = 0, j = 0;
  for (TermId& t : out) {
    const TermId x = i < a.size() ? a[i] : kNone;
    const TermId y = j < b.size() ? b[j] : kNone;
    t = std::min(x, y);
    i += x == t;
    j += y == t;
  }
  return out;
}

TermSet Union(const TermSet& a, TermId t) {
  TermSet one = kNoTerms;
  one[0] = t;
  return Union(a, one);
}

Terms::Terms(const Symmetry& symmetry) : symmetry_(symmetry) {
  for (int i = 0; i < symmetry.num_leaves(); ++i) term_of_.push_back(kNone);
  table_.assign(1 << 10, kNone);
}

void Terms::Clear() {
  terms_.clear();
  term_of_.clear();
  orbits_ = {};
  rows_.clear();
  table_ = {};
  over_ = {};
}

uint64_t Terms::HashOf(int tmpl, absl::Span<const TensorId> operands) const {
  uint64_t h = ir::HashMix(static_cast<uint64_t>(tmpl) + 1);
  for (TensorId t : operands) h = ir::HashMix(h ^ t) + h;
  return h;
}

TermId Terms::Find(int tmpl, absl::Span<const TensorId> operands) const {
  const size_t mask = table_.size() - 1;
  for (size_t at = HashOf(tmpl, operands) & mask;; at = (at + 1) & mask) {
    const TermId t = table_[at];
    if (t == kNone) return kNone;
    const Term& term = terms_[t];
    if (term.tmpl == tmpl && term.arity == operands.size() &&
        std::equal(operands.begin(), operands.end(), term.operands.begin())) {
      return t;
    }
  }
}

void Terms::Grow() {
  const size_t size_before = table_.size();
  table_ = {};  // not held twice
  table_.assign(size_before * 2, kNone);
  const size_t mask = table_.size() - 1;
  for (TermId t = 0; t < size(); ++t) {
    const Term& term = terms_[t];
    size_t at = HashOf(term.tmpl, {term.operands.data(), term.arity}) & mask;
    while (table_[at] != kNone) at = (at + 1) & mask;
    table_[at] = t;
  }
}

TermId Terms::Insert(int tmpl, int outputs,
                     absl::Span<const TensorId> operands) {
  Term term;
  term.tmpl = static_cast<uint16_t>(tmpl);
  term.arity = static_cast<uint8_t>(operands.size());
  term.outputs = static_cast<uint8_t>(outputs);
  term.first = num_tensors();
  term.below = kNoTerms;
  std::copy(operands.begin(), operands.end(), term.operands.begin());
  for (TensorId t : operands) {
    term.leaves |= leaves_of(t);
    if (IsLeaf(t)) continue;
    term.below = Union(term.below, terms_[term_of_[t]].below);
    term.below = Union(term.below, term_of_[t]);
  }
  term.size = 1;
  for (TermId t : term.below) term.size += t != kNone;
  const TermId id = size();
  for (int k = 0; k < outputs; ++k) term_of_.push_back(id);
  terms_.push_back(term);
  if (terms_.size() * 2 > table_.size()) {
    Grow();
  } else {
    const size_t mask = table_.size() - 1;
    size_t at = HashOf(tmpl, operands) & mask;
    while (table_[at] != kNone) at = (at + 1) & mask;
    table_[at] = id;
  }
  return id;
}

TermId Terms::AddOrbit(int tmpl, bool commutative, int outputs,
                       absl::Span<const TensorId> operands) {
  uint32_t leaves = 0;
  for (TensorId t : operands) leaves |= leaves_of(t);
  Orbit o;
  o.row = static_cast<uint32_t>(rows_.size());
  uint32_t members = 1;
  // The last class changes fastest.
  for (int c = symmetry_.num_classes() - 1; c >= 0; --c) {
    const int used = symmetry_.Used(leaves, c);
    if (used == 0) continue;
    const int i = o.num_classes++;
    o.classes[i] = static_cast<uint8_t>(c);
    o.used[i] = static_cast<uint8_t>(used);
    o.strides[i] = static_cast<uint16_t>(members);
    members *= symmetry_.NumArrangements(c, used);
  }
  const auto orbit = static_cast<uint32_t>(orbits_.size());
  orbits_.push_back(o);
  const TermId first = size();
  for (uint32_t m = 0; m < members; ++m) {
    Renaming r{};
    for (int i = 0; i < o.num_classes; ++i) {
      const int c = o.classes[i];
      const uint32_t a =
          m / o.strides[i] % symmetry_.NumArrangements(c, o.used[i]);
      r[c] = symmetry_.FromArrangement(c, o.used[i], static_cast<int>(a));
    }
    std::array<TensorId, kMaxOperands> image{};
    for (size_t k = 0; k < operands.size(); ++k) {
      image[k] = ActTensor(r, operands[k]);
    }
    if (commutative && image[1] < image[0]) std::swap(image[0], image[1]);
    const absl::Span<const TensorId> span(image.data(), operands.size());
    TermId t = Find(tmpl, span);
    if (t == kNone) {
      t = Insert(tmpl, outputs, span);
      terms_[t].orbit = orbit;
      terms_[t].naming = r;
      over_[terms_[t].below].push_back(t);
    }
    rows_.push_back(t);
  }
  return first;
}

absl::Span<const TermId> Terms::Over(const TermSet& below) const {
  const auto it = over_.find(below);
  if (it == over_.end()) return {};
  return it->second;
}

}  // namespace isomer::gen

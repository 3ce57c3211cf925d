// Codes are visited in order, so that the extensions of a graph are gone
// through once for all members that stem from it.
#include "xfer_gen/hits.h"

#include <algorithm>

#include "xfer_gen/worker.h"

namespace isomer::gen {

namespace {

struct Coded {
  uint64_t code;
  uint32_t cls;
};

std::vector<Coded> SortTable(Enumerator& all, int64_t& classes) {
  std::vector<Coded> met;
  uint32_t cls = 0;
  for (int part = 0; part < Table::kParts; ++part) {
    std::vector<Entry> entries;
    int64_t size = 0;
    for (const auto& table : all.tables()) size += table->PartSize(part);
    entries.reserve(size);
    for (const auto& table : all.tables()) table->Take(part, entries);
    std::sort(entries.begin(), entries.end());
    for (size_t i = 0, j = 0; i < entries.size(); i = j) {
      while (j < entries.size() &&
             entries[j].fingerprint == entries[i].fingerprint) {
        ++j;
      }
      ++classes;
      if (j - i < 2) continue;
      for (size_t k = i; k < j; ++k) met.push_back({entries[k].code, cls});
      ++cls;
    }
  }
  std::sort(met.begin(), met.end(),
            [](const Coded& a, const Coded& b) { return a.code < b.code; });
  return met;
}

class Rebuilder {
 public:
  Rebuilder(Enumerator& all, Hits& hits)
      : all_(all), worker_(all), hits_(hits) {}

  void Run(absl::Span<const Coded> met) {
    for (size_t i = 0, j = 0; i < met.size(); i = j) {
      const GraphId parent = Code64::Parent(met[i].code);
      while (j < met.size() && Code64::Parent(met[j].code) == parent) ++j;
      if (parent == kNone) {
        for (size_t k = i; k < j; ++k) {
          AddMember(met[k].cls, 0, {Code64::Ordinal(met[k].code)});
        }
        continue;
      }
      Extend(parent, met.subspan(i, j - i));
    }
  }

 private:
  void Extend(GraphId parent, absl::Span<const Coded> met) {
    worker_.Visit(parent);
    const bool last = all_.IsLastParent(parent);
    uint32_t ordinal = 0;
    size_t at = 0;
    worker_.ForEachExtension(last, [&](const Extension& e) {
      if (!all_.Keeps(worker_, e)) return;
      if (at < met.size() && Code64::Ordinal(met[at].code) == ordinal) {
        worker_.Prepare(e);
      }
      for (; at < met.size() && Code64::Ordinal(met[at].code) == ordinal;
           ++at) {
        const Worker::Renamed r = worker_.Rename(e, Code64::Mask(met[at].code),
                                                 Code64::Twin(met[at].code));
        std::vector<TensorId> outputs;
        for (TensorId t : r.outputs) {
          outputs.push_back(t > kNone - kMaxOperands ? Fresh(r.fresh, kNone - t)
                                                     : Import(t));
        }
        AddMember(met[at].cls, worker_.steps() + 1, outputs);
      }
      ++ordinal;
    });
  }

  TensorId Fresh(const NewStep& step, uint32_t k) {
    std::array<TensorId, kMaxOperands> operands = {};
    for (int i = 0; i < step.arity; ++i) operands[i] = Import(step.operands[i]);
    return hits_.dag.Add(step.tmpl,
                         {operands.data(), static_cast<size_t>(step.arity)},
                         static_cast<int>(step.instance->outputs.size())) +
           k;
  }

  TensorId Import(TensorId t) {
    const Terms& terms = all_.terms();
    if (terms.IsLeaf(t)) return t;
    const TermId id = terms.term_of(t);
    if (imported_.size() < terms.size()) imported_.resize(terms.size(), kNone);
    const Term& term = terms.term(id);
    if (imported_[id] == kNone) {
      std::array<TensorId, kMaxOperands> operands = {};
      for (int i = 0; i < term.arity; ++i) {
        operands[i] = Import(term.operands[i]);
      }
      imported_[id] =
          hits_.dag.Add(term.tmpl, {operands.data(), term.arity}, term.outputs);
    }
    return imported_[id] + (t - term.first);
  }

  void AddMember(uint32_t cls, int steps,
                 const std::vector<TensorId>& outputs) {
    hits_.members.push_back({cls, static_cast<uint32_t>(steps),
                             static_cast<uint32_t>(hits_.outputs.size()),
                             static_cast<uint32_t>(outputs.size())});
    hits_.outputs.insert(hits_.outputs.end(), outputs.begin(), outputs.end());
  }

  Enumerator& all_;
  Worker worker_;
  Hits& hits_;
  std::vector<TensorId> imported_;
};

}  // namespace

Hits FindHits(Enumerator& all) {
  Hits hits(all.terms().symmetry().num_leaves());
  const std::vector<Coded> met = SortTable(all, hits.classes);
  Rebuilder(all, hits).Run(met);
  std::stable_sort(hits.members.begin(), hits.members.end(),
                   [](const Member& a, const Member& b) {
                     return a.cls != b.cls ? a.cls < b.cls : a.steps < b.steps;
                   });
  return hits;
}

}  // namespace isomer::gen

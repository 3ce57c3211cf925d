// Codes are visited in order, so that the extensions of a graph are gone
// through once for all members that stem from it. Threads find the members;
// they are numbered one after the other.
#include "xfer_gen/hits.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "xfer_gen/worker.h"

namespace isomer::gen {

namespace {

struct Coded {
  uint64_t code;
  uint32_t cls;
};

// Runs `work()` on as many threads as the enumeration has.
template <class F>
void OnThreads(const Enumerator& all, const F& work) {
  std::vector<std::thread> pool;
  for (int t = 1; t < all.options().threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
}

// The codes of a part of the table whose fingerprints met, numbered by class
// from 0. Returns how many fingerprints differ.
int64_t SortPart(Enumerator& all, int part, std::vector<Coded>& met) {
  std::vector<Entry> entries;
  int64_t size = 0, classes = 0;
  for (const auto& table : all.tables()) size += table->PartSize(part);
  entries.reserve(size);
  for (const auto& table : all.tables()) table->Take(part, entries);
  std::sort(entries.begin(), entries.end());
  uint32_t cls = 0;
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
  return classes;
}

std::vector<Coded> SortTable(Enumerator& all, int64_t& classes) {
  std::vector<std::vector<Coded>> parts(Table::kParts);
  std::atomic<int> next{0};
  std::atomic<int64_t> count{0};
  OnThreads(all, [&] {
    for (int part = next++; part < Table::kParts; part = next++) {
      count += SortPart(all, part, parts[part]);
    }
  });
  classes = count;
  size_t size = 0;
  for (const auto& part : parts) size += part.size();
  std::vector<Coded> met;
  met.reserve(size);
  uint32_t first = 0;
  for (auto& part : parts) {
    for (const Coded& c : part) met.push_back({c.code, first + c.cls});
    if (!part.empty()) first += part.back().cls + 1;
    std::vector<Coded>().swap(part);
  }
  std::sort(met.begin(), met.end(),
            [](const Coded& a, const Coded& b) { return a.code < b.code; });
  return met;
}

// A member as the enumeration names its tensors.
struct Rebuilt {
  uint32_t cls;
  int steps;
  Worker::Renamed renamed;
};

// Finds the members of the codes that stem from one graph.
void Extend(const Enumerator& all, Worker& worker, absl::Span<const Coded> met,
            std::vector<Rebuilt>& out) {
  const GraphId parent = Code64::Parent(met[0].code);
  if (parent == kNone) {
    for (const Coded& c : met) {
      out.push_back({c.cls, 0, {{Code64::Ordinal(c.code)}, {}}});
    }
    return;
  }
  worker.Visit(parent);
  uint32_t ordinal = 0;
  size_t at = 0;
  worker.ForEachExtension(all.IsLastParent(parent), [&](const Extension& e) {
    if (at == met.size() || !all.Keeps(worker, e)) return;
    if (Code64::Ordinal(met[at].code) == ordinal) worker.Prepare(e);
    for (; at < met.size() && Code64::Ordinal(met[at].code) == ordinal; ++at) {
      out.push_back({met[at].cls, worker.steps() + 1,
                     worker.Rename(e, Code64::Mask(met[at].code),
                                   Code64::Twin(met[at].code))});
    }
    ++ordinal;
  });
}

// Writes members into the dag, one after the other.
class Importer {
 public:
  Importer(const Terms& terms, Hits& hits) : terms_(terms), hits_(hits) {}

  void Add(const Rebuilt& member) {
    const auto first = static_cast<uint32_t>(hits_.outputs.size());
    for (TensorId t : member.renamed.outputs) {
      hits_.outputs.push_back(t > kNone - kMaxOperands
                                  ? Fresh(member.renamed.fresh, kNone - t)
                                  : Import(t));
    }
    hits_.members.push_back(
        {member.cls, static_cast<uint32_t>(member.steps), first,
         static_cast<uint32_t>(member.renamed.outputs.size())});
  }

 private:
  TensorId Fresh(const NewStep& step, uint32_t k) {
    std::array<TensorId, kMaxOperands> operands = {};
    for (int i = 0; i < step.arity; ++i) operands[i] = Import(step.operands[i]);
    return hits_.dag.Add(step.tmpl,
                         {operands.data(), static_cast<size_t>(step.arity)},
                         static_cast<int>(step.instance->outputs.size())) +
           k;
  }

  TensorId Import(TensorId t) {
    if (terms_.IsLeaf(t)) return t;
    const TermId id = terms_.term_of(t);
    if (imported_.size() < terms_.size()) {
      imported_.resize(terms_.size(), kNone);
    }
    const Term& term = terms_.term(id);
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

  const Terms& terms_;
  Hits& hits_;
  std::vector<TensorId> imported_;
};

// Rebuilds the members of all codes: stretches of them side by side, a round
// of stretches at a time, so that little is held beside the result.
class Rebuilder {
 public:
  Rebuilder(Enumerator& all, absl::Span<const Coded> met)
      : all_(all), met_(met) {
    for (int t = 0; t < all.options().threads; ++t) {
      workers_.push_back(std::make_unique<Worker>(all));
    }
  }

  void Run(Hits& hits) {
    Importer importer(all_.terms(), hits);
    hits.members.reserve(met_.size());
    size_t at = 0;
    while (at < met_.size()) {
      std::vector<absl::Span<const Coded>> stretches;
      for (size_t i = 0; i < 8 * workers_.size() && at < met_.size(); ++i) {
        stretches.push_back(Stretch(at));
      }
      for (const auto& members : Round(stretches)) {
        for (const Rebuilt& m : members) importer.Add(m);
      }
    }
  }

 private:
  static GraphId ParentOf(const Coded& c) { return Code64::Parent(c.code); }

  // The codes from `at` on, up to where a graph ends.
  absl::Span<const Coded> Stretch(size_t& at) const {
    constexpr size_t kStretch = 4096;
    const size_t from = at;
    at = std::min(at + kStretch, met_.size());
    while (at < met_.size() && ParentOf(met_[at]) == ParentOf(met_[at - 1])) {
      ++at;
    }
    return met_.subspan(from, at - from);
  }

  std::vector<std::vector<Rebuilt>> Round(
      const std::vector<absl::Span<const Coded>>& stretches) {
    std::vector<std::vector<Rebuilt>> out(stretches.size());
    std::atomic<size_t> next{0}, thread{0};
    OnThreads(all_, [&] {
      Worker& worker = *workers_[thread++];
      for (size_t s = next++; s < stretches.size(); s = next++) {
        const absl::Span<const Coded> met = stretches[s];
        for (size_t i = 0, j = 0; i < met.size(); i = j) {
          while (j < met.size() && ParentOf(met[j]) == ParentOf(met[i])) ++j;
          Extend(all_, worker, met.subspan(i, j - i), out[s]);
        }
      }
    });
    return out;
  }

  Enumerator& all_;
  absl::Span<const Coded> met_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

Hits FindHits(Enumerator& all) {
  Hits hits(all.terms().symmetry().num_leaves());
  const std::vector<Coded> met = SortTable(all, hits.classes);
  Rebuilder(all, met).Run(hits);
  std::stable_sort(hits.members.begin(), hits.members.end(),
                   [](const Member& a, const Member& b) {
                     return a.cls != b.cls ? a.cls < b.cls : a.steps < b.steps;
                   });
  return hits;
}

}  // namespace isomer::gen

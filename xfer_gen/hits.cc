// Codes are visited in order, so that the extensions of a graph are gone
// through once for all members that stem from it. Threads find the members;
// they are numbered one after the other.
#include "xfer_gen/hits.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "xfer_gen/in_parallel.h"
#include "xfer_gen/worker.h"

namespace isomer::gen {

namespace {

// True if one of the outputs is surely made alike.
bool MadeAlike(const Makings& a, const Makings& b) {
  if (a[0] == 0 || b[0] == 0) return false;
  for (size_t k = 0; k < a.size() && a[k] != 0; ++k) {
    if (a[k] == b[k]) return true;
  }
  return false;
}

// Which of the entries of one fingerprint may be part of something new: there
// is another one no output of which is made alike. If there is any, the first
// two stay as well, with which the others are compared.
void FindNews(absl::Span<const Entry> entries, std::vector<bool>& news) {
  constexpr size_t kMost = 64;  // of which all pairs are looked at
  news.assign(entries.size(), entries.size() > kMost);
  if (entries.size() > kMost) return;
  bool any = false;
  for (size_t i = 0; i < entries.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (MadeAlike(entries[i].makings, entries[j].makings)) continue;
      news[i] = news[j] = any = true;
    }
  }
  if (any) news[0] = news[1] = true;
}

// What met in a part of the tables; classes are numbered from 0.
Met SortPart(Enumerator& all, int part) {
  std::vector<Entry> entries;
  int64_t size = 0;
  for (const auto& table : all.tables()) size += table->PartSize(part);
  entries.reserve(size);
  for (const auto& table : all.tables()) table->Take(part, entries);
  std::sort(entries.begin(), entries.end());
  Met met;
  std::vector<bool> news;
  for (size_t i = 0, j = 0; i < entries.size(); i = j) {
    while (j < entries.size() &&
           entries[j].fingerprint == entries[i].fingerprint) {
      ++j;
    }
    ++met.classes;
    if (j - i < 2) continue;
    FindNews(absl::MakeConstSpan(entries).subspan(i, j - i), news);
    if (!news[0]) continue;
    const auto cls = static_cast<uint32_t>(met.fingerprints.size());
    for (size_t k = i; k < j; ++k) {
      if (news[k - i]) met.codes.push_back({entries[k].code, cls});
    }
    met.fingerprints.push_back(entries[i].fingerprint);
  }
  return met;
}

// Sorts codes, no two of which are equal: stretches of them side by side, which
// are then merged.
void SortCodes(const Enumerator& all, absl::Span<Coded> codes) {
  auto less = [](const Coded& a, const Coded& b) { return a.code < b.code; };
  const size_t stretches = all.options().threads;
  auto start = [&](size_t s) {
    return codes.begin() + static_cast<int64_t>(codes.size() * s / stretches);
  };
  std::atomic<size_t> next{0};
  all.OnThreads([&](int) {
    for (size_t s = next++; s < stretches; s = next++) {
      std::sort(start(s), start(s + 1), less);
    }
  });
  for (size_t s = 1; s < stretches; ++s) {
    std::inplace_merge(codes.begin(), start(s), start(s + 1), less);
  }
}

// A member as the enumeration names its tensors.
struct Rebuilt {
  uint32_t cls;
  int steps;
  uint64_t code;
  Worker::Renamed renamed;
};

// Finds the members of the codes that stem from one graph.
class Extender {
 public:
  Extender(const Enumerator& all, Worker& worker, std::vector<Rebuilt>& out)
      : all_(all), worker_(worker), out_(out) {}

  void Run(absl::Span<const Coded> met) {
    const GraphId parent = Code64::Parent(met[0].code);
    if (parent == Code64::kLeaves) {
      for (const Coded& c : met) {
        out_.push_back({c.cls, 0, c.code, {{Code64::Ordinal(c.code)}, {}}});
      }
      return;
    }
    met_ = met;
    at_ = 0;
    worker_.Visit(parent);
    const bool last = all_.IsLastParent(parent);
    while (Next() < Code64::kFirstFresh) {
      const uint32_t ordinal = Next();
      Add({last ? worker_.NumberedAt(ordinal) : all_.Child(parent, ordinal),
           nullptr},
          ordinal);
    }
    if (at_ == met_.size()) return;
    uint32_t ordinal = Code64::kFirstFresh;
    all_.ForEachFresh(parent, [&](FreshSteps::Step step) {
      if (Next() == ordinal) {
        const NewStep fresh = worker_.StepOf(step);
        Add({kNone, &fresh}, ordinal);
      }
      ++ordinal;
    });
  }

 private:
  // The ordinal of the next code, or kNone.
  uint32_t Next() const {
    return at_ < met_.size() ? Code64::Ordinal(met_[at_].code) : kNone;
  }

  // Adds the members that the next codes stand for, all of one extension.
  void Add(const Extension& e, uint32_t ordinal) {
    const uint32_t mask = Code64::Mask(met_[at_].code);
    worker_.Prepare(e, /*all=*/(mask & (mask - 1)) != 0);
    for (; Next() == ordinal; ++at_) {
      const uint64_t code = met_[at_].code;
      out_.push_back(
          {met_[at_].cls, worker_.steps() + 1, code,
           worker_.Rename(e, Code64::Mask(code), Code64::Twin(code))});
    }
  }

  const Enumerator& all_;
  Worker& worker_;
  std::vector<Rebuilt>& out_;
  absl::Span<const Coded> met_;
  size_t at_ = 0;
};

// Writes members into the dag, one after the other.
class Importer {
 public:
  Importer(const Terms& terms, Hits& hits) : terms_(terms), hits_(hits) {}

  void Add(const Rebuilt& member) {
    const auto first = static_cast<uint32_t>(hits_.outputs.size());
    for (TensorId t : member.renamed.outputs) {
      hits_.outputs.push_back(t > kNone - kMaxOutputs
                                  ? Fresh(member.renamed.fresh, kNone - t)
                                  : Import(t));
    }
    hits_.members.push_back(
        {member.cls, static_cast<uint32_t>(member.steps), first,
         static_cast<uint32_t>(member.renamed.outputs.size()), member.code});
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

// Rebuilds the members of all codes: stretches of them side by side, while
// those before are numbered, so that little is held beside the result.
class Rebuilder {
 public:
  Rebuilder(Enumerator& all, absl::Span<const Coded> met) : all_(all) {
    for (size_t at = 0; at < met.size();) {
      stretches_.push_back(Stretch(met, at));
    }
  }

  // False if it was stopped.
  bool Run(Hits& hits, const MayGoOn& go_on) {
    constexpr size_t kAhead = 16;
    std::atomic<bool> stopped{false};
    Importer importer(all_.terms(), hits);
    std::vector<std::vector<Rebuilt>> made(stretches_.size());
    MakeAndTake(
        all_.options().threads, made.size(), kAhead,
        [&](int thread, size_t s) {
          if (!stopped && !go_on()) stopped = true;
          if (stopped) return;
          Rebuild(all_.worker(thread), stretches_[s], made[s]);
        },
        [&](size_t s) {
          for (const Rebuilt& m : made[s]) importer.Add(m);
          made[s] = {};
        });
    return !stopped;
  }

 private:
  static GraphId ParentOf(const Coded& c) { return Code64::Parent(c.code); }

  // The codes from `at` on, up to where a graph ends.
  static absl::Span<const Coded> Stretch(absl::Span<const Coded> met,
                                         size_t& at) {
    constexpr size_t kStretch = 512;
    const size_t from = at;
    at = std::min(at + kStretch, met.size());
    while (at < met.size() && ParentOf(met[at]) == ParentOf(met[at - 1])) ++at;
    return met.subspan(from, at - from);
  }

  void Rebuild(Worker& worker, absl::Span<const Coded> met,
               std::vector<Rebuilt>& out) const {
    Extender extender(all_, worker, out);
    for (size_t i = 0, j = 0; i < met.size(); i = j) {
      while (j < met.size() && ParentOf(met[j]) == ParentOf(met[i])) ++j;
      extender.Run(met.subspan(i, j - i));
    }
  }

  Enumerator& all_;
  std::vector<absl::Span<const Coded>> stretches_;
};

// Sorts members, which come by code, by class and steps.
void SortMembers(absl::Span<Member> members) {
  if (members.empty()) return;
  auto by_class = [](const Member& a, const Member& b) {
    return a.cls < b.cls;
  };
  const auto [least, greatest] =
      std::minmax_element(members.begin(), members.end(), by_class);
  const uint32_t first = least->cls;
  std::vector<size_t> starts(greatest->cls - first + 2);
  for (const Member& m : members) ++starts[m.cls - first + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Member> sorted(members.size());
  for (const Member& m : members) sorted[starts[m.cls - first]++] = m;
  std::copy(sorted.begin(), sorted.end(), members.begin());
  for (size_t i = 0, j = 0; i < members.size(); i = j) {
    while (j < members.size() && members[j].cls == members[i].cls) ++j;
    std::sort(members.begin() + i, members.begin() + j,
              [](const Member& a, const Member& b) {
                return std::tie(a.steps, a.code) < std::tie(b.steps, b.code);
              });
  }
}

}  // namespace

void Hits::Forget() {
  dag = Dag(dag.num_leaves());
  members = {};
  outputs = {};
}

Met SortTables(Enumerator& all, Hits& hits, const MayGoOn& go_on) {
  std::vector<Met> parts(kParts);
  std::atomic<int> next{0};
  all.OnThreads([&](int) {
    for (int part = next++; part < kParts; part = next++) {
      if (!go_on()) {
        for (const auto& table : all.tables()) table->Drop(part);
        continue;
      }
      parts[part] = SortPart(all, part);
    }
  });
  Met met;
  size_t size = 0;
  for (const Met& part : parts) size += part.codes.size();
  met.codes.reserve(size);
  for (Met& part : parts) {
    for (const Coded& c : part.codes) {
      met.codes.push_back({c.code, hits.met + c.cls});
    }
    hits.met += static_cast<uint32_t>(part.fingerprints.size());
    hits.classes += part.classes;
    met.fingerprints.insert(met.fingerprints.end(), part.fingerprints.begin(),
                            part.fingerprints.end());
    part = {};
  }
  return met;
}

bool AddHits(Enumerator& all, Met& met, size_t most, Hits& hits,
             const MayGoOn& go_on) {
  const size_t from = met.added;
  size_t to = met.codes.size();
  if (most < to - from) {
    to = from + most;
    // A class that does not end there comes next, unless it is the only one.
    size_t start = to;
    while (start > from && met.codes[start - 1].cls == met.codes[to].cls) {
      --start;
    }
    if (start > from) to = start;
    while (start == from && to < met.codes.size() &&
           met.codes[to].cls == met.codes[from].cls) {
      ++to;
    }
  }
  const auto codes = absl::MakeSpan(met.codes).subspan(from, to - from);
  SortCodes(all, codes);
  const size_t before = hits.members.size();
  hits.members.reserve(before + codes.size());
  const bool ended = Rebuilder(all, codes).Run(hits, go_on);
  SortMembers(absl::MakeSpan(hits.members).subspan(before));
  met.added = to;
  return ended;
}

}  // namespace isomer::gen

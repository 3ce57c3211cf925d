// Threads take stretches of classes; what several of them found is sorted out
// at the end.
#include "xfer_gen/pairs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <tuple>
#include <utility>

#include "graph/for_all.h"
#include "graph/hashing.h"

namespace isomer::gen {

namespace {

// Leaves out what another pair gives by giving its variables names; the first
// in the order of the members is kept.
std::vector<EqualPair> Distinct(std::deque<EqualPair> pairs,
                                CandidateStats& stats) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const EqualPair &p = pairs[i], &q = pairs[j];
    const PairCode &a = p.code, &b = q.code;
    return std::tie(a.skeleton, b.variables, q.elsewhere, a.places, p.place,
                    i) <
           std::tie(b.skeleton, a.variables, p.elsewhere, b.places, q.place, j);
  });
  std::vector<EqualPair> kept;
  kept.reserve(pairs.size());  // as it grew, it would be held twice
  size_t group = 0;
  for (size_t i : order) {
    EqualPair& p = pairs[i];
    if (group < kept.size() && kept[group].code.skeleton != p.code.skeleton) {
      group = kept.size();
    }
    const bool instance = std::any_of(
        kept.begin() + static_cast<int64_t>(group), kept.end(),
        [&](const EqualPair& k) {
          return IsInstance(p.code, k.code) && (k.elsewhere || !p.elsewhere);
        });
    stats.instances += instance;
    if (!instance) kept.push_back(std::move(p));
  }
  return kept;
}

void AddUp(const CandidateStats& from, CandidateStats& to) {
  to.classes += from.classes;
  to.confirmed += from.confirmed;
  to.false_positives += from.false_positives;
  to.pairs += from.pairs;
  to.implied += from.implied;
}

}  // namespace

PairFinder::PairFinder(Enumerator& all, Hits& hits, uint64_t seed,
                       int64_t most_bytes)
    : all_(all),
      hits_(hits),
      worlds_(all, ir::HashMix(seed + 0x5eed)),
      kept_(hits.dag.num_leaves()) {
  worlds_.Grow(hits.dag);
  for (int t = 0; t < all.options().threads; ++t) {
    comparers_.push_back(std::make_unique<PairComparer>(
        all.preset(), hits, worlds_, seen_, ir::HashMix(seed + 0x5eed),
        most_bytes / static_cast<int64_t>(worlds_.size())));
  }
}

// Side by side: there are many small pieces.
PairFinder::~PairFinder() {
  const auto worlds = static_cast<int64_t>(worlds_.size()) - 1;
  const auto comparers = static_cast<int>(comparers_.size());
  ForAll(
      worlds + comparers,
      [&](int64_t i) {
        if (i < worlds) {
          worlds_.Drop(i + 1);
        } else {
          comparers_[i - worlds].reset();
        }
      },
      comparers);
}

void PairFinder::OnThreads(const std::function<void(PairComparer&)>& work) {
  all_.OnThreads([&](int thread) { work(*comparers_[thread]); });
}

bool PairFinder::FindPrints(const MayGoOn& go_on) {
  constexpr uint32_t kStretch = 128;
  const Dag& dag = hits_.dag;
  worlds_.Grow(dag);
  std::atomic<uint32_t> next{steps_};
  std::atomic<bool> stopped{false};
  OnThreads([&](PairComparer& comparer) {
    for (uint32_t from = next.fetch_add(kStretch);
         from < dag.num_steps() && !stopped; from = next.fetch_add(kStretch)) {
      const uint32_t to = std::min(from + kStretch, dag.num_steps());
      for (uint32_t s = from; s < to; ++s) {
        comparer.PrintStep(s);
      }
      if (!go_on()) stopped = true;
    }
  });
  steps_ = dag.num_steps();
  return !stopped;
}

bool PairFinder::Compare(size_t first, const MayGoOn& go_on) {
  constexpr size_t kStretch = 256;
  const std::vector<Member>& members = hits_.members;
  if (!FindPrints(go_on)) return false;
  std::atomic<size_t> next{first};
  std::atomic<bool> stopped{false};
  OnThreads([&](PairComparer& comparer) {
    auto starts = [&](size_t i) {
      return i == 0 || members[i].cls != members[i - 1].cls;
    };
    for (size_t from = next.fetch_add(kStretch);
         from < members.size() && !stopped; from = next.fetch_add(kStretch)) {
      const size_t to = std::min(from + kStretch, members.size());
      size_t i = from;
      while (i < to && !starts(i)) ++i;
      while (i < to) {
        size_t j = i + 1;
        while (j < members.size() && !starts(j)) ++j;
        comparer.Class(i, j);
        i = j;
      }
      if (!go_on()) stopped = true;
    }
  });
  return !stopped;
}

void PairFinder::Keep() {
  // The first outputs of steps in the kept dag.
  std::vector<TensorId> firsts(hits_.dag.num_steps(), kNone);
  auto keep = [&](auto& self, TensorId t) -> TensorId {
    if (hits_.dag.IsLeaf(t)) return t;
    const uint32_t number = hits_.dag.step_of(t);
    const DagStep& step = hits_.dag.step(number);
    if (firsts[number] == kNone) {
      std::array<TensorId, kMaxOperands> operands = {};
      for (int k = 0; k < step.arity; ++k) {
        operands[k] = self(self, step.operands[k]);
      }
      firsts[number] = kept_.Add(
          step.tmpl, {operands.data(), static_cast<size_t>(step.arity)},
          step.outputs);
    }
    return firsts[number] + (t - step.first);
  };
  auto add = [&](size_t i, std::vector<uint64_t>& codes) {
    const uint32_t cls = hits_.members[i].cls;
    for (; i < hits_.members.size() && hits_.members[i].cls == cls; ++i) {
      codes.push_back(hits_.members[i].code);
    }
  };
  for (const auto& comparer : comparers_) {
    for (EqualPair& p : comparer->found) {
      for (SideOutputs* side : {&p.a, &p.b, &p.cuts}) {
        for (TensorId& t : *side) t = keep(keep, t);
      }
      pairs_.push_back(std::move(p));
    }
    for (size_t i : comparer->open) add(i, open_);
    for (size_t i : comparer->impure) add(i, impure_);
    comparer->found = {};
    comparer->open = comparer->impure = {};
  }
}

void PairFinder::Forget() {
  MarkTensors();
  forgotten_ += hits_.members.size();
  hits_.Forget();
  worlds_.Forget();
  worlds_.Grow(hits_.dag);
  for (const auto& comparer : comparers_) comparer->Forget(forgotten_);
  steps_ = 0;
}

void PairFinder::MarkTensors() {
  Keep();
  all_.MarkOpen(std::exchange(open_, {}));
  all_.MarkImpure(std::exchange(impure_, {}));
}

std::vector<EqualPair> PairFinder::Take(CandidateStats& stats) {
  Keep();
  for (const auto& comparer : comparers_) AddUp(comparer->stats, stats);
  return Distinct(std::move(pairs_), stats);
}

}  // namespace isomer::gen

// Threads take stretches of classes; what several of them found is sorted out
// at the end.
#include "xfer_gen/pairs.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "graph/hashing.h"

namespace isomer::gen {

namespace {

// Leaves out what another pair gives by giving its variables names; the first
// in the order of the members is kept.
std::vector<EqualPair> Distinct(std::vector<EqualPair> pairs,
                                CandidateStats& stats) {
  std::stable_sort(
      pairs.begin(), pairs.end(), [](const EqualPair& p, const EqualPair& q) {
        const PairCode &a = p.code, &b = q.code;
        return std::tie(a.skeleton, b.variables, q.elsewhere, a.places,
                        p.place) < std::tie(b.skeleton, a.variables,
                                            p.elsewhere, b.places, q.place);
      });
  std::vector<EqualPair> kept;
  size_t group = 0;
  for (EqualPair& p : pairs) {
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

PairFinder::PairFinder(Enumerator& all, const Hits& hits, uint64_t seed)
    : all_(all), hits_(hits), worlds_(all, ir::HashMix(seed + 0x5eed)) {
  worlds_.Grow(hits.dag);
  for (int t = 0; t < all.options().threads; ++t) {
    comparers_.push_back(std::make_unique<PairComparer>(
        all.preset(), hits, worlds_, ir::HashMix(seed + 0x5eed)));
  }
}

void PairFinder::OnThreads(const std::function<void(PairComparer&)>& work) {
  std::vector<std::thread> pool;
  for (size_t t = 1; t < comparers_.size(); ++t) {
    pool.emplace_back([&, t] { work(*comparers_[t]); });
  }
  work(*comparers_[0]);
  for (std::thread& t : pool) t.join();
}

void PairFinder::FindPrints() {
  constexpr uint32_t kStretch = 1024;
  const Dag& dag = hits_.dag;
  worlds_.Grow(dag);
  std::atomic<uint32_t> next{steps_};
  OnThreads([&](PairComparer& comparer) {
    for (uint32_t from = next.fetch_add(kStretch); from < dag.num_steps();
         from = next.fetch_add(kStretch)) {
      const uint32_t to = std::min(from + kStretch, dag.num_steps());
      for (uint32_t s = from; s < to; ++s) {
        comparer.PrintStep(s);
      }
    }
  });
  steps_ = dag.num_steps();
}

void PairFinder::Compare(size_t first, const std::function<bool()>& go_on) {
  constexpr size_t kStretch = 1024;
  const std::vector<Member>& members = hits_.members;
  FindPrints();
  std::atomic<size_t> next{first};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
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
      std::lock_guard lock(mutex);
      if (!go_on()) stopped = true;
    }
  });
}

void PairFinder::MarkTensors() {
  const std::vector<Member>& members = hits_.members;
  std::vector<uint64_t> open, impure;
  auto add = [&](size_t i, std::vector<uint64_t>& codes) {
    const uint32_t cls = members[i].cls;
    for (; i < members.size() && members[i].cls == cls; ++i) {
      codes.push_back(members[i].code);
    }
  };
  for (const auto& comparer : comparers_) {
    for (size_t i : comparer->open) add(i, open);
    for (size_t i : comparer->impure) add(i, impure);
  }
  all_.MarkOpen(std::move(open));
  all_.MarkImpure(std::move(impure));
}

std::vector<EqualPair> PairFinder::Take(CandidateStats& stats) {
  std::vector<EqualPair> found;
  for (const auto& comparer : comparers_) {
    std::move(comparer->found.begin(), comparer->found.end(),
              std::back_inserter(found));
    AddUp(comparer->stats, stats);
  }
  return Distinct(std::move(found), stats);
}

}  // namespace isomer::gen

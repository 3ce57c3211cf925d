// Members of a class are compared by the prints of their outputs in a world
// with fresh inputs; pairs are formed with the first members, the smallest.
// Threads take stretches of classes. Within a thread a pair that has been seen
// under other names is passed over early; the rest is sorted out at the end.
#include "xfer_gen/pairs.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

// Every member is paired with the first few of its class; with several outputs
// with fewer, since there are many more of them and little to be found.
constexpr size_t kPartners = 4, kWidePartners = 2;

bool Contains(const Dag::Steps& list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// One side of a pair.
struct Side {
  SideOutputs outputs;
  Dag::Steps cone;
};

}  // namespace

// The world of the enumeration, then those of the other sizes.
class PairFinder::Worlds {
 public:
  Worlds(Enumerator& all, uint64_t seed) : first_(all.world()) {
    for (size_t i = 1; i < all.preset().sizes.size(); ++i) {
      others_.push_back(std::make_unique<World>(
          all.preset(), static_cast<int>(i), seed, all.world().carried()));
    }
  }
  size_t size() const { return 1 + others_.size(); }
  World& operator[](size_t i) { return i == 0 ? first_ : *others_[i - 1]; }

 private:
  World& first_;
  std::vector<std::unique_ptr<World>> others_;
};

// What one thread does.
class PairFinder::Finder {
 public:
  // `prints` are those of the second world.
  Finder(const Preset& preset, const Hits& hits, Worlds& worlds,
         const std::vector<uint64_t>& prints, uint64_t seed)
      : preset_(preset),
        hits_(hits),
        dag_(hits.dag),
        prints_(prints),
        seed_(seed) {
    for (size_t i = 0; i < worlds.size(); ++i) {
      values_.emplace_back(dag_, worlds[i], ir::HashCombine(seed_, i));
      std::set<uint64_t>& prints = leaf_prints_.emplace_back();
      for (int leaf = 0; leaf < dag_.num_leaves(); ++leaf) {
        prints.insert(values_.back().Print(static_cast<TensorId>(leaf)));
      }
    }
    coder_.emplace(dag_, values_[0]);
  }

  // Compares the members [begin, end) of one class: at the second sizes where
  // all of them type there, else at the first, with fresh inputs.
  void Class(size_t begin, size_t end) {
    place_ = begin;
    size_t world = 1;
    if (!Keys(begin, end, world)) Keys(begin, end, world = 0);
    std::sort(keys_.begin(), keys_.end());
    for (size_t i = 0, j = 0; i < keys_.size(); i = j) {
      while (j < keys_.size() && keys_[j].first == keys_[i].first) ++j;
      if (j - i < 2) {
        ++stats.false_positives;
        continue;
      }
      ++stats.classes;
      stats.confirmed += static_cast<int64_t>(j - i) - 1;
      Group(absl::MakeConstSpan(keys_).subspan(i, j - i), world);
    }
    if (hits_.members[begin].count != 1) return;
    if (IsOpen(begin, end)) open.push_back(begin);
    if (keys_.front().first != keys_.back().first) impure.push_back(begin);
  }

  // Pairs every member with the first ones that have the fewest steps; what
  // two larger members are to each other follows.
  void Group(absl::Span<const std::pair<uint64_t, size_t>> members,
             size_t world) {
    const uint32_t least = hits_.members[members[0].second].steps;
    for (size_t j = 1; j < members.size(); ++j) {
      const Member& larger = hits_.members[members[j].second];
      const size_t most = larger.count == 1 ? kPartners : kWidePartners;
      for (size_t i = 0; i < std::min(j, most); ++i) {
        const Member& partner = hits_.members[members[i].second];
        if (partner.steps > least) break;
        Pair(larger, partner, world);
      }
    }
  }

  std::vector<EqualPair> found;
  CandidateStats stats;
  // Classes of open tensors, and those that fell apart, by their first members.
  std::vector<size_t> open, impure;

  // Finds the print of a leaf, and those of a step, in the second world.
  uint64_t PrintLeaf(TensorId leaf) { return values_[1].Print(leaf); }
  void PrintStep(uint32_t step, uint64_t* prints) {
    values_[1].PrintStep(step, prints);
  }

 private:
  uint64_t Print(size_t world, TensorId t) {
    return world == 1 ? prints_[t] : values_[world].Print(t);
  }

  // Whether a tensor types in a world.
  bool Types(size_t world, TensorId t) {
    return world == 1 ? prints_[t] != 0 : values_[world].Kind(t) >= 0;
  }

  // Whether the members of a class, single tensors, differ in their template or
  // their operands, in either of the two worlds in which members are compared.
  // Where members were left out the rest does not tell.
  bool IsOpen(size_t begin, size_t end) {
    bool differ = false, leaves = true;
    for (size_t i = begin; i < end; ++i) {
      const Member& m = hits_.members[i];
      differ = differ || Code64::Twin(m.code) == Code64::kMostTwins - 1 ||
               MakingOf(m) != MakingOf(hits_.members[begin]);
    }
    if (!differ) return false;
    // With another output, what equals a leaf is no news.
    for (size_t i = begin; i < end && leaves; ++i) {
      const TensorId t = hits_.OutputsOf(hits_.members[i])[0];
      // The prints of the second world are there.
      leaves = (values_.size() < 2 || Print(1, t) == 0 || EqualsLeaf(t, 1)) &&
               EqualsLeaf(t, 0);
    }
    return !leaves;
  }

  // The template, the output and the values of the operands, as one number.
  uint64_t MakingOf(const Member& m) {
    const TensorId t = hits_.OutputsOf(m)[0];
    if (dag_.IsLeaf(t)) return t;
    const DagStep& s = dag_.step(dag_.step_of(t));
    absl::InlinedVector<uint64_t, kMaxOperands> operands;
    for (TensorId operand : s.span()) {
      uint64_t print = Print(0, operand);
      if (values_.size() > 1) {
        print = ir::HashCombine(print, Print(1, operand));
      }
      operands.push_back(print);
    }
    if (preset_.templates[s.tmpl].commutative) {
      std::sort(operands.begin(), operands.end());
    }
    uint64_t h = ir::HashCombine(s.tmpl, t - s.first);
    for (uint64_t print : operands) h = ir::HashCombine(h, print);
    return h;
  }

  // The outputs of members, as one number each; false if one does not type.
  bool Keys(size_t begin, size_t end, size_t world) {
    keys_.clear();
    for (size_t i = begin; i < end; ++i) {
      uint64_t key = 0;
      for (TensorId t : hits_.OutputsOf(hits_.members[i])) {
        const uint64_t print = Print(world, t);
        if (print == 0) return false;
        key += ir::HashMix(print);
      }
      keys_.emplace_back(key, i);
    }
    return true;
  }

  // The outputs of b in the order of those of a that they equal.
  SideOutputs Matched(absl::Span<const TensorId> a,
                      absl::Span<const TensorId> b, size_t world) {
    SideOutputs out;
    for (TensorId t : a) {
      const uint64_t print = Print(world, t);
      for (TensorId u : b) {
        if (Print(world, u) == print) {
          out.push_back(u);
          break;
        }
      }
    }
    return out;
  }

  void Pair(const Member& larger, const Member& smaller, size_t world) {
    ++stats.pairs;
    Side a, b;
    const auto outputs = hits_.OutputsOf(larger);
    a.outputs.assign(outputs.begin(), outputs.end());
    b.outputs = Matched(a.outputs, hits_.OutputsOf(smaller), world);
    Check(b.outputs.size() == a.outputs.size(), "outputs that do not pair");
    if (IsImplied(a, b, world) || FallsApart(a, b)) {
      ++stats.implied;
      return;
    }
    EqualPair p;
    p.place = place_;
    p.code = coder_->Code(a.outputs, b.outputs, {});
    // Under other names it has been seen.
    const uint64_t nameless = coder_->NamelessKey();
    if (seen_nameless_.contains(nameless)) return;
    p.cuts = Cuts(a, b, p.code);
    const uint64_t key = KeyOf(p.code);
    if (!seen_elsewhere_.contains(key)) {
      const std::optional<bool> other = EqualElsewhere(a, b);
      if (other.has_value() && !*other) {
        ++stats.false_positives;
        return;
      }
      p.elsewhere = other.has_value();
      auto& seen = p.elsewhere ? seen_elsewhere_ : seen_here_;
      if (seen.insert(key).second) {
        p.a = a.outputs;
        p.b = b.outputs;
        found.push_back(std::move(p));
      }
      if (!other.has_value()) return;
    }
    seen_nameless_.insert(nameless);
  }

  // Whether both sides are equal at the other sizes; nothing if no assignment
  // types both.
  std::optional<bool> EqualElsewhere(const Side& a, const Side& b) {
    std::optional<bool> equal;
    for (size_t w = 1; w < values_.size(); ++w) {
      bool typed = true, same = true;
      for (size_t k = 0; k < a.outputs.size() && typed; ++k) {
        typed = Types(w, a.outputs[k]) && Types(w, b.outputs[k]);
      }
      for (size_t k = 0; k < a.outputs.size() && typed; ++k) {
        same = same && Print(w, a.outputs[k]) == Print(w, b.outputs[k]);
      }
      if (!typed) continue;
      if (!same) return false;
      equal = true;
    }
    return equal;
  }

  // True if the equality of one pair of outputs is no news.
  bool IsImplied(const Side& a, const Side& b, size_t world) {
    const size_t n = a.outputs.size();
    for (size_t k = 0; k < n; ++k) {
      if (a.outputs[k] == b.outputs[k]) return true;
      if (n > 1 && EqualsLeaf(a.outputs[k], world)) return true;
      if (SameOnEqual(a.outputs[k], b.outputs[k], world)) return true;
    }
    return false;
  }

  // True if the pair is several rules side by side.
  bool FallsApart(const Side& a, const Side& b) {
    const size_t n = a.outputs.size();
    if (n == 1) return false;
    // Outputs hang together that share a step on one of the sides.
    absl::InlinedVector<size_t, 2 * kMaxSteps> part(n);
    if (cones_a_.size() < n) {
      cones_a_.resize(n);
      cones_b_.resize(n);
    }
    for (size_t k = 0; k < n; ++k) {
      part[k] = k;
      cones_a_[k] = dag_.Cone({&a.outputs[k], 1});
      cones_b_[k] = dag_.Cone({&b.outputs[k], 1});
    }
    auto share = [](const auto& x, const auto& y) {
      return std::any_of(x.begin(), x.end(),
                         [&](uint32_t s) { return Contains(y, s); });
    };
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!share(cones_a_[i], cones_a_[j]) &&
            !share(cones_b_[i], cones_b_[j])) {
          continue;
        }
        const size_t from = part[i], to = part[j];
        for (size_t& p : part) p = p == from ? to : p;
      }
    }
    return std::any_of(part.begin(), part.end(),
                       [&](size_t p) { return p != part[0]; });
  }

  bool EqualsLeaf(TensorId t, size_t world) {
    return leaf_prints_[world].contains(Print(world, t));
  }

  // One template on operands that are equal, place by place.
  bool SameOnEqual(TensorId x, TensorId y, size_t world) {
    if (dag_.IsLeaf(x) || dag_.IsLeaf(y)) return false;
    const DagStep &s = dag_.step(dag_.step_of(x)),
                  &t = dag_.step(dag_.step_of(y));
    if (s.tmpl != t.tmpl || x - s.first != y - t.first) return false;
    auto equal = [&](int i, int j) {
      return Print(world, s.operands[i]) == Print(world, t.operands[j]);
    };
    bool same = true;
    for (int k = 0; k < s.arity; ++k) same = same && equal(k, k);
    if (same) return true;
    return preset_.templates[s.tmpl].commutative && equal(0, 1) && equal(1, 0);
  }

  // Tensors of shared steps that both sides use from outside of what they
  // share, and the code with variables in their place; none if the rule is
  // false then.
  SideOutputs Cuts(Side& a, Side& b, PairCode& code) {
    a.cone = dag_.Cone(a.outputs);
    b.cone = dag_.Cone(b.outputs);
    const SideOutputs cuts = Shared(a, b);
    if (cuts.empty()) return {};
    PairCode cut = coder_->Code(a.outputs, b.outputs, cuts);
    // The same has often been asked before.
    const auto [it, fresh] =
        holds_cut_.try_emplace(coder_->NamelessKey(), false);
    if (fresh) it->second = HoldsCut(a, b, coder_->variables());
    if (!it->second) return {};
    code = std::move(cut);
    return cuts;
  }

  // The candidates for Cuts; none if variables cannot take their places.
  SideOutputs Shared(const Side& a, const Side& b) {
    SideOutputs cuts;
    auto shared = [&](uint32_t s) {
      return Contains(a.cone, s) && Contains(b.cone, s);
    };
    for (const Dag::Steps* cone : {&a.cone, &b.cone}) {
      for (uint32_t s : *cone) {
        if (shared(s)) continue;
        for (TensorId t : dag_.step(s).span()) {
          if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
          if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
            cuts.push_back(t);
          }
        }
      }
    }
    // An output of one side may be what the other side is made of; a rule that
    // has a bare variable on both sides has no source.
    bool bare[2] = {false, false};
    for (const Side* side : {&a, &b}) {
      for (TensorId t : side->outputs) {
        if (dag_.IsLeaf(t) || !shared(dag_.step_of(t))) continue;
        bare[side == &b] = true;
        if (std::find(cuts.begin(), cuts.end(), t) == cuts.end()) {
          cuts.push_back(t);
        }
      }
    }
    if (bare[0] && bare[1]) return {};
    if (cuts.empty()) return {};
    std::sort(cuts.begin(), cuts.end());
    for (TensorId t : cuts) {
      // A rule's variables lie on no devices.
      if (!values_[0].world().type(values_[0].Kind(t)).device.empty())
        return {};
    }
    return cuts;
  }

  // Whether both sides are equal with random values for the variables of the
  // code with cuts. They depend on the numbers of the variables, not on their
  // names, so that the answer does not; and since a maximum can hide what is
  // false, they are drawn several times.
  bool HoldsCut(const Side& a, const Side& b,
                absl::Span<const TensorId> variables) {
    constexpr int kDraws = 3;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<std::vector<Field>> values(variables.size());
      DagValues::Replaced replaced;
      for (size_t i = 0; i < variables.size(); ++i) {
        const uint64_t h =
            ir::HashCombine(ir::HashCombine(seed_, draw + 17), i);
        const int64_t n =
            NumElements(values_[0].world().type(values_[0].Kind(variables[i])));
        for (int64_t e = 0; e < n; ++e) {
          values[i].push_back(Field::FromWide(ir::HashCombine(h, e)));
        }
        replaced.emplace_back(variables[i], values[i].data());
      }
      for (size_t k = 0; k < a.outputs.size(); ++k) {
        if (values_[0].ValuesWith(a.outputs[k], replaced) !=
            values_[0].ValuesWith(b.outputs[k], replaced)) {
          return false;
        }
      }
    }
    return true;
  }

  const Preset& preset_;
  const Hits& hits_;
  const Dag& dag_;
  const std::vector<uint64_t>& prints_;
  uint64_t seed_;
  std::deque<DagValues> values_;                 // by world
  std::vector<std::set<uint64_t>> leaf_prints_;  // by world
  std::optional<PairCoder> coder_;
  size_t place_ = 0;                               // of the class at hand
  std::vector<std::pair<uint64_t, size_t>> keys_;  // of its members
  // Hashes of the codes of pairs that hold at other sizes, and of pairs that do
  // not type there. What is like the former says nothing new, whatever its
  // names; it is known by its nameless key.
  absl::flat_hash_set<uint64_t> seen_elsewhere_, seen_here_, seen_nameless_;
  // By the nameless key with cuts.
  absl::flat_hash_map<uint64_t, bool> holds_cut_;
  std::vector<Dag::Steps> cones_a_, cones_b_;  // of FallsApart
};

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
    : all_(all), hits_(hits) {
  seed = ir::HashMix(seed + 0x5eed);
  worlds_ = std::make_unique<Worlds>(all, seed);
  for (int t = 0; t < all.options().threads; ++t) {
    finders_.push_back(
        std::make_unique<Finder>(all.preset(), hits, *worlds_, prints_, seed));
  }
  for (int leaf = 0; leaf < hits.dag.num_leaves(); ++leaf) {
    prints_.push_back(finders_[0]->PrintLeaf(static_cast<TensorId>(leaf)));
  }
}

PairFinder::~PairFinder() = default;

void PairFinder::OnThreads(const std::function<void(Finder&)>& work) {
  std::vector<std::thread> pool;
  for (size_t t = 1; t < finders_.size(); ++t) {
    pool.emplace_back([&, t] { work(*finders_[t]); });
  }
  work(*finders_[0]);
  for (std::thread& t : pool) t.join();
}

void PairFinder::FindPrints() {
  constexpr uint32_t kStretch = 4096;
  const Dag& dag = hits_.dag;
  prints_.resize(dag.num_tensors());
  std::atomic<uint32_t> next{steps_};
  OnThreads([&](Finder& finder) {
    for (uint32_t from = next.fetch_add(kStretch); from < dag.num_steps();
         from = next.fetch_add(kStretch)) {
      const uint32_t to = std::min(from + kStretch, dag.num_steps());
      for (uint32_t s = from; s < to; ++s) {
        finder.PrintStep(s, &prints_[dag.step(s).first]);
      }
    }
  });
  steps_ = dag.num_steps();
}

void PairFinder::Compare(size_t first, const std::function<bool()>& go_on) {
  constexpr size_t kStretch = 4096;
  const std::vector<Member>& members = hits_.members;
  FindPrints();
  std::atomic<size_t> next{first};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  OnThreads([&](Finder& finder) {
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
        finder.Class(i, j);
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
  for (const auto& finder : finders_) {
    for (size_t i : finder->open) add(i, open);
    for (size_t i : finder->impure) add(i, impure);
  }
  all_.MarkOpen(std::move(open));
  all_.MarkImpure(std::move(impure));
}

std::vector<EqualPair> PairFinder::Take(CandidateStats& stats) {
  std::vector<EqualPair> found;
  for (const auto& finder : finders_) {
    std::move(finder->found.begin(), finder->found.end(),
              std::back_inserter(found));
    AddUp(finder->stats, stats);
  }
  return Distinct(std::move(found), stats);
}

}  // namespace isomer::gen

#include "xfer_gen/pair_comparer.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "graph/hashing.h"
#include "ops/status.h"

namespace isomer::gen {

namespace {

// Every member is paired with the first few of its class; with several outputs
// with fewer, since there are many more of them and little to be found.
constexpr size_t kPartners = 4, kWidePartners = 2;
// Members before it that a new one is held against.
constexpr size_t kBefore = 8;

}  // namespace

PairWorlds::PairWorlds(Enumerator& all, uint64_t seed)
    : first_(all.world()), facts_(all.preset().sizes.size()) {
  for (size_t i = 1; i < facts_.size(); ++i) {
    others_.push_back(std::make_unique<World>(all.preset(), static_cast<int>(i),
                                              seed, all.world().carried()));
  }
}

void PairWorlds::Grow(const Dag& dag) {
  for (DagFacts& f : facts_) f.Grow(dag);
}

void PairWorlds::Forget() {
  for (DagFacts& f : facts_) f = {};
}

PairComparer::PairComparer(const Preset& preset, const Hits& hits,
                           PairWorlds& worlds, SeenPairs& seen, uint64_t seed,
                           int64_t most_bytes)
    : preset_(preset),
      hits_(hits),
      dag_(hits.dag),
      prints_(worlds.facts(1).prints),
      seen_nameless_(seen) {
  for (size_t i = 0; i < worlds.size(); ++i) {
    values_.emplace_back(dag_, worlds[i], ir::HashCombine(seed, i),
                         &worlds.facts(i));
    values_.back().HoldAtMost(most_bytes);
    std::set<uint64_t>& prints = leaf_prints_.emplace_back();
    for (int leaf = 0; leaf < dag_.num_leaves(); ++leaf) {
      prints.insert(values_.back().Print(static_cast<TensorId>(leaf)));
    }
  }
  const std::vector<Leaf> leaves = LeavesOf(preset);
  for (size_t i = 0; i < leaves.size(); ++i) {
    LeafCount& count = leaves_[values_[0].Kind(static_cast<TensorId>(i))];
    ++count.all;
    count.data += !preset.leaves[leaves[i].cls].weight;
  }
  coder_.emplace(dag_, values_[0]);
  cutter_.emplace(dag_, values_[0], *coder_, seed);
}

void PairComparer::Forget(size_t members) {
  forgotten_ = members;
  cutter_->Forget();
  for (DagValues& values : values_) {
    values.Forget();
    for (int leaf = 0; leaf < dag_.num_leaves(); ++leaf) {
      values.Print(static_cast<TensorId>(leaf));
    }
  }
}

void PairComparer::PrintStep(uint32_t step) {
  values_[1].PrintStep(step, &prints_[dag_.step(step).first]);
}

void PairComparer::Class(size_t begin, size_t end) {
  place_ = forgotten_ + begin;
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

void PairComparer::Group(absl::Span<const std::pair<uint64_t, size_t>> members,
                         size_t world) {
  makings_.clear();
  before_.clear();
  for (size_t j = 0; j < members.size(); ++j) {
    const Member& larger = hits_.members[members[j].second];
    const bool single = larger.count == 1;
    const uint64_t making =
        single ? ir::HashCombine(MakingOf(larger), OperandVariables(larger))
               : 0;
    const auto like = makings_.find(making);
    if (single && like != makings_.end() &&
        Holds(like->second, members, world)) {
      ++stats.implied;
      continue;
    }
    Made made{j, true};
    for (size_t i = 0; i < Partners(members, j); ++i) {
      const std::optional<bool> holds =
          Pair(larger, hits_.members[members[i].second], world);
      if (!holds.has_value() && made.holds.value_or(false)) made.holds.reset();
      if (!holds.value_or(true)) made.holds = false;
    }
    if (!single) continue;
    if (made.holds.value_or(true)) makings_.insert_or_assign(making, made);
    before_.push_back(hits_.OutputsOf(larger)[0]);
  }
}

size_t PairComparer::Partners(
    absl::Span<const std::pair<uint64_t, size_t>> members, size_t j) const {
  const Member& larger = hits_.members[members[j].second];
  const size_t most =
      std::min(j, larger.count == 1 ? kPartners : kWidePartners);
  const uint32_t least = hits_.members[members[0].second].steps;
  size_t n = 0;
  while (n < most && hits_.members[members[n].second].steps <= least) ++n;
  return n;
}

bool PairComparer::Holds(Made& made,
                         absl::Span<const std::pair<uint64_t, size_t>> members,
                         size_t world) {
  if (made.holds.has_value()) return *made.holds;
  const auto output = [&](size_t i) {
    return SideOutputs{hits_.OutputsOf(hits_.members[members[i].second])[0]};
  };
  const SideOutputs a = output(made.place);
  made.holds = true;
  for (size_t i = 0; i < Partners(members, made.place) && *made.holds; ++i) {
    const SideOutputs b = output(i);
    made.holds = IsImplied(a, b, world) || EqualElsewhere(a, b).value_or(true);
  }
  return *made.holds;
}

bool PairComparer::FollowsFromOneBefore(TensorId t) {
  const size_t n = std::min(before_.size(), kBefore);
  return std::any_of(before_.end() - n, before_.end(), [&](TensorId u) {
    PairCode code;
    const SideOutputs cuts = cutter_->Cuts({&t, 1}, {&u, 1}, code);
    if (cuts.empty()) return false;
    if (dag_.VariablesOf(t, cuts) != dag_.VariablesOf(u, cuts)) return false;
    return LeavesMayStandFor(coder_->variables(), t, u) &&
           EqualElsewhere({t}, {u}).value_or(false);
  });
}

bool PairComparer::LeavesMayStandFor(absl::Span<const TensorId> variables,
                                     TensorId t, TensorId u) {
  absl::flat_hash_map<KindId, LeafCount> used;
  for (TensorId v : variables) ++used[values_[0].Kind(v)].all;
  absl::flat_hash_set<TensorId> data;
  for (uint32_t s : dag_.Cone({t, u})) {
    const DagStep& step = dag_.step(s);
    const std::vector<Template::Operand>& takes =
        preset_.templates[step.tmpl].takes;
    for (int i = 0; i < step.arity; ++i) {
      if (takes[i] == Template::Operand::kData) data.insert(step.operands[i]);
    }
  }
  for (TensorId v : variables) {
    used[values_[0].Kind(v)].data += data.contains(v);
  }
  return std::all_of(used.begin(), used.end(), [&](const auto& entry) {
    const auto& [kind, needed] = entry;
    const auto there = leaves_.find(kind);
    return there != leaves_.end() && needed.all <= there->second.all &&
           needed.data <= there->second.data;
  });
}

bool PairComparer::IsOpen(size_t begin, size_t end) {
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

uint64_t PairComparer::MakingOf(const Member& m) {
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

uint64_t PairComparer::OperandVariables(const Member& m) {
  const TensorId t = hits_.OutputsOf(m)[0];
  uint64_t sum = 0;
  if (dag_.IsLeaf(t)) return sum;
  for (TensorId operand : dag_.step(dag_.step_of(t)).span()) {
    uint64_t h = Print(0, operand);
    for (TensorId v : dag_.VariablesOf(operand)) h = ir::HashCombine(h, v);
    sum += ir::HashMix(h);
  }
  return sum;
}

bool PairComparer::Keys(size_t begin, size_t end, size_t world) {
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

SideOutputs PairComparer::Matched(absl::Span<const TensorId> a,
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

std::optional<bool> PairComparer::Pair(const Member& larger,
                                       const Member& smaller, size_t world) {
  ++stats.pairs;
  const auto outputs = hits_.OutputsOf(larger);
  const SideOutputs a(outputs.begin(), outputs.end());
  const SideOutputs b = Matched(a, hits_.OutputsOf(smaller), world);
  Check(b.size() == a.size(), "outputs that do not pair");
  if (IsImplied(a, b, world) || FallsApart(a, b)) {
    ++stats.implied;
    return true;
  }
  EqualPair p;
  p.place = place_;
  p.code = coder_->Code(a, b, {});
  // Under other names it has been seen.
  const uint64_t nameless = coder_->NamelessKey();
  if (seen_nameless_.Contains(nameless, place_)) return std::nullopt;
  p.cuts = cutter_->Cuts(a, b, p.code);
  const uint64_t key = KeyOf(p.code);
  std::optional<bool> holds;
  if (!seen_elsewhere_.contains(key)) {
    const std::optional<bool> other = EqualElsewhere(a, b);
    if (other.has_value() && !*other) {
      ++stats.false_positives;
      return false;
    }
    p.elsewhere = other.has_value();
    auto& seen = p.elsewhere ? seen_elsewhere_ : seen_here_;
    if (!seen.contains(key)) {
      // Under other names it may yet be new.
      if (a.size() == 1 && FollowsFromOneBefore(a[0])) {
        ++stats.implied;
        return true;
      }
      seen.insert(key);
      p.a = a;
      p.b = b;
      found.push_back(std::move(p));
    }
    if (!other.has_value()) return true;
    holds = true;
  }
  seen_nameless_.Insert(nameless, place_);
  return holds;
}

std::optional<bool> PairComparer::EqualElsewhere(const SideOutputs& a,
                                                 const SideOutputs& b) {
  std::optional<bool> equal;
  for (size_t w = 1; w < values_.size(); ++w) {
    bool typed = true, same = true;
    for (size_t k = 0; k < a.size() && typed; ++k) {
      typed = Types(w, a[k]) && Types(w, b[k]);
    }
    for (size_t k = 0; k < a.size() && typed; ++k) {
      const uint64_t print = Print(w, a[k]);
      typed = print != 0 && Print(w, b[k]) != 0;
      same = same && print == Print(w, b[k]);
    }
    if (!typed) continue;
    if (!same) return false;
    equal = true;
  }
  return equal;
}

bool PairComparer::IsImplied(const SideOutputs& a, const SideOutputs& b,
                             size_t world) {
  const size_t n = a.size();
  for (size_t k = 0; k < n; ++k) {
    if (a[k] == b[k]) return true;
    if (n > 1 && EqualsLeaf(a[k], world)) return true;
    if (SameOnEqual(a[k], b[k], world)) return true;
  }
  return false;
}

bool PairComparer::FallsApart(const SideOutputs& a, const SideOutputs& b) {
  const size_t n = a.size();
  if (n == 1) return false;
  // Outputs hang together that share a step on one of the sides.
  absl::InlinedVector<size_t, 2 * kMaxSteps> part(n);
  if (cones_a_.size() < n) {
    cones_a_.resize(n);
    cones_b_.resize(n);
  }
  for (size_t k = 0; k < n; ++k) {
    part[k] = k;
    cones_a_[k] = dag_.Cone({&a[k], 1});
    cones_b_[k] = dag_.Cone({&b[k], 1});
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

bool PairComparer::SameOnEqual(TensorId x, TensorId y, size_t world) {
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

}  // namespace isomer::gen
